/** What an export holds, and what becomes of it when something goes wrong. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Archive, exportArchive } from "../../src/archive/index.ts";
import { ArchiveError, type Warning } from "../../src/base/index.ts";
import { type Disk, type DiskFile, nodeDisk } from "../../src/disk/index.ts";
import { capturesOf, listOf, payloadOf } from "../../src/testing/asked-archive.ts";
import { captureBytes, idOf, noise, packRecords, recordBytes, revisitBytes } from "../../src/testing/capture-text.ts";
import { readRecords } from "../../src/testing/deduplicated.ts";
import { keyRange } from "../../src/url/index.ts";
import { bufferSource, openZipEntry, parseCdxjLine, readZipEntries } from "../../src/warc/index.ts";
import { isCapture, originalOf, trial } from "./export-trial.ts";

const A = "http://a.example/";
const B = "http://b.example/";
const day = (number: number) => `2020-01-0${number}T00:00:00Z`;
const ms = (number: number) => Date.parse(day(number));
const LOGO = noise("logo", 3000);

const request = (uri: string, date: string) =>
  recordBytes(
    [
      "WARC/1.0",
      "WARC-Type: request",
      `WARC-Target-URI: ${uri}`,
      `WARC-Date: ${date}`,
      `WARC-Record-ID: <${idOf(`request ${uri} ${date}`)}>`,
      `WARC-Concurrent-To: <${idOf(`response ${uri} ${date}`)}>`,
      "Content-Type: application/http; msgtype=request",
    ],
    "GET / HTTP/1.1\r\n\r\n",
  );

const html = (title: string) => `<html><head><title>${title}</title></head>${noise(title, 400).toString("hex")}`;

/** Two sites that share a logo, one page that changes, a revisit of somebody else's, one that leads nowhere. */
const FILE = {
  name: "crawl.warc.gz",
  bytes: packRecords([
    request(`${A}logo`, day(1)),
    captureBytes({ uri: `${A}logo`, date: day(1), payload: LOGO, mime: "image/png" }),
    captureBytes({ uri: `${A}page`, date: day(1), payload: html("One &amp; only"), mime: "text/html; charset=utf-8" }),
    request(`${B}logo`, day(2)),
    captureBytes({ uri: `${B}logo`, date: day(2), payload: LOGO, mime: "image/png", blockDigest: true }),
    captureBytes({
      uri: `${A}page`,
      date: day(3),
      payload: gzipSync(html("Two")),
      mime: "text/html",
      http: ["Content-Encoding: gzip"],
    }),
    revisitBytes({
      uri: `${A}page`,
      date: day(4),
      refersTo: { uri: `${A}page`, date: day(1) },
      http: "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
    }),
    revisitBytes({ uri: `${B}lost`, date: day(5), digest: "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }),
    captureBytes({ uri: `${B}gone`, date: day(5), payload: "gone", status: "404 Not Found", mime: "text/html" }),
  ]),
};

const host = (name: string) => ({ range: keyRange(name, "host") });

async function filled() {
  const made = trial();
  await made.add([FILE]);
  return made;
}

describe("a WARC", () => {
  it("keeps revisits whose originals are in it, and has requests beside their responses", async () => {
    using made = await filled();
    const report = await made.export("x.warc.gz");
    expect(report).toMatchObject({ captures: 7, record: 4, revisit: 2, restored: 0, expanded: 0, orphan: 1 });
    const records = made.records("x.warc.gz");
    expect(records.map(({ type }) => type).join(" ")).toBe(
      "warcinfo request response response response revisit response request revisit revisit",
    );
    const given = new Map(readRecords(FILE).map((record) => [record.id, record]));
    for (const { id, raw, type } of records) {
      if (type === "response" || type === "request") expect(raw!.equals(given.get(id)!.raw!)).toBe(true);
    }
    expect(made.warnings.map(({ code }) => code)).toEqual(["HT_REVISIT_ORPHAN"]);
  });

  it("has full records where the originals are not in it: ours as they were, others as responses", async () => {
    using made = await filled();
    expect(await made.export("b.warc.gz", { selection: host("b.example") })).toMatchObject({ restored: 1, orphan: 1 });
    const logo = made.records("b.warc.gz").find(({ uri, type }) => uri === `${B}logo` && type !== "request")!;
    const was = readRecords(FILE).find(({ id }) => id === logo.id)!;
    expect([logo.head, logo.block.equals(was.block)]).toEqual([was.head, true]);
    const late = { ...host("a.example"), fromMs: ms(4) };
    expect(await made.export("late.warc.gz", { selection: late })).toMatchObject({ captures: 1, expanded: 1 });
    const [page] = made.records("late.warc.gz").filter(isCapture);
    expect([page!.type, page!.payload.toString()]).toEqual(["response", html("One &amp; only")]);
  });

  it("has a payload once whose original is not in it, and revisits that lead there", async () => {
    using made = await filled();
    const logos = [6, 7, 8].map((number) =>
      captureBytes({ uri: `${B}logo?\u00e9`, date: day(number), payload: LOGO, mime: "image/png", blockDigest: true }),
    );
    await made.add([{ name: "logos.warc.gz", bytes: packRecords(logos) }]);
    const report = await made.export("b.warc.gz", { selection: host("b.example") });
    expect(report).toMatchObject({ captures: 6, restored: 1, revisit: 3 });
    const records = made.records("b.warc.gz");
    const found = records.filter(({ uri, type }) => uri?.includes("logo") === true && type !== "request");
    for (const record of found) expect((originalOf(record, records) ?? record).payload.equals(LOGO)).toBe(true);
    // Who adds them can still put them together as they were.
    using other = trial();
    await other.add([{ name: "b.warc.gz", bytes: made.read("b.warc.gz") }]);
    await other.export("late.warc.gz", { selection: { fromMs: ms(7), toMs: ms(7) } });
    const [late] = other.records("late.warc.gz").filter(isCapture);
    const [was] = readRecords({ name: "logo", bytes: packRecords([logos[1]!]) });
    expect([late!.head, late!.block.equals(was!.block)]).toEqual([was!.head, true]);
  });

  it("has both captures of one second in full where a revisit could not tell them apart", async () => {
    using made = trial();
    const capture = (uri: string, date: string, payload: Uint8Array, id: string) =>
      captureBytes({ uri, date, payload, id: idOf(id) });
    const [one, two] = [noise("one", 2000), noise("two", 2000)];
    await made.add([
      {
        name: "twins.warc.gz",
        bytes: packRecords([
          capture(`${A}x`, day(1), one, "1"),
          capture(`${A}x`, day(1), two, "2"),
          capture(`${A}y`, day(2), one, "3"),
          capture(`${A}y`, day(3), two, "4"),
        ]),
      },
    ]);
    const report = await made.export("x.warc.gz");
    expect(report.captures).toBe(4);
    for (const revisit of made.records("x.warc.gz").filter(({ type }) => type === "revisit")) {
      expect(revisit.refersTo?.date).not.toBe(day(1));
    }
    expect(report.record + report.restored).toBe(4);
  });

  it("of a slice has what was valid then, one capture a URL", async () => {
    using made = await filled();
    await made.export("slice.warc.gz", { selection: { sliceMs: ms(3) } });
    const found = made.records("slice.warc.gz").filter(isCapture);
    expect(found.map(({ uri, date }) => [uri, date])).toEqual([
      [`${A}logo`, day(1)],
      [`${A}page`, day(3)],
      [`${B}logo`, day(2)],
    ]);
    expect(originalOf(found[2]!, found)?.uri).toBe(`${A}logo`);
  });

  it("of a media type has that alone", async () => {
    using made = await filled();
    await made.export("png.warc.gz", { selection: { mime: (mime) => mime === "image/png" } });
    expect(made.records("png.warc.gz").filter(isCapture)).toHaveLength(2);
  });

  it("is cut into files of a size, each with a warcinfo, and an index of all", async () => {
    using made = await filled();
    await made.export("x.warc.gz", { sizeBytes: 1500, cdxj: true });
    const files = made.outputs().slice(0, -1);
    expect(files.length).toBeGreaterThan(2);
    expect(made.outputs()).toEqual([...files.map((_, i) => `x-0000${i + 1}.warc.gz`), "x.cdxj"]);
    for (const name of files) expect(made.records(name)[0]!.type).toBe("warcinfo");
    const lines = made.read("x.cdxj").toString().trimEnd().split("\n");
    expect(lines).toEqual([...lines].sort());
    expect(lines).toHaveLength(7);
    for (const line of lines) {
      const { file, offset, length, url, status } = parseCdxjLine(line)!;
      const [record] = readRecords({ name: file!, bytes: made.read(file!).subarray(offset, offset! + length!) });
      expect([record!.uri, record!.block.toString("latin1", 9, 12)]).toEqual([url, String(status)]);
    }
    // A shorter one leaves nothing of a longer one.
    await made.export("x.warc.gz", { sizeBytes: 50_000, replace: true });
    expect(made.outputs()).toEqual(["x-00001.warc.gz", "x.cdxj"]);
  });

  it("can be added to another archive, which then answers the same", async () => {
    using made = await filled();
    await made.export("x.warc.gz");
    using other = trial();
    await other.add([{ name: "x.warc.gz", bytes: made.read("x.warc.gz") }]);
    await using one = await Archive.open(nodeDisk, made.archive);
    await using two = await Archive.open(nodeDisk, other.archive);
    const lifespans = await listOf(one.span(0, ms(9)));
    expect(await listOf(two.span(0, ms(9)))).toEqual(lifespans);
    expect(lifespans.length).toBeGreaterThan(4);
    for (const { url } of lifespans) expect(await visitsOf(two, url)).toEqual(await visitsOf(one, url));
    expect(await two.counts()).toMatchObject({ captures: 7, pending: 1 });
  });
});

/** The times and payloads of the captures of a URL. */
async function visitsOf(archive: Archive, url: string): Promise<unknown[]> {
  const visits: unknown[] = [];
  for (const capture of await capturesOf(archive, url)) {
    const payload = capture.sha256 && (await payloadOf(archive, capture)).toString("latin1");
    visits.push([capture.timeMs, capture.class, payload]);
  }
  return visits;
}

function unzip(bytes: Buffer): Map<string, Buffer> {
  const source = bufferSource(bytes);
  const entries = [...readZipEntries(source)].map((entry): [string, Buffer] => {
    const content = Buffer.alloc(entry.size);
    openZipEntry(source, entry, entry.name).read(content, 0);
    expect(entry.method).toBe("stored");
    return [entry.name, content];
  });
  return new Map(entries);
}

describe("a WACZ", () => {
  it("names its files with their hashes, has an index and the pages with their titles", async () => {
    using made = await filled();
    const report = await made.export("x.wacz");
    const entries = unzip(made.read("x.wacz"));
    expect([...entries.keys()]).toEqual([
      "archive/data.warc.gz",
      "indexes/index.cdxj",
      "pages/pages.jsonl",
      "datapackage.json",
      "datapackage-digest.json",
    ]);
    const sha256 = (name: string) => `sha256:${createHash("sha256").update(entries.get(name)!).digest("hex")}`;
    const { resources, wacz_version, profile } = JSON.parse(entries.get("datapackage.json")!.toString());
    expect([wacz_version, profile]).toEqual(["1.1.1", "data-package"]);
    const wanted = [...entries.keys()].slice(0, 3).map((path) => ({
      name: path.replace(/^.*\//, ""),
      path,
      hash: sha256(path),
      bytes: entries.get(path)!.length,
    }));
    expect(resources).toEqual(wanted);
    expect(JSON.parse(entries.get("datapackage-digest.json")!.toString())).toEqual({
      path: "datapackage.json",
      hash: sha256("datapackage.json"),
    });
    const pages = entries
      .get("pages/pages.jsonl")!
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(pages[0]).toMatchObject({ format: "json-pages-1.0" });
    expect(pages.slice(1).map(({ url, ts, title }) => [url, ts, title])).toEqual([
      [`${A}page`, day(1), "One & only"],
      [`${A}page`, day(3), "Two"],
      [`${A}page`, day(4), undefined],
    ]);
    expect(report.pages).toBe(3);
    expect(entries.get("indexes/index.cdxj")!.toString().trimEnd().split("\n")).toHaveLength(7);
  });

  it("may hold several files", async () => {
    using made = await filled();
    await made.export("x.wacz", { sizeBytes: 1500 });
    const names = [...unzip(made.read("x.wacz")).keys()].filter((name) => name.startsWith("archive/"));
    expect(names.length).toBeGreaterThan(2);
    expect(names).toEqual(names.map((_, i) => `archive/data-0000${i + 1}.warc.gz`));
  });
});

describe("nothing is left", () => {
  it("of a dry run, which counts as the export would", async () => {
    using made = await filled();
    const dry = await made.export("x.warc.gz", { dryRun: true });
    expect(made.outputs()).toEqual([]);
    expect({ ...(await made.export("x.warc.gz")), files: [] }).toEqual({ ...dry, files: [] });
    expect(made.read("x.warc.gz").length).toBe(dry.bytes);
  });

  it("where nothing was selected, or a target is there", async () => {
    using made = await filled();
    const nowhere = made.export("x.warc.gz", { selection: host("c.example") });
    await expect(nowhere).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
    expect(made.outputs()).toEqual([]);
    await made.export("x.warc.gz");
    const before = made.read("x.warc.gz");
    await expect(made.export("x.warc.gz")).rejects.toMatchObject({ code: "HT_EXISTS" });
    expect(made.read("x.warc.gz").equals(before)).toBe(true);
    await made.export("x.warc.gz", { replace: true, selection: host("b.example") });
    expect(made.read("x.warc.gz").equals(before)).toBe(false);
    expect(made.outputs()).toEqual(["x.warc.gz"]);
  });

  it("of one that was aborted", async () => {
    using made = await filled();
    const many = Array.from({ length: 200 }, (_, i) =>
      captureBytes({ uri: `${A}${i}`, date: day(1), payload: noise(`${i}`, 100) }),
    );
    await made.add([{ name: "many.warc.gz", bytes: packRecords(many) }]);
    for (const stage of ["writing", "checking"] as const) {
      const controller = new AbortController();
      const onProgress = (progress: { readonly stage: string }) => {
        if (progress.stage === stage) controller.abort();
      };
      const stopped = made.export("x.wacz", { signal: controller.signal, onProgress });
      await expect(stopped).rejects.toMatchObject({ code: "HT_INTERRUPTED" });
      expect(made.outputs()).toEqual([]);
    }
  });

  it.each(["x.warc.gz", "x.wacz"])("of one that failed at any write: %s", async (name) => {
    using made = await filled();
    let failures = 0;
    for (let stopAt = 1; ; stopAt++) {
      const disk = fullFrom(stopAt, join(made.folder, "out"));
      const options = { selection: {}, description: "all", software: "test", output: join(made.folder, "out", name) };
      try {
        await exportArchive(disk, made.archive, {
          ...options,
          format: name === "x.wacz" ? "wacz" : "warc",
        });
        break;
      } catch (error) {
        expect((error as ArchiveError).code).toBe("HT_NO_SPACE");
        expect(readdirSync(join(made.folder, "out"))).toEqual([]);
        failures++;
      }
    }
    expect(failures).toBeGreaterThan(0);
    expect(readdirSync(join(made.folder, "out"))).toEqual([name]);
  });

  it("of one whose records are not what the archive says", async () => {
    using made = await filled();
    const segments = join(made.archive, "volumes", "0", "segments");
    const [segment] = readdirSync(segments);
    const bytes = readFileSync(join(segments, segment!));
    const damaged = readRecords({ name: segment!, bytes }).find(
      ({ uri, type }) => uri === `${A}logo` && type === "response",
    )!;
    const offset = damaged.offset + (damaged.raw!.length >> 1);
    {
      using file = nodeDisk.open(join(segments, segment!), "update");
      file.write(Buffer.of(bytes[offset]! ^ 1), offset);
    }
    const warnings: Warning[] = [];
    const report = await made.export("x.warc.gz", { onWarning: (warning) => warnings.push(warning) });
    // The second one is a revisit of the damaged one.
    expect(report).toMatchObject({ captures: 5, left: 2, record: 3, revisit: 1, orphan: 1 });
    const told = warnings.filter(({ message }) => message.endsWith("skipped"));
    expect(told.map(({ offset }) => offset)).toEqual([damaged.offset, expect.any(Number)]);
    const exported = made.records("x.warc.gz").filter(isCapture);
    expect(exported.map(({ uri }) => uri)).not.toContain(`${A}logo`);
    const given = new Map(readRecords(FILE).map((record) => [record.id, record]));
    for (const { id, payload, type } of exported) {
      if (type === "response") expect(payload.equals(given.get(id)!.payload)).toBe(true);
    }
  });
});

/** A disk that is full from the so-manieth write to a folder on. */
function fullFrom(stopAt: number, folder: string): Disk {
  let writes = 0;
  return {
    ...nodeDisk,
    open(path, mode, permissions) {
      const file = nodeDisk.open(path, mode, permissions);
      if (!path.startsWith(folder)) return file;
      const write: DiskFile["write"] = (bytes, position) => {
        if (++writes >= stopAt) throw new ArchiveError("HT_NO_SPACE", "full", { file: path });
        file.write(bytes, position);
      };
      return {
        path,
        size: () => file.size(),
        read: (into, position) => file.read(into, position),
        readLater: (into, position) => file.readLater(into, position),
        write,
        truncate: (size) => file.truncate(size),
        sync: () => file.sync(),
        syncLater: () => file.syncLater(),
        close: () => file.close(),
        [Symbol.dispose]: () => file.close(),
      };
    },
  };
}
