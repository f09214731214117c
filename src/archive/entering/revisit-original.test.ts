/** Revisits lead to the payload that they stand for, whatever else was captured, or removed, around their originals. */
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import { removeTree } from "../../disk/index.ts";
import { diagnose, FOLDER, makeInput, openReader, openWriter, rebuild } from "../../testing/archive-fixture.ts";
import { type CaptureText, captureBytes, noise, type RevisitText, revisitBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { ArchiveWriter } from "../archive-writer.ts";
import { Archive } from "../asking/archive.ts";
import { exportArchive } from "../export/export.ts";

const COPY = "http://copy.example/";
const [OWN, OTHER] = [noise("own", 900), noise("other", 900)];

/** A capture whose header says nothing of its payload: only its URL, date and id tell it from others. */
function silent(date: string, payload: Buffer, id: string): Buffer {
  return captureBytes({ uri: "http://a.example/", date, version: "WARC/1.1", payload, digest: "none", id });
}

function copyOf(payload: Buffer, text: Partial<CaptureText> = {}): Buffer {
  return captureBytes({ uri: COPY, date: "2020-01-02T00:00:00Z", payload, ...text });
}

async function filled(records: readonly Buffer[]): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk, { segmentSizeBytes: 1 });
  for (const record of records) await writer.add([makeInput(disk, [record])]);
  return disk;
}

async function payloadOfCopy(disk: ForgetfulDisk): Promise<Buffer | undefined> {
  await using archive = await openReader(disk);
  const [copy] = archive.captures(COPY);
  expect(copy?.row.kind).toBe("replaced");
  return copy && archive.reader.payloadBytes(copy);
}

/** The payloads of all captures of the copy's URL. */
async function copies(disk: ForgetfulDisk): Promise<Buffer[]> {
  await using archive = await openReader(disk);
  return [...archive.captures(COPY)].map((capture) => archive.reader.payloadBytes(capture));
}

async function removePayload(disk: ForgetfulDisk, payload: Buffer): Promise<void> {
  await using writer = openWriter(disk);
  await writer.remove({ sha256: digestOf("sha256", payload).hex }, { reason: "a test" });
}

describe("a duplicate after a rebuild", () => {
  it("leads to its own original, of two of one moment", async () => {
    const date = "2020-01-01T00:00:00Z";
    const disk = await filled([silent(date, OTHER, "urn:1"), silent(date, OWN, "urn:2"), copyOf(OWN)]);
    expect(await payloadOfCopy(disk)).toEqual(OWN);
    await rebuild(disk);
    expect(await payloadOfCopy(disk)).toEqual(OWN);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("leads to its own original, where that stands behind it and another comes first", async () => {
    const date = "2020-01-01T00:00:00Z";
    const gone = captureBytes({ uri: "http://gone.example/", date, payload: noise("gone", 900) });
    const records = [gone, silent(date, OTHER, "urn:1"), silent(date, OWN, "urn:2"), copyOf(OWN)];
    const disk = new ForgetfulDisk();
    {
      await using writer = openWriter(disk, { segmentSizeBytes: 3000 });
      await writer.add([makeInput(disk, records)]);
      await writer.remove({ url: "http://gone.example/" }, { reason: "a test" });
      // What is alive of the first segment goes to the end.
      writer.compact();
    }
    await rebuild(disk);
    expect(await payloadOfCopy(disk)).toEqual(OWN);
  });

  it("does not lead to what was removed from the same second", async () => {
    const records = [
      silent("2020-01-01T00:00:00.100Z", OTHER, "urn:1"),
      silent("2020-01-01T00:00:00.900Z", OWN, "urn:2"),
      copyOf(OWN),
    ];
    const disk = await filled(records);
    await removePayload(disk, OTHER);
    await rebuild(disk);
    expect(await payloadOfCopy(disk)).toEqual(OWN);
  });

  it("leads to its own original though that was removed, and not to what stayed from the same moment", async () => {
    const date = "2020-01-01T00:00:00Z";
    const disk = await filled([silent(date, OTHER, "urn:1"), silent(date, OWN, "urn:2"), copyOf(OWN)]);
    {
      await using writer = openWriter(disk);
      await writer.remove({ url: "http://a.example/" }, { reason: "a test" });
      await writer.add([makeInput(disk, [silent(date, OTHER, "urn:1")])], { readmit: true });
    }
    await rebuild(disk);
    expect(await payloadOfCopy(disk)).toEqual(OWN);
  });

  it("leads to an original whose date cannot be read", async () => {
    const disk = await filled([silent("some day", OWN, "urn:1"), copyOf(OWN)]);
    expect(await payloadOfCopy(disk)).toEqual(OWN);
    await rebuild(disk);
    expect(await payloadOfCopy(disk)).toEqual(OWN);
  });
});

const NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified";

/** Of the copy's URL, a day later. */
function later(text: Partial<RevisitText>): Buffer {
  return revisitBytes({ uri: COPY, date: "2020-01-03T00:00:00Z", ...text });
}

describe("a revisit that came before its original", () => {
  const first = captureBytes({
    uri: "http://a.example/",
    date: "2020-01-01T00:00:00Z",
    payload: OWN,
    digest: "sha256",
  });
  const loose = { refersTo: { uri: COPY, date: "2020-01-02T00:00:00Z" } };

  it.each([
    ["refers to it by URL and date", loose],
    ["tells nothing", { profile: NOT_MODIFIED, http: "" }],
    ["tells the digest in its header", { digest: formatDigest(digestOf("sha1", OWN)) }],
  ])("leads to it though it is a duplicate: one that %s", async (_, text) => {
    const disk = await filled([first, later(text), copyOf(OWN)]);
    expect(await copies(disk)).toEqual([OWN, OWN]);
    await rebuild(disk);
    expect(await copies(disk)).toEqual([OWN, OWN]);
    expect(await diagnose(disk)).toEqual([]);
  });

  it.each([
    ["is resolved when it comes", [0, 1, 2]],
    ["is resolved later", [1, 2, 0]],
    ["was there before", [0, 2, 1]],
  ])("leads to where another revisit leads that %s", async (_, order) => {
    const digest = formatDigest(digestOf("sha256", OWN));
    const between = revisitBytes({ uri: COPY, date: "2020-01-02T00:00:00Z", digest });
    const records = [first, later({ profile: NOT_MODIFIED, http: "" }), between];
    const disk = await filled(order.map((i) => records[i]!));
    expect(await copies(disk)).toEqual([OWN, OWN]);
    expect(await diagnose(disk)).toEqual([]);
  });
});

describe("a revisit that was removed", () => {
  const original = silent("2020-01-01T00:00:00Z", OWN, "urn:1");
  const revisit = later({ digest: formatDigest(digestOf("sha256", OWN)) });

  async function remove(disk: ForgetfulDisk): Promise<void> {
    await using writer = openWriter(disk);
    expect((await writer.remove({ url: COPY }, { reason: "a test" })).captures).toBe(1);
  }

  it("is there again when it was readmitted, also when everything is made anew", async () => {
    const disk = await filled([original, revisit]);
    await remove(disk);
    {
      await using writer = openWriter(disk);
      expect(await writer.add([makeInput(disk, [revisit])], { readmit: true })).toMatchObject({ captures: 1 });
      expect(await writer.add([makeInput(disk, [revisit])])).toMatchObject({ known: 1, removed: 0 });
    }
    await rebuild(disk);
    expect(await copies(disk)).toEqual([OWN]);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("does not come back when its original comes", async () => {
    const disk = await filled([revisit]);
    await remove(disk);
    {
      await using writer = openWriter(disk);
      await writer.add([makeInput(disk, [original])]);
      expect(await writer.add([makeInput(disk, [revisit])])).toMatchObject({ captures: 0, removed: 1 });
      // What is adopted is entered behind it.
      await writer.adopt([makeInput(disk, [original, revisit])]);
    }
    await rebuild(disk);
    expect(await copies(disk)).toEqual([]);
    expect(await diagnose(disk)).toEqual([]);
  });
});

describe("a revisit, where records come in another order when everything is made anew", () => {
  const dated = (date: string, payload: Buffer, id: string) => copyOf(payload, { date, id });
  const first = dated("2020-01-01T00:00:00Z", OTHER, "urn:1");
  const second = dated("2020-01-02T00:00:00Z", OWN, "urn:2");
  const silentRevisit = later({ profile: NOT_MODIFIED, http: "" });
  let nowMs = Date.UTC(2026, 0, 1);

  it("that tells nothing stands for the last capture before it, not for the first that comes", async () => {
    const gone = captureBytes({
      uri: "http://gone.example/",
      date: "2020-01-01T00:00:00Z",
      payload: noise("gone", 900),
    });
    const disk = new ForgetfulDisk();
    {
      await using writer = openWriter(disk, { segmentSizeBytes: 3000 });
      await writer.add([makeInput(disk, [gone, first, second])]);
      await writer.add([makeInput(disk, [silentRevisit])]);
      await writer.remove({ url: "http://gone.example/" }, { reason: "a test" });
      // The captures are behind the revisit now.
      writer.compact();
    }
    expect(await copies(disk)).toEqual([OTHER, OWN, OWN]);
    await rebuild(disk);
    expect(await copies(disk)).toEqual([OTHER, OWN, OWN]);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("that tells nothing does not stand for what came later, though that is nearer", async () => {
    const disk = await filled([first, silentRevisit, second]);
    expect(await copies(disk)).toEqual([OTHER, OWN, OTHER]);
    await rebuild(disk);
    expect(await copies(disk)).toEqual([OTHER, OWN, OTHER]);
  });

  it("that tells nothing does not stand for what was adopted later either", async () => {
    const disk = new ForgetfulDisk();
    const clock = { now: () => ++nowMs };
    {
      await using writer = openWriter(disk, { clock });
      await writer.adopt([makeInput(disk, [first])]);
      await writer.add([makeInput(disk, [silentRevisit])]);
      await writer.adopt([makeInput(disk, [second])]);
    }
    expect(await copies(disk)).toEqual([OTHER, OWN, OTHER]);
    await rebuild(disk);
    expect(await copies(disk)).toEqual([OTHER, OWN, OTHER]);
  });

  it("that names a moment leads to it, though another of its second is read first", async () => {
    const disk = new ForgetfulDisk();
    const between = captureBytes({ uri: COPY, date: "2020-01-01T00:00:00.500Z", version: "WARC/1.1", payload: OWN });
    {
      await using writer = openWriter(disk);
      // What was adopted is entered behind our own segments.
      await writer.adopt([makeInput(disk, [first])]);
      await writer.add([makeInput(disk, [between])]);
      await writer.add([makeInput(disk, [later({ refersTo: { uri: COPY, date: "2020-01-01T00:00:00Z" } })])]);
    }
    expect(await copies(disk)).toEqual([OTHER, OWN, OTHER]);
    await rebuild(disk);
    expect(await copies(disk)).toEqual([OTHER, OWN, OTHER]);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("that tells nothing waits for all, too, where the catalogue was lost and the next writer makes another one", async () => {
    const disk = await filled([silentRevisit, first, second]);
    expect(await copies(disk)).toEqual([OTHER, OWN, OTHER]);
    for (const { name } of disk.list("/archive")) {
      if (/^(?:catalogue|timeline)-/.test(name)) removeTree(disk, `/archive/${name}`);
    }
    {
      await using writer = openWriter(disk);
      expect(writer.state.pending).toBe(0);
    }
    expect(await copies(disk)).toEqual([OTHER, OWN, OTHER]);
    expect(await diagnose(disk)).toEqual([]);
  });
});

describe("a revisit without a header of its own", () => {
  /** The same payload as an error of another URL, which holds it for both. */
  const error = captureBytes({
    uri: "http://b.example/",
    date: "2020-01-01T00:00:00Z",
    payload: OWN,
    status: "404 No",
  });
  const found = copyOf(OWN);

  it.each([
    ["tells its digest", { digest: formatDigest(digestOf("sha256", OWN)), profile: NOT_MODIFIED, http: "" }],
    ["says 304", { refersTo: { uri: COPY, date: "2020-01-02T00:00:00Z" }, http: "HTTP/1.1 304 Not Modified\r\n\r\n" }],
    ["tells nothing", { profile: NOT_MODIFIED, http: "" }],
  ])("goes on with the lifespan of its URL: one that %s", async (_, text) => {
    const disk = await filled([error, found]);
    {
      await using writer = openWriter(disk);
      // Made anew, it comes before the captures of the adopted file.
      await writer.adopt([makeInput(disk, [copyOf(OTHER, { date: "2020-01-01T00:00:00Z" })])]);
      await writer.add([makeInput(disk, [later(text)])]);
    }
    const check = async () => {
      await using archive = await openReader(disk);
      const history = archive.history(COPY).map(({ status, captures }) => ({ status, captures }));
      expect(history).toEqual([
        { status: 200, captures: 1 },
        { status: 200, captures: 2 },
      ]);
      const last = [...archive.captures(COPY)].at(-1)!;
      expect(archive.reader.details(last).http?.status).toBe(200);
    };
    await check();
    await rebuild(disk);
    await check();
    expect(await diagnose(disk)).toEqual([]);
    const output = "/out.warc.gz";
    const selection = { fromMs: Date.UTC(2020, 0, 3) };
    await exportArchive(disk, FOLDER, { output, format: "warc", selection, description: "test", software: "test" });
    await using archive = await openArchiveOf(disk, output);
    expect(archive.history(COPY)).toMatchObject([{ status: 200, sha256: digestOf("sha256", OWN).hex }]);
  });
});

/** An archive of its own with one file. */
async function openArchiveOf(disk: ForgetfulDisk, path: string): Promise<Archive> {
  {
    await using writer = ArchiveWriter.open(disk, "/other", { create: true });
    await writer.add([{ name: path, path, entries: [], size: disk.stat(path)!.sizeBytes }]);
  }
  return await Archive.open(disk, "/other");
}

it("keeps a payload through a rebuild that only a revisit has, which waits until all is there", async () => {
  const date = "2020-01-01T00:00:00Z";
  const refersTo = { uri: "http://gone.example/", date };
  const disk = await filled([
    captureBytes({ uri: refersTo.uri, date, payload: OWN, digest: "none" }),
    revisitBytes({ uri: COPY, date: "2020-01-02T00:00:00Z", refersTo, http: "" }),
  ]);
  {
    await using writer = openWriter(disk);
    await writer.remove({ url: refersTo.uri }, { reason: "a test" });
  }
  expect(await copies(disk)).toEqual([OWN]);
  await rebuild(disk);
  {
    await using writer = openWriter(disk);
    writer.compact();
  }
  expect(await copies(disk)).toEqual([OWN]);
  expect(await diagnose(disk)).toEqual([]);
});
