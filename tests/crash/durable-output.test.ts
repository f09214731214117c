import { describe, expect, it } from "vitest";
import { createDurably, type Disk, DurableOutput, removeLeftovers } from "../../src/disk/index.ts";
import { readText, writeText } from "../../src/testing/disk-suite.ts";
import { everyFullDisk, everyStop } from "../../src/testing/every-stop.ts";

const OLD = "old ".repeat(300);
const NEW = "the new text ".repeat(400);

/** In several writes, so that the power can go between them. */
function writeNew(disk: Disk, replace: boolean): void {
  using output = DurableOutput.begin(disk, "/folder/a", { replace });
  for (let at = 0; at < NEW.length; at += 1000) {
    output.write(Buffer.from(NEW.slice(at, at + 1000)));
    output.flush();
  }
  output.commit();
}

function present(disk: Disk): string | undefined {
  return disk.stat("/folder/a") === undefined ? undefined : readText(disk, "/folder/a");
}

const makeFolder = (disk: Disk) => disk.makeFolder("/folder");

function makeOld(disk: Disk): void {
  makeFolder(disk);
  writeText(disk, "/folder/a", OLD);
}

/** Whatever the power cut left beside the target is known as a leftover, and a second try finds its way free. */
function checkRecovery(disk: Disk): void {
  removeLeftovers(disk, "/folder");
  expect(disk.list("/folder").every(({ name }) => name === "a")).toBe(true);
  writeNew(disk, true);
  expect(present(disk)).toBe(NEW);
}

describe("a durable file under a power cut at any moment", () => {
  it("is absent or complete, and complete once acknowledged", async () => {
    let acknowledged = false;
    const count = await everyStop(
      (disk) => {
        acknowledged = false;
        writeNew(disk, false);
        acknowledged = true;
      },
      (disk, stoppedAt) => {
        const allowed = acknowledged ? [NEW] : [undefined, NEW];
        expect(allowed).toContain(present(disk));
        expect(acknowledged).toBe(stoppedAt === undefined);
        checkRecovery(disk);
      },
      { prepare: makeFolder },
    );
    expect(count).toBe(10);
  });

  it("is the old one or the new one when it replaces", async () => {
    await everyStop(
      (disk) => writeNew(disk, true),
      (disk, stoppedAt) => {
        expect(stoppedAt === undefined ? [NEW] : [OLD, NEW]).toContain(present(disk));
        checkRecovery(disk);
      },
      { prepare: makeOld },
    );
  });

  it("stays for sure in a folder that was made for it", async () => {
    let acknowledged = false;
    await everyStop(
      (disk) => {
        acknowledged = false;
        disk.makeFolder("/deep/er/folder");
        createDurably(disk, "/deep/er/folder/a", (output) => output.write(Buffer.from(NEW)));
        acknowledged = true;
      },
      (disk) => {
        if (acknowledged) expect(readText(disk, "/deep/er/folder/a")).toBe(NEW);
      },
    );
  });
});

describe("a durable file on a disk that is full at any moment", () => {
  it("is absent or complete, and leaves no rest", async () => {
    const count = await everyFullDisk(
      (disk) => writeNew(disk, false),
      (disk, failure) => {
        if (failure !== undefined) expect(failure).toMatchObject({ code: "HT_NO_SPACE" });
        expect(present(disk)).toBe(failure === undefined ? NEW : undefined);
        expect(disk.list("/folder")).toHaveLength(failure === undefined ? 1 : 0);
      },
      { prepare: makeFolder },
    );
    expect(count).toBe(6);
  });

  it("does not harm the one that it should have replaced", async () => {
    await everyFullDisk(
      (disk) => writeNew(disk, true),
      (disk, failure) => expect(present(disk)).toBe(failure === undefined ? NEW : OLD),
      { prepare: makeOld },
    );
  });
});
