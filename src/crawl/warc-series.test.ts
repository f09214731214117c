import { describe, expect, it } from "vitest";
import { ArchiveError, type Clock } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { createDice } from "../testing/dice.ts";
import { everyFullDisk, everyStop } from "../testing/every-stop.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { bufferSource, encodeHead, WarcReader } from "../warc/index.ts";
import { recoverSeries } from "./series-recovery.ts";
import { listSeries, OPEN_ENDING, type SeriesPlace, WarcSeries } from "./warc-series.ts";

const FOLDER = "/crawl";
const clock: Clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678) };

let sealed: string[] = [];

function openSeries(disk: Disk, sizeMaxBytes?: number): WarcSeries {
  sealed = [];
  const onSealed = (name: string) => void sealed.push(name);
  return new WarcSeries({ disk, folder: FOLDER, prefix: "test", clock, random: createDice(5), sizeMaxBytes, onSealed });
}

/** A group of two records, as a capture is. */
function appendPair(series: WarcSeries, name: string): SeriesPlace {
  return series.append((group) => {
    const block = Buffer.from(`the block of ${name}\n`.repeat(40));
    const head = (type: string) =>
      encodeHead("WARC/1.1", [
        ["WARC-Type", type],
        ["WARC-Record-ID", `<urn:test:${name}:${type}>`],
        ["WARC-Date", "2026-01-02T03:04:05Z"],
        ["WARC-Target-URI", `http://a.example/${name}`],
        ["WARC-Warcinfo-ID", group.warcinfoId],
        ["Content-Length", String(block.length)],
      ]);
    const place = group.write(head("resource"), [block]);
    group.write(head("metadata"), [block.subarray(0, 10), block.subarray(10)]);
    return place;
  });
}

function contentOf(disk: Disk, name: string): Buffer {
  using file = disk.open(`${FOLDER}/${name}`, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

/** The ids of the records of all sealed files; throws at the first damage. */
function sealedIds(disk: Disk): string[] {
  return listSeries(disk, FOLDER).flatMap(({ name, isOpen }) => {
    expect(isOpen).toBe(false);
    const ids: string[] = [];
    for (const record of new WarcReader(bufferSource(contentOf(disk, name), name), { strict: true })) {
      record.drain();
      if (record.type !== "warcinfo") ids.push(record.id!);
    }
    return ids;
  });
}

function newDisk(): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  disk.makeFolder(FOLDER);
  return disk;
}

describe("a series of WARC files", () => {
  it("begins each file with a warcinfo, and gives it its name when it is sealed", () => {
    const disk = newDisk();
    using series = openSeries(disk);
    series.seal();
    const place = appendPair(series, "one");
    expect(disk.list(FOLDER).map(({ name }) => name)).toEqual(["test-20260102030405678-00001.warc.gz.open"]);
    series.seal();
    expect(sealed).toEqual(["test-20260102030405678-00001.warc.gz"]);
    expect(place).toMatchObject({ file: "test-20260102030405678-00001.warc.gz" });
    const records = [...new WarcReader(bufferSource(contentOf(disk, place.file)), { strict: true })].map((each) => [
      each.type,
      each.offset,
    ]);
    expect(records.map(([type]) => type)).toEqual(["warcinfo", "resource", "metadata"]);
    expect(records[1]![1]).toBe(place.offset);
  });

  it("turns to the next file when one is large enough, and goes on with the numbers that are there", () => {
    const disk = newDisk();
    using series = openSeries(disk, 1000);
    for (const name of ["a", "b", "c", "d", "e"]) appendPair(series, name);
    series.seal();
    expect(sealed).toEqual(listSeries(disk, FOLDER).map(({ name }) => name));
    using later = openSeries(disk, 1000);
    appendPair(later, "f");
    later.seal();
    const names = listSeries(disk, FOLDER).map(({ name }) => name.slice(-13));
    expect(names.length).toBeGreaterThan(2);
    expect(names).toEqual(names.map((_, i) => `${String(i + 1).padStart(5, "0")}.warc.gz`.slice(-13)));
    expect(sealedIds(disk)).toHaveLength(12);
  });

  it("is as before where writing a group failed", () => {
    const disk = newDisk();
    using series = openSeries(disk);
    appendPair(series, "one");
    const fail = () =>
      series.append((group) => {
        group.write(encodeHead("WARC/1.1", [["Content-Length", "4"]]), [Buffer.from("half")]);
        throw new Error("the group breaks off");
      });
    expect(fail).toThrow("the group breaks off");
    const place = appendPair(series, "two");
    series.seal();
    const ids = ["one", "two"].flatMap((name) => [`urn:test:${name}:resource`, `urn:test:${name}:metadata`]);
    expect(sealedIds(disk)).toEqual(ids);
    const reader = new WarcReader(bufferSource(contentOf(disk, place.file)), { start: place.offset });
    expect(reader.next()?.id).toBe("urn:test:two:resource");
  });

  it("is recovered with every record that is whole, wherever it was cut or changed", () => {
    const disk = newDisk();
    using series = openSeries(disk);
    const places = ["a", "b", "c"].map((name) => appendPair(series, name));
    const dice = createDice(3);
    series.seal();
    const intact = contentOf(disk, places[0]!.file);
    const ids = ["a", "b", "c"].flatMap((name) => [`urn:test:${name}:resource`, `urn:test:${name}:metadata`]);
    const ends: number[] = [];
    for (const record of new WarcReader(bufferSource(intact))) {
      record.drain();
      ends.push(record.offset + record.length!);
    }
    expect(places[0]!.offset).toBe(ends[0]);
    for (let cut = 0; cut < intact.length; cut++) {
      for (const how of cut % 9 === 0 ? (["cut", "zeros", "flip"] as const) : (["cut"] as const)) {
        const left = newDisk();
        const bytes = Buffer.from(how === "cut" ? intact.subarray(0, cut) : intact);
        if (how === "zeros") bytes.fill(0, cut);
        if (how === "flip") bytes[cut]! ^= 1 << dice.below(8);
        using file = left.open(`${FOLDER}/test-20260102030405678-00001.warc.gz${OPEN_ENDING}`, "create");
        file.write(bytes, 0);
        const [recovered] = recoverSeries(left, FOLDER, () => 0);
        const whole = ends.filter((end) => bytes.subarray(0, end).equals(intact.subarray(0, end))).length;
        const found = sealedIds(left);
        // A bit of a gzip header may be one that nobody looks at.
        if (how === "flip") expect(ids.slice(0, found.length)).toEqual(found);
        else expect(found).toEqual(ids.slice(0, Math.max(0, whole - 1)));
        expect(found.length).toBeGreaterThanOrEqual(Math.max(0, whole - 1));
        expect(recovered?.name === undefined).toBe(found.length === 0);
      }
    }
  });

  it("loses nothing that was synced, at whatever moment the power fails", async () => {
    let acknowledged: string[] = [];
    const stops = await everyStop(
      async (disk) => {
        acknowledged = [];
        using series = openSeries(disk, 700);
        for (const name of ["a", "b"]) {
          appendPair(series, name);
          await series.syncLater();
          acknowledged.push(name);
        }
        series.seal();
      },
      (disk) => {
        recoverSeries(disk, FOLDER, () => 0);
        const found = sealedIds(disk);
        for (const name of acknowledged) expect(found).toContain(`urn:test:${name}:resource`);
        expect(new Set(found).size).toBe(found.length);
        // The next run goes on with numbers that nobody had.
        using series = openSeries(disk);
        appendPair(series, "next");
        series.seal();
        expect(sealedIds(disk)).toHaveLength(found.length + 2);
      },
      { prepare: (disk) => disk.makeFolder(FOLDER) },
    );
    expect(stops).toBeGreaterThan(10);
  });

  it("is cut back to whole groups by a full disk", async () => {
    let appended: string[] = [];
    const writes = await everyFullDisk(
      (disk) => {
        appended = [];
        using series = openSeries(disk, 700);
        for (const name of ["a", "b", "c", "d"]) {
          appendPair(series, name);
          series.seal();
          appended.push(name);
        }
      },
      (disk, failure) => {
        if (failure !== undefined) expect(failure).toMatchObject({ code: "HT_NO_SPACE" });
        recoverSeries(disk, FOLDER, () => 0);
        const found = sealedIds(disk);
        for (const name of appended) expect(found).toContain(`urn:test:${name}:metadata`);
      },
      { prepare: (disk) => disk.makeFolder(FOLDER) },
    );
    expect(writes).toBeGreaterThan(3);
  });
});

/** Of which the first sync fails, and later ones do not: as the system tells an error once. */
class SickDisk extends ForgetfulDisk {
  private isSick = true;

  override open(...given: Parameters<ForgetfulDisk["open"]>) {
    const file = super.open(...given);
    const sync = () => {
      if (!this.isSick) return;
      this.isSick = false;
      throw new ArchiveError("HT_IO", "the disk is sick");
    };
    return Object.assign(file, { sync });
  }
}

it("makes nothing durable any more after a sync that failed", async () => {
  const disk = new SickDisk();
  disk.makeFolder(FOLDER);
  using series = openSeries(disk, 1);
  appendPair(series, "one");
  expect(() => appendPair(series, "two")).toThrow("sick");
  await expect(series.syncLater()).rejects.toThrow("sick");
});
