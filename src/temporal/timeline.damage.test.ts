import { describe, expect, it } from "vitest";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { expectSame, put } from "../testing/timeline-answers.ts";
import { TimelineModel } from "../testing/timeline-model.ts";
import { openTimeline, TimelineWriter } from "./index.ts";

const FILE = "/timeline/timeline.pages";
const OPTIONS = { pageSize: 256, digestSize: 1 };

/** A timeline of three commits, and what it held after the last two. */
async function build(): Promise<{ disk: ForgetfulDisk; bytes: Buffer; models: TimelineModel[] }> {
  const disk = new ForgetfulDisk();
  const models: TimelineModel[] = [];
  const model = new TimelineModel();
  using writer = TimelineWriter.open(disk, "/timeline", OPTIONS);
  for (let commit = 0; commit < 3; commit++) {
    for (let i = 0; i < 30; i++) {
      const visit = { key: `org,site)/${i % 9}`, time: commit * 50 + i, digest: "ABC"[(i * 7 + commit) % 3]! };
      await put(writer, visit);
      model.add(visit);
    }
    writer.commit();
    models.unshift(model.copy());
  }
  writer.compact();
  for (const key of ["org,site)/1", "org,site)/new"]) {
    const visit = { key, time: 300, digest: "A" };
    await put(writer, visit);
    model.add(visit);
  }
  writer.commit();
  models.unshift(model);
  using file = disk.open(FILE, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return { disk, bytes, models };
}

function withBytes(bytes: Buffer): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  disk.makeFolder("/timeline");
  using file = disk.open(FILE, "create");
  file.write(bytes, 0);
  return disk;
}

describe("a damaged timeline", () => {
  it("never gives a wrong answer: a byte that is flipped anywhere is found, or is of no page in use", async () => {
    const { bytes, models } = await build();
    const questions = { times: [20, 300] };
    let found = 0;
    for (let at = 0; at < bytes.length; at += at < 1024 ? 7 : 1) {
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 1 << (at % 8);
      using snapshot = openTimeline(withBytes(damaged), "/timeline");
      const findings = [...snapshot.check()];
      if (findings.length > 0) found++;
      // A root that is damaged is not believed; its copy is, and the damage is reported.
      if (at < 1024) expect(findings, `byte ${at}`).not.toEqual([]);
      expect(snapshot.info.visits, `byte ${at}`).toBe(models[0]!.visitCount);
      try {
        await expectSame(snapshot, models[0]!, { ...questions, findings });
      } catch (error) {
        expect(error, `byte ${at}`).toMatchObject({ code: "HT_CORRUPT" });
        expect(findings.length).toBeGreaterThan(0);
      }
    }
    expect(found).toBeGreaterThan(bytes.length / 4);
  }, 20_000);

  it.each(["its first commit", "a later one"])(
    "loses no commit to the next writer when a root is damaged: %s",
    async (which) => {
      const disk = new ForgetfulDisk();
      const model = new TimelineModel();
      {
        using writer = TimelineWriter.open(disk, "/timeline", OPTIONS);
        for (let commit = 0; commit < (which === "a later one" ? 3 : 1); commit++) {
          const visit = { key: "org,site)/", time: commit, digest: "AB"[commit % 2]! };
          await put(writer, visit);
          model.add(visit);
          writer.commit();
        }
      }
      using file = disk.open(FILE, "read");
      const bytes = Buffer.alloc(file.size());
      file.read(bytes, 0);
      const late = { key: "org,site)/late", time: 100, digest: "A" };
      const after = model.copy();
      after.add(late);
      for (let at = 0; at < 1024; at += 9) {
        const damaged = Buffer.from(bytes);
        damaged[at]! ^= 1 << (at % 8);
        const left = withBytes(damaged);
        {
          using writer = TimelineWriter.open(left, "/timeline");
          await put(writer, late);
          writer.commit();
        }
        using snapshot = openTimeline(left, "/timeline");
        await expectSame(snapshot, after, { times: [1, 100], findings: [...snapshot.check()] });
        expect([...snapshot.check()], `byte ${at}`).toEqual([]);
      }
      // With its copy, nothing is left to say what the last commit was: nobody goes on from the one before.
      const last = Math.max(...[0, 512].map((at) => bytes.readDoubleBE(at + 8)));
      const copy = bytes.lastIndexOf("HTTL");
      const damaged = Buffer.from(bytes);
      for (const at of [(last % 2) * 512 + 20, copy + 20]) damaged[at]! ^= 1;
      const left = withBytes(damaged);
      const corrupt = expect.objectContaining({ code: "HT_CORRUPT" });
      expect(() => openTimeline(left, "/timeline")).toThrow(corrupt);
      expect(() => TimelineWriter.open(left, "/timeline")).toThrow(corrupt);
      expect(left.stat(FILE)!.sizeBytes).toBe(bytes.length);
    },
  );

  it("is told when it is cut anywhere, or is no timeline at all", async () => {
    const { bytes } = await build();
    for (let size = 0; size < bytes.length; size += 37) {
      const disk = withBytes(bytes.subarray(0, size));
      expect(() => openTimeline(disk, "/timeline")).toThrow(expect.objectContaining({ code: "HT_CORRUPT" }));
      expect(() => TimelineWriter.open(disk, "/timeline")).toThrow(expect.objectContaining({ code: "HT_CORRUPT" }));
      // Nothing was changed, and the lock is free again.
      expect(disk.stat(FILE)!.sizeBytes).toBe(size);
    }
    for (const text of ["", "not a timeline", "HTTL".repeat(500)]) {
      const disk = withBytes(Buffer.from(text));
      expect(() => openTimeline(disk, "/timeline")).toThrow(expect.objectContaining({ code: "HT_CORRUPT" }));
    }
  }, 20_000);

  it("is left alone when a newer Holotype wrote it", async () => {
    const { bytes } = await build();
    const { crc32 } = await import("node:zlib");
    bytes.writeUInt32BE(2, 4);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 508)), 508);
    const disk = withBytes(bytes);
    const tooNew = expect.objectContaining({ code: "HT_FORMAT_TOO_NEW" });
    expect(() => openTimeline(disk, "/timeline")).toThrow(tooNew);
    expect(() => TimelineWriter.open(disk, "/timeline")).toThrow(tooNew);
  });

  it("is found where a page holds its checksum and tells nonsense", async () => {
    const { bytes } = await build();
    const { crc32 } = await import("node:zlib");
    let [pages, found] = [0, 0];
    for (let at = 1024; at < bytes.length; ) {
      // The copy of a slot.
      if (bytes.toString("latin1", at, at + 4) === "HTTL") at += 512;
      const length = bytes.readUInt32BE(at);
      for (let inside = 0; inside < length; inside += 3) {
        const damaged = Buffer.from(bytes);
        damaged[at + 8 + inside]! ^= 1;
        damaged.writeUInt32BE(crc32(damaged.subarray(at + 8, at + 8 + length)), at + 4);
        using snapshot = openTimeline(withBytes(damaged), "/timeline");
        pages++;
        if ([...snapshot.check()].length > 0) found++;
      }
      at += 8 + length;
    }
    // Values and digests can be anything; times, keys and counts cannot.
    expect(found / pages).toBeGreaterThan(0.2);
  }, 20_000);
});

describe("a second writer", () => {
  it("is refused as long as the first is there, and readers are not", () => {
    const disk = new ForgetfulDisk();
    const first = TimelineWriter.open(disk, "/timeline", OPTIONS);
    expect(() => TimelineWriter.open(disk, "/timeline")).toThrow(expect.objectContaining({ code: "HT_LOCKED" }));
    openTimeline(disk, "/timeline")[Symbol.dispose]();
    first[Symbol.dispose]();
    TimelineWriter.open(disk, "/timeline")[Symbol.dispose]();
    expect(() => openTimeline(disk, "/nowhere")).toThrow(expect.objectContaining({ code: "HT_NOT_FOUND" }));
    for (const bad of [{ pageSize: 10 }, { pageSize: 0.5 }, { digestSize: 0 }, { digestSize: 65 }]) {
      expect(() => TimelineWriter.open(disk, "/other", bad)).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
    }
  });
});
