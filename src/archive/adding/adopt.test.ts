import { basename, dirname } from "node:path";
import { describe, expect, it } from "vitest";
import type { Disk } from "../../disk/index.ts";
import type { Input } from "../../pipeline/index.ts";
import {
  all,
  capturesOf,
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  payloadOf,
  payloadsOf,
  rebuild,
  type Visit,
  visitBytes,
} from "../../testing/archive-fixture.ts";
import { captureBytes, noise, recordBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { ArchiveWriter } from "../archive-writer.ts";
import { Archive } from "../asking/archive.ts";
import { examineArchive } from "../care/doctor.ts";
import { ArchiveCore } from "../core/archive-core.ts";
import type { AdoptReport } from "./adopt.ts";

const URL = "http://a.example/";
const KEEP = { data: "keep", names: "keep", seed: 0 } as const;
const visit = (day: number): Visit => ({
  uri: URL,
  timeMs: Date.UTC(2020, 0, day),
  payload: noise(`day ${day}`, 900),
});

/** Two files that were adopted, of captures of two days each. */
async function adopted(): Promise<{ disk: ForgetfulDisk; inputs: Input[] }> {
  const disk = new ForgetfulDisk();
  const inputs = [1, 3].map((day) =>
    makeInput(
      disk,
      [day, day + 1].map((each) => visitBytes(visit(each))),
      "/holdings",
    ),
  );
  await adopt(disk, inputs);
  return { disk, inputs };
}

async function adopt(disk: Disk, inputs: readonly Input[]): Promise<AdoptReport> {
  await using writer = openWriter(disk);
  return await writer.adopt(inputs);
}

function move(disk: Disk, input: Input, folder = "/elsewhere"): Input {
  disk.makeFolder(folder);
  const path = `${folder}/${basename(input.path)}`;
  disk.rename(input.path, path, "refuse");
  disk.syncFolder(folder);
  disk.syncFolder(dirname(input.path));
  return { ...input, name: path, path };
}

async function answers(disk: Disk): Promise<{ days: number[]; readable: number; crawls: string[] }> {
  await using archive = await openReader(disk);
  const captures = await capturesOf(archive, URL);
  const crawls = (await all(archive.stats("crawl"))).map(({ name }) => name).sort();
  const readable = (await payloadsOf(archive, URL)).length;
  return { days: captures.map(({ timeMs }) => new Date(timeMs!).getUTCDate()), readable, crawls };
}

describe("an adopted file that was moved", () => {
  it("is the same segment in its new place", async () => {
    const { disk, inputs } = await adopted();
    const moved = inputs.map((input) => move(disk, input));
    expect(await diagnose(disk)).toHaveLength(2);
    expect(await adopt(disk, moved)).toMatchObject({ files: 0, adoptedBefore: 2, moved: 2, captures: 0 });
    const wanted = { days: [1, 2, 3, 4], readable: 4, crawls: moved.map(({ path }) => path).sort() };
    expect(await answers(disk)).toEqual(wanted);
    expect(await diagnose(disk)).toEqual([]);
    expect(await adopt(disk, moved)).toMatchObject({ files: 0, adoptedBefore: 2, moved: 0 });
    await rebuild(disk);
    expect(await answers(disk)).toEqual(wanted);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("is not one of the same name and size with other captures", async () => {
    const { disk, inputs } = await adopted();
    const [other, gone] = [...inputs].sort((one, two) => one.size! - two.size!) as [Input, Input];
    disk.remove(gone.path);
    disk.makeFolder("/elsewhere");
    const path = `/elsewhere/${basename(gone.path)}`;
    {
      using from = disk.open(other.path, "read");
      using to = disk.open(path, "create");
      // Zeros behind the records make up for what is missing.
      const bytes = Buffer.alloc(gone.size!);
      from.read(bytes, 0);
      to.write(bytes, 0);
    }
    expect(disk.stat(path)!.sizeBytes).toBe(gone.size);
    const report = await adopt(disk, [{ ...gone, name: path, path }]);
    expect(report).toMatchObject({ files: 1, adoptedBefore: 0, moved: 0, known: 2 });
    expect(await diagnose(disk)).toEqual([
      `HT_LOST ${gone.path} is gone; adopt it where it lies now; it holds 2 captures`,
    ]);
  });

  it("is entered where it was gone when everything was made anew", async () => {
    const { disk, inputs } = await adopted();
    const moved = move(disk, inputs[0]!);
    await rebuild(disk);
    expect((await answers(disk)).days).toEqual([3, 4]);
    expect(await adopt(disk, [moved])).toMatchObject({ files: 1, captures: 2, moved: 0 });
    expect((await answers(disk)).days).toEqual([1, 2, 3, 4]);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("is found whenever that is cut off, once it is adopted again", async () => {
    const { disk: sound, inputs } = await adopted();
    const moved = inputs.map((input) => move(sound, input));
    for (let stopAt = 1; ; stopAt++) {
      const disk = sound.reopen(KEEP, { stopAt });
      try {
        await adopt(disk, moved);
      } catch (error) {
        if (!disk.operations.stopped) throw error;
      }
      const left = disk.reopen(KEEP);
      await adopt(left, moved);
      expect(await answers(left)).toMatchObject({ days: [1, 2, 3, 4], readable: 4 });
      expect(await diagnose(left)).toEqual([]);
      if (!disk.operations.stopped) break;
    }
  });
});

describe("a file with hundreds of captures of one moment", () => {
  it("is adopted with all of them", async () => {
    const disk = new ForgetfulDisk();
    const visits = Array.from({ length: 300 }, (_, number) => visitBytes({ ...visit(1), number }));
    const input = makeInput(disk, [...visits, visitBytes(visit(2))], "/holdings");
    expect(await adopt(disk, [input])).toMatchObject({ files: 1, captures: 301, damaged: 0 });
    await rebuild(disk);
    expect((await answers(disk)).readable).toBe(301);
    expect(await diagnose(disk)).toEqual([]);
  });
});

/** A file with these bytes. */
function fileInput(disk: Disk, path: string, bytes: Buffer): Input {
  disk.makeFolder(dirname(path));
  {
    using file = disk.open(path, "create");
    file.write(bytes, 0);
  }
  return { name: path, path, entries: [], size: bytes.length };
}

/** An ARC file with captures of these URLs at these times. */
function arcInput(disk: Disk, captures: readonly (readonly [url: string, date: string])[]): Input {
  const record = (line: string, block: string) => `${line} ${block.length}\n${block}\n`;
  const version = "1 0 test\nURL IP-address Archive-date Content-type Archive-length\n";
  const records = captures.map(([url, date]) =>
    record(`${url} 10.0.0.1 ${date} text/plain`, `HTTP/1.1 200 OK\r\n\r\n${url} ${date}`),
  );
  const first = record("filedesc://a.arc 0.0.0.0 20200101000000 text/plain", version);
  return fileInput(disk, "/holdings/a.arc", Buffer.from([first, ...records].join("")));
}

describe("an adopted ARC file", () => {
  it("has captures that can be removed, and stay so", async () => {
    const disk = new ForgetfulDisk();
    const input = arcInput(disk, [
      [URL, "20200101000000"],
      [URL, "20200102000000"],
    ]);
    await adopt(disk, [input]);
    {
      await using writer = openWriter(disk);
      const removed = await writer.remove({ url: URL, toMs: Date.UTC(2020, 0, 1) }, { reason: "test" });
      expect(removed.captures).toBe(1);
    }
    expect((await answers(disk)).days).toEqual([2]);
    await rebuild(disk);
    expect((await answers(disk)).days).toEqual([2]);
    {
      await using writer = openWriter(disk);
      expect(await writer.add([input])).toMatchObject({ captures: 0, known: 1, removed: 1 });
    }
    expect(await diagnose(disk)).toEqual([]);
  });
});

/** Each capture, with what its record and its payload are. */
async function contents(disk: Disk): Promise<string[]> {
  await using archive = await openReader(disk);
  const told: string[] = [];
  for (const capture of await all(archive.captures({}))) {
    const payload = await payloadOf(archive, capture);
    told.push(`${capture.url} ${capture.timeMs} ${capture.class} ${payload.toString()}`);
  }
  return told;
}

describe.each(["add", "adopt"] as const)("what is odd in a file (%s)", (way) => {
  async function taken(disk: Disk, input: Input) {
    await using writer = openWriter(disk);
    return await (way === "add" ? writer.add([input]) : writer.adopt([input]));
  }

  it("is an ARC record whose URL has blanks and controls: the same when everything is made anew", async () => {
    const disk = new ForgetfulDisk();
    const input = arcInput(disk, [["http://a.example/x y\rz", "20200101000000"]]);
    expect(await taken(disk, input)).toMatchObject({ captures: 1 });
    expect(await diagnose(disk)).toEqual([]);
    const before = await contents(disk);
    await rebuild(disk);
    expect(await contents(disk)).toEqual(before);
    await using writer = openWriter(disk);
    expect(await writer.add([input])).toMatchObject({ captures: 0, known: 1 });
  });

  it("is an ARC record without a date: undated, also when everything is made anew", async () => {
    const disk = new ForgetfulDisk();
    expect(await taken(disk, arcInput(disk, [[URL, "00000000000000"]]))).toMatchObject({ captures: 1 });
    const undated = [`${URL} undefined undated ${URL} 00000000000000`];
    expect(await contents(disk)).toEqual(undated);
    expect(await diagnose(disk)).toEqual([]);
    await rebuild(disk);
    expect(await contents(disk)).toEqual(undated);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("is an HTTP header that does not end: there is no payload, and that can be read", async () => {
    const disk = new ForgetfulDisk();
    const http = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    const record = recordBytes(
      [
        "WARC/1.0",
        "WARC-Type: response",
        "WARC-Record-ID: <urn:uuid:endless>",
        "WARC-Date: 2020-01-01T00:00:00Z",
        `WARC-Target-URI: ${URL}`,
        "Content-Type: application/http; msgtype=response",
      ],
      http,
    );
    await taken(disk, makeInput(disk, [record]));
    expect(await contents(disk)).toEqual([`${URL} ${Date.UTC(2020, 0, 1)} state `]);
    await using archive = await openReader(disk);
    await using opened = await archive.open((await capturesOf(archive, URL))[0]!);
    expect(opened.http?.text).toBe(http);
  });

  it("is a header that tells a greater length than the record has: it is read as far as it goes", async () => {
    const disk = new ForgetfulDisk();
    const sound = captureBytes({ uri: URL, date: "2020-01-01T00:00:00Z", payload: "short" }).toString("latin1");
    const wrong = sound.replace(
      /^(Content-Length: )(\d+)\r\n(?=\r\nHTTP)/m,
      (_, name, size) => `${name}${+size + 9}\r\n`,
    );
    expect(wrong).not.toBe(sound);
    const next = captureBytes({ uri: URL, date: "2020-01-02T00:00:00Z", payload: "next" });
    await taken(disk, fileInput(disk, "/holdings/a.warc", Buffer.concat([Buffer.from(wrong, "latin1"), next])));
    const before = await contents(disk);
    expect(before).toEqual([
      expect.stringMatching(`^${URL} ${Date.UTC(2020, 0, 1)} state short`),
      `${URL} ${Date.UTC(2020, 0, 2)} state next`,
    ]);
    await rebuild(disk);
    expect(await contents(disk)).toEqual(before);
  });
});

it("takes nothing of a file again, with captures in it that became revisits", async () => {
  const disk = new ForgetfulDisk();
  const { payload } = visit(1);
  const input = makeInput(
    disk,
    [1, 2, 3].map((day) => visitBytes({ ...visit(day), payload })),
  );
  await using writer = openWriter(disk);
  expect(await writer.add([input])).toMatchObject({ captures: 3, duplicates: 2 });
  expect(await writer.add([input])).toMatchObject({ captures: 0, known: 3, duplicates: 0, bytesKept: 0 });
});

it("takes no payload into the archive of which all captures were removed before", async () => {
  const disk = new ForgetfulDisk();
  const input = makeInput(disk, [1, 2, 3].map(visit).map(visitBytes), "/holdings");
  const count = async () => {
    await using archive = await openReader(disk);
    return (await archive.counts()).contents;
  };
  {
    await using writer = openWriter(disk);
    await writer.add([input]);
    await writer.remove({ url: URL, toMs: visit(1).timeMs }, { reason: "a test" });
  }
  expect(await adopt(disk, [input])).toMatchObject({ captures: 0, known: 2, removed: 1 });
  expect(await count()).toBe(2);
  await rebuild(disk);
  expect(await count()).toBe(2);
  expect(await diagnose(disk)).toEqual([]);
});

it("knows an exclamation mark in a path from that before an entry of a ZIP file", async () => {
  const disk = new ForgetfulDisk();
  const folder = "/mine!/archive";
  const added = makeInput(disk, [visitBytes(visit(1))]);
  const held = makeInput(disk, [visitBytes(visit(2))], "/hold!ings");
  {
    await using writer = ArchiveWriter.open(disk, folder, { create: true });
    await writer.add([added]);
    await writer.adopt([held]);
  }
  const read = async () => {
    await using archive = await Archive.open(disk, folder);
    return await payloadsOf(archive, URL);
  };
  const payloads = [1, 2].map((day) => visit(day).payload);
  expect(await read()).toEqual(payloads);
  await ArchiveWriter.rebuild(disk, folder);
  expect(await read()).toEqual(payloads);
  {
    await using writer = ArchiveWriter.open(disk, folder);
    expect(await writer.adopt([held])).toMatchObject({ adoptedBefore: 1, moved: 0 });
    await writer.remove({ url: URL, toMs: visit(1).timeMs }, { reason: "a test" });
    expect(writer.compact()).toMatchObject({ segments: 1, damaged: [] });
  }
  const findings: string[] = [];
  for await (const { message } of examineArchive(disk, folder, { scrub: true })) findings.push(message);
  expect(findings).toEqual([]);
  expect(await read()).toEqual(payloads.slice(1));
});

it("is one finding while it is not entered, and none when somebody has written", async () => {
  const disk = new ForgetfulDisk();
  const held = makeInput(disk, [1, 2, 3].map(visit).map(visitBytes), "/holdings");
  {
    using core = ArchiveCore.open(disk, FOLDER, { create: true });
    const { sizeBytes, modifiedMs } = disk.stat(held.path)!;
    const file = { path: held.path, size: sizeBytes, modifiedMs };
    core.commits.journal({ kind: "adopt", time: "2026-01-01T00:00:00Z", segment: core.nextSegment(), ...file });
    core.commits.commit();
  }
  expect(await diagnose(disk)).toEqual([expect.stringContaining("adopted, but not entered yet")]);
  {
    await using _ = openWriter(disk);
  }
  expect(await diagnose(disk)).toEqual([]);
  expect((await answers(disk)).days).toEqual([1, 2, 3]);
});
