import { describe, expect, it } from "vitest";
import type { Disk } from "../../disk/index.ts";
import { removeTree } from "../../disk/index.ts";
import { openTimeline, type TimelineEntry, TimelineWriter } from "../../temporal/index.ts";
import {
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  type Visit,
  visitBytes,
} from "../../testing/archive-fixture.ts";
import { historyOf } from "../../testing/asked-archive.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { segmentPath } from "../segments/segments.ts";

const visit = (day: number): Visit => ({
  uri: "http://a.example/",
  timeMs: Date.UTC(2020, 0, day),
  payload: noise(`day ${day}`, 900),
});

async function archiveWith(kind: "add" | "adopt"): Promise<{ disk: ForgetfulDisk; path: string }> {
  const disk = new ForgetfulDisk();
  const input = makeInput(
    disk,
    [1, 2].map((day) => visitBytes(visit(day))),
    "/holdings",
  );
  await using writer = openWriter(disk);
  await writer[kind]([input]);
  return { disk, path: kind === "adopt" ? input.path : segmentPath(`${FOLDER}/volumes/0/segments`, 1) };
}

function change(disk: Disk, path: string, edit: (bytes: Buffer) => Buffer): void {
  using file = disk.open(path, "update");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  const edited = edit(bytes);
  file.truncate(edited.length);
  file.write(edited, 0);
}

describe("the doctor", () => {
  it.each(["add", "adopt"] as const)("finds nothing where nothing is wrong: %s", async (kind) => {
    const { disk } = await archiveWith(kind);
    expect(await diagnose(disk)).toEqual([]);
  });

  it.each(["add", "adopt"] as const)("names a file that is gone, and the captures in it: %s", async (kind) => {
    const { disk, path } = await archiveWith(kind);
    disk.remove(path);
    const what = kind === "adopt" ? "is gone; adopt it where it lies now" : "is gone";
    expect(await diagnose(disk)).toEqual([`HT_LOST ${path} ${what}; it holds 2 captures`]);
  });

  it("names a segment that is shorter than it was", async () => {
    const { disk, path } = await archiveWith("add");
    change(disk, path, (bytes) => bytes.subarray(0, -10));
    expect(await diagnose(disk)).toEqual([`HT_CORRUPT ${path} is shorter than it was; it holds 2 captures`]);
  });

  it("names an adopted file that has grown", async () => {
    const { disk, path } = await archiveWith("adopt");
    change(disk, path, (bytes) => Buffer.concat([bytes, Buffer.from("more")]));
    expect(await diagnose(disk)).toEqual([`HT_CHANGED ${path} changed since it was adopted; it holds 2 captures`]);
  });

  it.each(["add", "adopt"] as const)("names a record whose bytes have changed: %s", async (kind) => {
    const { disk, path } = await archiveWith(kind);
    change(disk, path, (bytes) => {
      bytes[bytes.length - 400]! ^= 1;
      return bytes;
    });
    const findings = await diagnose(disk);
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.every((text) => text.includes(path))).toBe(true);
  });

  it("names a payload that has changed behind a file in which nothing can be read", async () => {
    const disk = new ForgetfulDisk();
    const inputs = [1, 2].map((day) => makeInput(disk, [visitBytes(visit(day))], "/holdings"));
    // Not compressed, so that nothing but a digest tells that it has changed.
    for (const [i, { path }] of inputs.entries()) change(disk, path, () => visitBytes(visit(i + 1)));
    {
      await using writer = openWriter(disk);
      await writer.adopt(inputs);
    }
    const [first, second] = inputs.map(({ path }) => path);
    change(disk, first!, (bytes) => Buffer.alloc(bytes.length));
    change(disk, second!, (bytes) => {
      bytes[bytes.length - 100]! ^= 1;
      return bytes;
    });
    expect(await diagnose(disk)).toEqual([
      expect.stringContaining(`HT_FORMAT_UNKNOWN ${first}`),
      expect.stringContaining(`HT_CORRUPT ${second}:0: its payload is not what it was`),
    ]);
  });

  it.each([true, false])("misses visits that the timeline has lost; with a scrub: %s", async (scrub) => {
    const { disk } = await archiveWith("add");
    const { name } = disk.list(FOLDER).find((entry) => entry.name.startsWith("timeline-"))!;
    {
      using before = openTimeline(disk, `${FOLDER}/${name}`);
      const [{ key, birth, value, digest }] = before.history("example,a)/") as [TimelineEntry, TimelineEntry];
      removeTree(disk, `${FOLDER}/${name}`);
      using timeline = TimelineWriter.open(disk, `${FOLDER}/${name}`);
      timeline.insert(key, birth, value, Buffer.from(digest, "latin1"));
      expect(timeline.commit().generation).toBe(before.info.generation);
    }
    expect(await diagnose(disk, scrub)).toEqual([
      "HT_CORRUPT the timeline lacks 1 visits of example,a)/; `holotype rebuild` makes it again",
      "HT_CORRUPT the timeline has 1 visits, the catalogue 2",
    ]);
  });

  it("names a journal that has lost an entry", async () => {
    const { disk } = await archiveWith("adopt");
    change(disk, `${FOLDER}/journal.jsonl`, () => Buffer.alloc(0));
    expect(await diagnose(disk)).toEqual([
      expect.stringContaining(`HT_CORRUPT ${FOLDER}/journal.jsonl: the journal has 0 entries, and had 1`),
    ]);
  });

  it("finds nothing after a catalogue was lost: it is made anew, with what was removed left out", async () => {
    const disk = new ForgetfulDisk();
    {
      await using writer = openWriter(disk);
      await writer.add([
        makeInput(
          disk,
          [1, 2, 3].map((day) => visitBytes(visit(day))),
        ),
      ]);
      await writer.remove({ url: "http://a.example/", toMs: visit(1).timeMs }, { reason: "a test" });
    }
    const catalogues = disk.list(FOLDER).filter(({ name }) => name.startsWith("catalogue-"));
    expect(catalogues).toHaveLength(1);
    removeTree(disk, `${FOLDER}/${catalogues[0]!.name}`);
    {
      await using _ = openWriter(disk);
    }
    expect(await diagnose(disk)).toEqual([]);
    await using archive = await openReader(disk);
    const history = await historyOf(archive, "http://a.example/");
    expect(history.map(({ birth }) => birth)).toEqual([visit(2).timeMs, visit(3).timeMs]);
  });
});
