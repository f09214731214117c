import { describe, expect, it } from "vitest";
import { ArchiveError, digestOf, formatDigest } from "../../base/index.ts";
import type { Disk, DiskFile, OpenMode } from "../../disk/index.ts";
import {
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
} from "../../testing/archive-fixture.ts";
import { capturesOf, historyOf, payloadOf } from "../../testing/asked-archive.ts";
import { captureBytes, noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

const VISITS: readonly Visit[] = [1, 2, 3].map((day) => ({
  uri: "http://a.example/",
  timeMs: Date.UTC(2020, 0, day),
  payload: noise(`day ${day}`, 700),
}));

async function filled(): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk);
  await writer.add([makeInput(disk, VISITS.map(visitBytes))]);
  return disk;
}

async function births(disk: ForgetfulDisk): Promise<number[]> {
  await using archive = await openReader(disk);
  return (await historyOf(archive, "http://a.example/")).map(({ birth }) => birth);
}

function derived(disk: ForgetfulDisk): string[] {
  return disk.list(FOLDER).flatMap(({ name }) => (/^(?:catalogue|timeline)-/.test(name) ? [name] : []));
}

describe("a rebuild", () => {
  it("leaves one catalogue and one timeline, with the same answers", async () => {
    const disk = await filled();
    const before = derived(disk);
    await rebuild(disk);
    expect(derived(disk)).toHaveLength(2);
    expect(derived(disk)).not.toEqual(before);
    expect(await births(disk)).toEqual(VISITS.map(({ timeMs }) => timeMs));
    expect(await diagnose(disk)).toEqual([]);
  });

  it("that is interrupted leaves everything as it was", async () => {
    const disk = await filled();
    const before = derived(disk);
    await expect(rebuild(disk, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "HT_INTERRUPTED" });
    expect(derived(disk)).toEqual(before);
    expect(await births(disk)).toEqual(VISITS.map(({ timeMs }) => timeMs));
  });

  it("does not disturb who reads", async () => {
    const disk = await filled();
    await using archive = await openReader(disk);
    await rebuild(disk);
    expect(await historyOf(archive, "http://a.example/")).toHaveLength(VISITS.length);
    const [capture] = await capturesOf(archive, "http://a.example/");
    expect(await payloadOf(archive, capture!)).toEqual(VISITS[0]!.payload);
  });

  it("stops at a segment that it cannot read, and nothing is cut off, then or later", async () => {
    const disk = await filled();
    const segment = `${FOLDER}/volumes/0/segments/000001.warc.gz`;
    const size = disk.stat(segment)!.sizeBytes;
    {
      using file = disk.open(segment, "update");
      file.write(Buffer.alloc(16), 0);
      file.sync();
    }
    const before = derived(disk);
    await expect(rebuild(disk)).rejects.toMatchObject({ code: "HT_FORMAT_UNKNOWN" });
    expect(derived(disk)).toEqual(before);
    {
      await using _ = openWriter(disk);
    }
    expect(disk.stat(segment)!.sizeBytes).toBe(size);
    expect(await births(disk)).toEqual(VISITS.map(({ timeMs }) => timeMs));
  });

  it.each(["cut", "gone"] as const)("stops where captures would be lost, unless that is said: %s", async (what) => {
    const disk = await filled();
    const segment = `${FOLDER}/volumes/0/segments/000001.warc.gz`;
    if (what === "gone") disk.remove(segment);
    else {
      using file = disk.open(segment, "update");
      file.truncate(file.size() - 300);
      file.sync();
    }
    const before = derived(disk);
    const lost = what === "gone" ? 3 : 1;
    await expect(rebuild(disk)).rejects.toMatchObject({
      code: "HT_CORRUPT",
      message: expect.stringMatching(`${lost} captures that the catalogue knows .*000001.* --accept-loss`) as string,
    });
    expect(derived(disk)).toEqual(before);
    expect(await births(disk)).toEqual(VISITS.map(({ timeMs }) => timeMs));
    await rebuild(disk, { acceptLoss: true });
    expect(await births(disk)).toHaveLength(VISITS.length - lost);
    // Of the one that was cut a piece is left behind the end, as a writer leaves it; the next one takes it away.
    expect(await diagnose(disk)).toEqual([]);
  });

  it("stops at a journal whose last entry has rotted, and cuts nothing off", async () => {
    const disk = await filled();
    {
      await using writer = openWriter(disk);
      for (const { timeMs } of VISITS.slice(0, 2)) {
        await writer.remove({ url: "http://a.example/", fromMs: timeMs, toMs: timeMs }, { reason: "a test" });
      }
    }
    const journal = `${FOLDER}/journal.jsonl`;
    const size = disk.stat(journal)!.sizeBytes;
    {
      using file = disk.open(journal, "update");
      file.write(Buffer.alloc(40), size - 60);
      file.sync();
    }
    await expect(rebuild(disk)).rejects.toMatchObject({ code: "HT_CORRUPT" });
    expect(disk.stat(journal)!.sizeBytes).toBe(size);
    await expect(births(disk)).rejects.toMatchObject({ code: "HT_CORRUPT" });
  });

  it("finds captures of one id and moment again, of which one has a digest that lies", async () => {
    const disk = new ForgetfulDisk();
    const payload = noise("true", 900);
    const claim = formatDigest(digestOf("sha1", payload));
    const shared = { uri: "http://a.example/", date: "2020-01-05T00:00:00Z", id: "urn:uuid:one", digestText: claim };
    const first = captureBytes({ uri: "http://b.example/", date: "2020-01-01T00:00:00Z", payload });
    const lying = captureBytes({ ...shared, payload: noise("another", 900) });
    const truthful = captureBytes({ ...shared, payload });
    {
      await using writer = openWriter(disk);
      for (const record of [first, lying, truthful]) await writer.add([makeInput(disk, [record])]);
    }
    const captures = async () => {
      await using archive = await openReader(disk);
      return (await capturesOf(archive, "http://a.example/")).map(({ flags }) => flags.join(" ")).sort();
    };
    const expected = ["digest-lies", "replaced"];
    expect(await captures()).toEqual(expected);
    await rebuild(disk);
    expect(await captures()).toEqual(expected);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("finds all that was readmitted, whenever that was cut off", async () => {
    const sound = await filled();
    const input = makeInput(sound, VISITS.map(visitBytes));
    {
      await using writer = openWriter(sound);
      await writer.remove({ url: "http://a.example/" }, { reason: "a test" });
    }
    const keep = { data: "keep", names: "keep", seed: 0 } as const;
    for (let stopAt = 1; ; stopAt++) {
      const disk = sound.reopen(keep, { stopAt });
      try {
        await using writer = openWriter(disk, { commitChangeCount: 2 });
        await writer.add([input], { readmit: true });
      } catch (error) {
        if (!disk.operations.stopped) throw error;
      }
      const left = disk.reopen(keep);
      {
        await using _ = openWriter(left);
      }
      const before = await births(left);
      await rebuild(left);
      // More may come back: what was removed still lies in the segment, and the journal says that it may.
      expect(await births(left)).toEqual(expect.arrayContaining(before));
      if (disk.operations.stopped) continue;
      expect(before).toHaveLength(VISITS.length);
      break;
    }
  });

  it("stops where a read fails, and leaves everything as it was", async () => {
    const disk = await filled();
    const before = derived(disk);
    await expect(rebuild(failingOnce(disk, "000001.warc.gz"))).rejects.toMatchObject({ code: "HT_IO" });
    expect(derived(disk)).toEqual(before);
    expect(await births(disk)).toEqual(VISITS.map(({ timeMs }) => timeMs));
    await rebuild(disk);
    expect(await births(disk)).toEqual(VISITS.map(({ timeMs }) => timeMs));
  });

  it("never lets a later record take the place of one that it entered", async () => {
    const disk = await filled();
    const segment = `${FOLDER}/volumes/0/segments/000001.warc.gz`;
    {
      using file = disk.open(segment, "update");
      const at = file.size() - 8;
      const byte = Buffer.alloc(1);
      file.read(byte, at);
      file.write(Buffer.of(byte[0]! ^ 1), at);
      file.sync();
    }
    await rebuild(disk, { acceptLoss: true });
    const [, , last] = VISITS;
    const again = { ...last!, timeMs: last!.timeMs + 86_400_000 };
    {
      await using writer = openWriter(disk);
      await writer.add([
        makeInput(disk, [visitBytes({ ...again, uri: "http://b.example/", payload: noise("b", 900) })]),
      ]);
      await writer.add([makeInput(disk, [visitBytes(again)])]);
    }
    await using archive = await openReader(disk);
    const [capture] = await capturesOf(archive, again.uri, again.timeMs);
    expect(await payloadOf(archive, capture!)).toEqual(again.payload);
  });
});

/** A disk on which one read of a file fails, once. */
function failingOnce(disk: ForgetfulDisk, name: string): Disk {
  let isDue = true;
  return new Proxy(disk, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (property !== "open") return typeof value === "function" ? value.bind(target) : value;
      return (path: string, mode: OpenMode): DiskFile => {
        const file = target.open(path, mode);
        if (!path.endsWith(name) || mode !== "read") return file;
        const read = file.read.bind(file);
        file.read = (into, position) => {
          if (isDue && position > 1000) {
            isDue = false;
            throw new ArchiveError("HT_IO", `${path}: a bad sector`, { file: path });
          }
          return read(into, position);
        };
        return file;
      };
    },
  });
}
