import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { readAll, readText, writeText } from "../testing/disk-suite.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { AppendLog, type AppendLogOptions } from "./append-log.ts";

const text = (value: string) => Buffer.from(value, "latin1");

function start(options: AppendLogOptions = {}, disk = new ForgetfulDisk()): { disk: ForgetfulDisk; log: AppendLog } {
  return { disk, log: new AppendLog(disk.open("/log", "replace"), options) };
}

/** A log whose syncs end when the test says so. */
function startWithSlowSync(options: AppendLogOptions) {
  const { disk } = start();
  const file = disk.open("/log", "update");
  const syncs: { resolve: () => void; reject: (error: Error) => void }[] = [];
  file.syncLater = () => new Promise((resolve, reject) => syncs.push({ resolve, reject }));
  return { disk, syncs, log: new AppendLog(file, options) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("an append log", () => {
  it("writes and syncs what is appended together together", async () => {
    const { disk, log } = start();
    const positions = await Promise.all(Array.from({ length: 1000 }, () => log.append(text("0123456789"))));
    expect(positions).toEqual(positions.map((_, index) => index * 10));
    expect(disk.operations.log.slice(1)).toEqual(["write /log", "sync /log"]);
    await log.close();
  });

  it("appends behind what is there", async () => {
    const disk = new ForgetfulDisk();
    writeText(disk, "/log", "before ");
    const log = new AppendLog(disk.open("/log", "update"));
    expect(await log.append(text("after"))).toBe(7);
    expect(log.end).toBe(12);
    expect(readText(disk, "/log")).toBe("before after");
    await log.close();
  });

  it("gathers and writes the next group while a sync runs, and syncs it afterwards", async () => {
    const { disk, log, syncs } = startWithSlowSync({ bufferSizeBytes: 10 });
    const settled: string[] = [];
    const append = (value: string) => log.append(text(value)).then(() => settled.push(value));
    const appends = [append("first")];
    await turn();
    expect(syncs).toHaveLength(1);
    appends.push(append("second"), append("third"));
    await turn();
    // The second was written when the third did not fit beside it; the third is still gathering.
    expect(readText(disk, "/log")).toBe("firstsecond");
    expect(syncs).toHaveLength(1);
    expect(settled).toEqual([]);
    syncs[0]!.resolve();
    await turn();
    expect(settled).toEqual(["first"]);
    expect(readText(disk, "/log")).toBe("firstsecondthird");
    expect(syncs).toHaveLength(2);
    syncs[1]!.resolve();
    await Promise.all(appends);
    expect(settled).toEqual(["first", "second", "third"]);
  });

  it("lets appends wait while too much is not durable, and keeps their order", async () => {
    const { log, syncs } = startWithSlowSync({ bufferSizeBytes: 4, unsyncedSizeMaxBytes: 10 });
    const appends = ["eight by", "eight or", "2"].map((value) => log.append(text(value)));
    await turn();
    expect(log.end).toBe(8);
    syncs[0]!.resolve();
    await turn();
    expect(log.end).toBe(17);
    syncs[1]!.resolve();
    expect(await Promise.all(appends)).toEqual([0, 8, 16]);
  });

  it("counts what was accepted during a sync as not durable by that sync", async () => {
    const { log, syncs } = startWithSlowSync({ unsyncedSizeMaxBytes: 10 });
    const appends = [log.append(text("four"))];
    await turn();
    appends.push(log.append(text("more")), log.append(text("too much")));
    syncs[0]!.resolve();
    await turn();
    expect(log.end).toBe(8);
    syncs[1]!.resolve();
    await turn();
    expect(log.end).toBe(16);
    syncs[2]!.resolve();
    expect(await Promise.all(appends)).toEqual([0, 4, 8]);
  });

  it("takes one append that is larger than all limits", async () => {
    const { disk, log } = start({ bufferSizeBytes: 4, unsyncedSizeMaxBytes: 10 });
    expect(await Promise.all([log.append(text("x".repeat(99))), log.append(text("y"))])).toEqual([0, 99]);
    expect(disk.stat("/log")?.sizeBytes).toBe(100);
  });

  it("never syncs again after a sync failed", async () => {
    const { disk, log } = start({}, new ForgetfulDisk({ failSyncAt: 2 }));
    expect(await log.append(text("kept"))).toBe(0);
    const lost = await Promise.allSettled([log.append(text("lost")), log.append(text("also"))]);
    expect(lost.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(log.append(text("later"))).rejects.toMatchObject({ code: "HT_IO" });
    await log.close();
    expect(disk.operations.count("sync")).toBe(2);
    expect(disk.operations.count("write")).toBe(2);
  });

  it("rejects what waits or gathers behind a sync that fails", async () => {
    const { log, syncs } = startWithSlowSync({ bufferSizeBytes: 4, unsyncedSizeMaxBytes: 10 });
    const first = log.append(text("first"));
    await turn();
    const outcome = Promise.allSettled([first, log.append(text("2nd")), log.append(text("the third"))]);
    syncs[0]!.reject(new ArchiveError("HT_IO", "no"));
    expect((await outcome).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(syncs).toHaveLength(1);
  });

  it("never acknowledges anything after a write failed, but what was synced before it", async () => {
    const disk = new ForgetfulDisk({ fullFromWrite: 2 });
    const { log } = start({ bufferSizeBytes: 4 }, disk);
    const kept = log.append(text("kept"));
    await turn();
    const lost = log.append(text("full!"));
    const after = log.append(text("a"));
    const outcome = await Promise.allSettled([kept, lost, after, log.append(text("b"))]);
    expect(outcome.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
    await expect(log.append(text("later"))).rejects.toMatchObject({ code: "HT_NO_SPACE" });
    expect(disk.operations.count("sync")).toBe(1);
  });

  it("closes behind everything that was accepted", async () => {
    const { disk, log } = start({ bufferSizeBytes: 4, unsyncedSizeMaxBytes: 5 });
    const appends = ["one", "two", "three"].map((value) => log.append(text(value)));
    await log.close();
    expect(readText(disk, "/log")).toBe("onetwothree");
    expect(await Promise.all(appends)).toEqual([0, 3, 6]);
    expect(() => log.append(text("late"))).toThrow("after close");
  });

  it("takes an empty append as a question whether all before it is durable", async () => {
    const { disk, log } = start();
    const before = log.append(text("text"));
    expect(await log.append(new Uint8Array(0))).toBe(4);
    expect(disk.operations.count("sync")).toBe(1);
    await before;
  });
});

it("holds all appends in order, of whatever sizes and limits, in few writes", async () => {
  const sizes = fc.array(fc.array(fc.nat(40), { maxLength: 10 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      sizes,
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 120 }),
      async (bursts, buffer, max) => {
        const { disk, log } = start({ bufferSizeBytes: buffer, unsyncedSizeMaxBytes: max });
        const appends: { bytes: Uint8Array; position: Promise<number> }[] = [];
        for (const burst of bursts) {
          for (const size of burst) {
            const bytes = new Uint8Array(size).fill(appends.length + 1);
            appends.push({ bytes, position: log.append(bytes) });
          }
          await turn();
        }
        await log.close();
        const found = readAll(disk, "/log");
        let end = 0;
        for (const { bytes, position } of appends) {
          expect(await position).toBe(end);
          expect(found.subarray(end, end + bytes.length)).toEqual(bytes);
          end += bytes.length;
        }
        expect(found).toHaveLength(end);
      },
    ),
  );
});
