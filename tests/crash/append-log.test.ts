import { describe, expect, it } from "vitest";
import { AppendLog, type Disk } from "../../src/disk/index.ts";
import { readAll } from "../../src/testing/disk-suite.ts";
import { everyFullDisk, everyStop, type StopOptions } from "../../src/testing/every-stop.ts";

const BEFORE = Buffer.from("what was there before ");

function makeLog(disk: Disk): void {
  using file = disk.open("/log", "create");
  file.write(BEFORE, 0);
}

/** Appends under way and what became of them. Record n is n bytes of the value n, so that each can be told. */
class Writers {
  expected: Buffer = BEFORE;
  readonly acknowledged: { position: number; bytes: Uint8Array }[] = [];
  rejections = 0;
  #count = 0;

  async append(log: AppendLog): Promise<void> {
    const size = (++this.#count * 37) % 200;
    const bytes = new Uint8Array(size).fill(this.#count);
    this.expected = Buffer.concat([this.expected, bytes]);
    try {
      this.acknowledged.push({ position: await log.append(bytes), bytes });
    } catch {
      this.rejections++;
    }
  }

  /** Several at once, each with several appends after one another, some pausing. */
  async run(log: AppendLog): Promise<void> {
    const writer = async (pauses: number) => {
      for (let i = 0; i < 6; i++) {
        await this.append(log);
        for (let pause = 0; pause < pauses; pause++) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all([writer(0), writer(0), writer(1), writer(2), writer(5)]);
    await log.close();
  }

  /** All bytes up to the end of the last acknowledged append are those that were appended, in their order. */
  check(disk: Disk): void {
    const found = Buffer.from(readAll(disk, "/log"));
    const ends = this.acknowledged.map(({ position, bytes }) => position + bytes.length);
    const end = Math.max(BEFORE.length, ...ends);
    expect(found.length).toBeGreaterThanOrEqual(end);
    expect(found.subarray(0, end).equals(this.expected.subarray(0, end))).toBe(true);
    for (const { position, bytes } of this.acknowledged) {
      expect(found.subarray(position, position + bytes.length).equals(bytes)).toBe(true);
    }
  }
}

let writers: Writers;

async function run(disk: Disk): Promise<void> {
  writers = new Writers();
  const file = disk.open("/log", "update");
  await writers.run(new AppendLog(file, { bufferSizeBytes: 150, unsyncedSizeMaxBytes: 500 }));
}

const OPTIONS: StopOptions = { prepare: makeLog };

describe("acknowledged appends", () => {
  it("are found after a power cut at any moment, and none before them is torn", async () => {
    const count = await everyStop(
      run,
      (disk, stoppedAt) => {
        writers.check(disk);
        if (stoppedAt === undefined) expect(writers.acknowledged).toHaveLength(30);
      },
      OPTIONS,
    );
    // One sync for each of 30 appends would be 60 operations and more.
    expect(count).toBeGreaterThan(20);
    expect(count).toBeLessThan(55);
  });

  it("are found when any of the syncs failed before the power went", async () => {
    for (let failSyncAt = 1; failSyncAt <= 8; failSyncAt++) {
      await everyStop(run, (disk) => writers.check(disk), { ...OPTIONS, faults: { failSyncAt } });
      expect(writers.rejections).toBeGreaterThan(0);
    }
  });

  it("are found on a disk that became full at any moment", async () => {
    const count = await everyFullDisk(
      run,
      (disk, failure) => {
        expect(failure).toBeUndefined();
        for (const data of ["drop", "tear", "keep"] as const) {
          writers.check(disk.reopen({ data, names: "drop", seed: writers.acknowledged.length }));
        }
        expect(writers.acknowledged.length + writers.rejections).toBe(30);
      },
      OPTIONS,
    );
    expect(count).toBeGreaterThan(5);
  });
});
