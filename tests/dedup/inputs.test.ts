/** Files that are odd, doubled, damaged, of other kinds, or change under the job's hands. */
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ArchiveError } from "../../src/base/index.ts";
import { type Disk, nodeDisk } from "../../src/disk/index.ts";
import { dedup } from "../../src/pipeline/index.ts";
import { noise, packRecords } from "../../src/testing/capture-text.ts";
import { type ArchiveFile, dedupTrial, getFile, listFiles, putFile } from "../../src/testing/dedup-trial.ts";
import { checkDeduplicated, readRecords } from "../../src/testing/deduplicated.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { compressedFrame, dictionaryFrame, loadFrames } from "../../src/testing/zstd-frame.ts";
import { loadZstd } from "../../src/warc/index.ts";
import { arcFile, zipFile } from "../cli/archives.ts";
import { capture, deduplicate, gzipFile, OTHER, PAYLOAD } from "./fates.ts";

await Promise.all([loadFrames(), loadZstd()]);

const folder = mkdtempSync(join(tmpdir(), "holotype-dedup-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A folder with these files on the real disk. */
function realFolder(name: string, files: readonly ArchiveFile[]): string {
  const path = join(folder, name);
  nodeDisk.makeFolder(path);
  for (const file of files) writeFileSync(join(path, file.name), file.bytes);
  return path;
}

function diskWith(files: readonly ArchiveFile[], root = "/in"): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  for (const { name, bytes } of files) putFile(disk, `${root}/${name}`, bytes);
  return disk;
}

const pair = [gzipFile("a.warc.gz", capture("a", 1)), gzipFile("b.warc.gz", capture("b", 2))];

describe("names", () => {
  test("two inputs of the same name in different folders are kept apart", async () => {
    const files = [
      gzipFile("one/x.warc.gz", capture("a", 1)),
      gzipFile("two/x.warc.gz", capture("b", 2)),
      gzipFile("two/deep/x.warc.gz", capture("c", 3)),
    ];
    const { fates, output } = await deduplicate(files);
    expect(fates).toEqual({ "b 2": "a 1", "c 3": "a 1" });
    expect(output.map(({ name }) => name).sort()).toEqual(files.map(({ name }) => name).sort());
  });

  test("the same file named twice is read once", async () => {
    const trial = await dedupTrial(pair, {}, ["/in/a.warc.gz", "/in", "/in/b.warc.gz", "/in/../in/a.warc.gz"]);
    expect(trial.result).toMatchObject({ files: 2, records: 2, replaced: 1 });
    checkDeduplicated(pair, trial.output);
    // Under another name of its own it would be a duplicate of itself: it is told and left out.
    expect(trial.skipped.map(({ name, error }) => [name, error.code])).toEqual([["/in/../in/a.warc.gz", "HT_EXISTS"]]);
    expect(trial.result.skipped).toHaveLength(1);
  });

  test.each([
    ["symbolic link", symlinkSync],
    ["hard link", linkSync],
  ])("the same file by %s is read once, and named", async (kind, link) => {
    const path = realFolder(kind, pair);
    link(join(path, "a.warc.gz"), join(path, "z.warc.gz"));
    const skipped: string[] = [];
    const output = join(folder, `${kind} output`);
    const onSkip = ({ error }: { error: ArchiveError }) => void skipped.push(error.message);
    const result = await dedup(nodeDisk, [path], { output, threads: 1, onSkip });
    expect(result).toMatchObject({ files: 2, records: 2, replaced: 1 });
    expect(skipped).toEqual([`${path}/z.warc.gz: the same file as ${path}/a.warc.gz`]);
    checkDeduplicated(pair, listFiles(nodeDisk, output).filter(isArchive));
  });

  test.each([
    ["a\tb.warc.gz", "a%09b.warc.gz"],
    ["a\nb.warc.gz", "a%0Ab.warc.gz"],
  ])("%j and %j, which a manifest writes alike, are refused", async (...names) => {
    const files = names.map((name) => gzipFile(name, capture("a", 1), capture("b", 2)));
    await expect(dedupTrial(files)).rejects.toMatchObject({ code: "HT_USAGE" });
    // Alone, the records of one are not looked for in the other.
    const { fates, skipped } = await deduplicate([files[1]!]);
    expect([fates, skipped]).toEqual([{ "b 2": "a 1" }, []]);
  });

  test("a file with a tab and a line end in its name is deduplicated as any other", async () => {
    const files = [gzipFile("a\t\n.warc.gz", capture("a", 1), capture("b", 2)), gzipFile("b.warc.gz", capture("c", 3))];
    const { fates, warnings } = await deduplicate(files);
    expect(warnings).toEqual([]);
    expect(fates).toEqual({ "b 2": "a 1", "c 3": "a 1" });
  });

  test("a folder with an exclamation mark in its name is no ZIP file", async () => {
    const files = [
      gzipFile("we!rd/a.warc.gz", capture("a", 1), capture("b", 2)),
      gzipFile("b.warc.gz", capture("c", 3)),
    ];
    const { fates, warnings } = await deduplicate(files);
    expect(warnings).toEqual([]);
    expect(fates).toEqual({ "b 2": "a 1", "c 3": "a 1" });
  });

  test("-o inside the inputs: what it wrote is no input of the next run", async () => {
    const disk = diskWith(pair);
    const options = { output: "/in/out", threads: 1 } as const;
    const first = await dedup(disk, ["/in"], options);
    expect(first).toMatchObject({ files: 2, replaced: 1, resumed: false });
    expect(await dedup(disk, ["/in"], options)).toEqual({ ...first, resumed: true });
    const output = listFiles(disk, "/in/out").filter(isArchive);
    checkDeduplicated(pair, output);
  });

  test("-o inside the inputs: goes on after a stop", async () => {
    const options = { output: "/in/out", threads: 1 } as const;
    const undisturbed = diskWith(pair);
    await dedup(undisturbed, ["/in"], options);
    // The file with the most to do comes first.
    const [first, second] = undisturbed.operations.log.flatMap((line, i) =>
      /^rename \/in\/out\/.\.warc\.gz/.test(line) ? [{ path: line.slice("rename ".length), at: i }] : [],
    );
    const stopAt = second!.at;
    const before = diskWith(pair).operations.log.length;
    const stopping = diskWith(pair).reopen({ data: "keep", names: "keep", seed: 0 }, { stopAt: stopAt - before });
    await expect(dedup(stopping, ["/in"], options)).rejects.toThrow();
    const again = stopping.reopen({ data: "keep", names: "keep", seed: 0 });
    expect(again.stat(first!.path)).toBeDefined();
    expect(await dedup(again, ["/in"], options)).toMatchObject({ files: 2, replaced: 1, resumed: true });
    checkDeduplicated(pair, listFiles(again, "/in/out").filter(isArchive));
  });

  test.each([
    ["archives that lie in the output folder already", ["/in"], "/in"],
    ["a file of the output folder by name", ["/in/a.warc.gz", "/in/b.warc.gz"], "/in"],
    ["an output folder as input", ["/in/", "/elsewhere"], "/in"],
  ])("-o inside the inputs: refuses %s", async (_, names, output) => {
    const disk = diskWith(pair);
    putFile(disk, "/elsewhere/c.warc.gz", packRecords([capture("c", 3)]));
    await expect(dedup(disk, names, { output, threads: 1 })).rejects.toMatchObject({ code: "HT_USAGE" });
    expect(disk.stat("/in/holotype-job")).toBeUndefined();
  });

  test("a job that is begun anew under the same name has its own files", async () => {
    const disk = diskWith(pair);
    const options = { output: "/out", threads: 1 } as const;
    expect(await dedup(disk, ["/in"], options)).toMatchObject({ files: 2, replaced: 1 });
    for (const { name } of listFiles(disk, "/out")) disk.remove(`/out/${name}`);
    putFile(disk, "/in/c.warc.gz", packRecords([capture("c", 3)]));
    expect(await dedup(disk, ["/in"], options)).toMatchObject({ files: 3, replaced: 2, resumed: false });
  });

  test("another job in the same folder is refused", async () => {
    const disk = diskWith(pair);
    const options = { output: "/out", threads: 1 } as const;
    await dedup(disk, ["/in"], options);
    const other = dedup(disk, ["/in"], { ...options, digest: "sha1" });
    await expect(other).rejects.toMatchObject({
      code: "HT_EXISTS",
      message: expect.stringContaining("another digest"),
    });
    putFile(disk, "/in/c.warc.gz", packRecords([capture("c", 3)]));
    const wider = dedup(disk, ["/in"], options);
    await expect(wider).rejects.toMatchObject({ code: "HT_EXISTS", message: expect.stringContaining("other files") });
  });
});

function isArchive({ name }: ArchiveFile): boolean {
  return !name.includes("holotype-job/");
}

describe("kinds", () => {
  test("all compressions mixed, each as it was", async () => {
    const files = [
      { name: "a.warc", bytes: packRecords([capture("a", 1), capture("b", 2)], "none") },
      { name: "b.warc.gz", bytes: packRecords([capture("c", 3), capture("d", 4, { payload: OTHER })]) },
      { name: "c.warc.zst", bytes: packRecords([capture("e", 5), capture("f", 6, { payload: OTHER })], "zstd") },
    ];
    const { fates, output } = await deduplicate(files);
    expect(fates).toEqual({ "b 2": "a 1", "c 3": "a 1", "e 5": "a 1", "f 6": "d 4" });
    const magic = output.map(({ bytes }) => bytes.toString("hex", 0, 2));
    expect(magic).toEqual([Buffer.from("WA").toString("hex"), "1f8b", "28b5"]);
  });

  test("a zstd file with a dictionary", async () => {
    const dictionary = Buffer.from("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/".repeat(3));
    const frames = [capture("a", 1), capture("b", 2), capture("c", 3, { payload: OTHER })].map((record) =>
      compressedFrame(record, dictionary),
    );
    const file = { name: "a.warc.zst", bytes: Buffer.concat([dictionaryFrame(dictionary), ...frames]) };
    const { fates, warnings } = await deduplicate([file, gzipFile("b.warc.gz", capture("d", 4, { payload: OTHER }))]);
    expect(fates).toEqual({ "b 2": "a 1", "d 4": "c 3" });
    expect(warnings).toEqual([]);
  });

  test("more files than are kept open", async () => {
    const files = Array.from({ length: 70 }, (_, i) => gzipFile(`${i}.warc.gz`, capture(`x${i}`, (i % 9) + 1)));
    const { result } = await deduplicate(files);
    expect(result).toMatchObject({ files: 70, replaced: 69 });
  });

  test("originals are compared that lie deflated in a ZIP file, whatever their order there", async () => {
    const payloads = Array.from({ length: 6 }, (_, i) => noise(`content ${i}`, 3000));
    const captures = (site: string, day: number) =>
      payloads.map((payload, i) => capture(`${site}${i}`, day + i, { payload }));
    const zip = zipFile({ "archive/data.warc.gz": packRecords(captures("w", 1)) }, "deflated");
    const files = [{ name: "y.wacz", bytes: zip }, gzipFile("z.warc.gz", ...captures("a", 10))];
    const { result, warnings, plan } = await dedupTrial(files);
    expect(warnings).toEqual([]);
    expect(result).toMatchObject({ duplicates: 6, replaced: 6 });
    expect(plan.filter(({ flags }) => flags.includes("damaged"))).toEqual([]);
  });

  test("ARC and WACZ are copied as they are, and hold originals", async () => {
    const http = Buffer.concat([Buffer.from("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n"), PAYLOAD]);
    const arc = arcFile(1, "x.arc.gz", [
      { url: "http://a.example/arc", mime: "text/plain", block: http, date: "20190101000000" },
      { url: "http://a.example/arc2", mime: "text/plain", block: http, date: "20190102000000" },
    ]);
    const inside = packRecords([capture("w", 1, { payload: OTHER }), capture("v", 2, { payload: OTHER })]);
    const wacz = zipFile({ "archive/data.warc.gz": inside, "datapackage.json": Buffer.from("{}") });
    const files = [
      { name: "x.arc.gz", bytes: arc },
      { name: "y.wacz", bytes: wacz },
      gzipFile("z.warc.gz", capture("a", 3), capture("b", 4, { payload: OTHER })),
    ];
    const trial = await dedupTrial(files);
    expect(trial.result).toMatchObject({ files: 3, filesChanged: 1, replaced: 2, skipped: [] });
    const output = new Map(trial.output.map(({ name, bytes }) => [name, bytes]));
    expect(output.get("x.arc.gz")!.equals(arc)).toBe(true);
    expect(output.get("y.wacz")!.equals(wacz)).toBe(true);
    // What is in a WACZ is found by whoever reads that; here its archive stands for it.
    const known = [files[0]!, { name: "data.warc.gz", bytes: inside }];
    const rest = { name: "z.warc.gz", bytes: output.get("z.warc.gz")! };
    const { replaced } = checkDeduplicated([files[2]!], [rest], { known });
    const originals = replaced.map(({ refersTo }) => [refersTo?.uri, refersTo?.date, refersTo?.id === undefined]);
    expect(originals).toEqual([
      ["http://a.example/arc", "2019-01-01T00:00:00Z", true],
      ["http://a.example/w", "2020-01-01T00:00:00Z", false],
    ]);
  });

  test("records that share a member are left as they are", async () => {
    const { gzipSync } = await import("node:zlib");
    const shared = { name: "a.warc.gz", bytes: gzipSync(Buffer.concat([capture("a", 1), capture("b", 2)])) };
    const { fates, kept } = await deduplicate([shared, gzipFile("b.warc.gz", capture("c", 3), capture("d", 4))]);
    expect(fates).toEqual({ "d 4": "c 3" });
    expect(kept).toEqual({ "a 1": "shared", "b 2": "shared" });
  });

  test("standard input cannot be deduplicated, nor a file that is not there", async () => {
    await expect(dedupTrial(pair, {}, ["-"])).rejects.toMatchObject({ code: "HT_USAGE" });
    await expect(dedupTrial(pair, {}, ["/in/no.warc.gz"])).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
  });
});

describe("damage", () => {
  const sound = [capture("a", 1), capture("b", 2), capture("c", 3)];

  test("damaged records are copied verbatim and told", async () => {
    const { bytes } = gzipFile("", ...sound);
    const hurt = Buffer.from(bytes);
    const [, second] = readRecords({ name: "", bytes });
    hurt[second!.offset + 1500]! ^= 0xff;
    const trial = await dedupTrial([{ name: "a.warc.gz", bytes: hurt }]);
    expect(trial.result).toMatchObject({ replaced: 1, skipped: [] });
    expect(trial.result.damage).toBeGreaterThan(0);
    expect(trial.warnings.map(({ code, offset }) => [code, offset])).toContainEqual([
      "HT_GZIP_CHECKSUM",
      second!.offset,
    ]);
    const copy = trial.output[0]!.bytes.subarray(0, second!.offset + second!.raw!.length);
    expect(copy.equals(hurt.subarray(0, copy.length))).toBe(true);
  });

  test("an input that cannot be read takes no part, and is named once", async () => {
    const nonsense = { name: "n.warc.gz", bytes: Buffer.from("this is no archive at all") };
    const trial = await dedupTrial([nonsense, gzipFile("a.warc.gz", ...sound)]);
    expect(trial.result.replaced).toBe(2);
    expect(trial.skipped.map(({ name, error }) => [name, error.code])).toEqual([
      ["/in/n.warc.gz", "HT_FORMAT_UNKNOWN"],
    ]);
    expect(trial.result.skipped).toHaveLength(1);
    const copied = trial.output.find(({ name }) => name === "n.warc.gz");
    expect(copied?.bytes.equals(nonsense.bytes)).toBe(true);
  });

  test("an input that the disk does not give is left out and named", async () => {
    const disk = diskWith(pair);
    putFile(disk, "/in/bad.warc.gz", packRecords(sound));
    const open: Disk["open"] = (path, mode, permissions) => {
      if (path === "/in/bad.warc.gz") throw new ArchiveError("HT_IO", `${path}: input/output error`, { file: path });
      return ForgetfulDisk.prototype.open.call(disk, path, mode, permissions);
    };
    disk.open = open;
    const result = await dedup(disk, ["/in"], { output: "/out", threads: 1 });
    expect(result.skipped.map(({ name, error }) => [name, error.code])).toEqual([["/in/bad.warc.gz", "HT_IO"]]);
    expect(disk.stat("/out/bad.warc.gz")).toBeUndefined();
    checkDeduplicated(pair, listFiles(disk, "/out").filter(isArchive));
  });

  test("what was skipped and damaged is told again by the run that goes on, and by one that finds all done", async () => {
    const { bytes } = gzipFile("", ...sound);
    bytes[bytes.length - 900]! ^= 0xff;
    const files = [
      { name: "a.warc.gz", bytes },
      { name: "n.warc.gz", bytes: Buffer.from("this is no archive at all") },
    ];
    const options = { output: "/out", threads: 1 } as const;
    const undisturbed = diskWith(files);
    const wanted = await dedup(undisturbed, ["/in"], options);
    expect(wanted.damage).toBeGreaterThan(0);
    const names = (skipped: typeof wanted.skipped) => skipped.map(({ name, error }) => [name, error.code]);
    expect(names(wanted.skipped)).toEqual([["/in/n.warc.gz", "HT_FORMAT_UNKNOWN"]]);
    const { log } = undisturbed.operations;
    const before = diskWith(files).operations.log.length;
    for (const stage of ["sorted.tsv", "resolved/000001.tsv", "plan.tsv", "copies.tsv", "report.json"]) {
      const stopAt = log.findIndex((line) => line === `rename /out/holotype-job/${stage}`) + 2 - before;
      const stopping = diskWith(files).reopen({ data: "keep", names: "keep", seed: 0 }, { stopAt });
      await expect(dedup(stopping, ["/in"], options)).rejects.toThrow();
      const result = await dedup(stopping.reopen({ data: "keep", names: "keep", seed: 0 }), ["/in"], options);
      expect({ ...result, skipped: names(result.skipped) }, stage).toEqual({
        ...wanted,
        resumed: true,
        skipped: names(wanted.skipped),
      });
    }
  });
});

describe("an input that changes while the job runs", () => {
  const wacz = zipFile({
    "archive/data.warc.gz": packRecords([capture("w", 1)]),
    "datapackage.json": Buffer.from("{}"),
  });

  test.each([
    ["the file of a copy", "b.warc.gz", gzipFile("a.warc.gz", capture("a", 1))],
    ["the file of the original", "a.warc.gz", gzipFile("a.warc.gz", capture("a", 1))],
    ["the WACZ of the original", "a.wacz", { name: "a.wacz", bytes: wacz }],
    ["the WACZ of the original, with a mark in its name", "a!.wacz", { name: "a!.wacz", bytes: wacz }],
  ])("%s: is not rewritten, and nothing refers to it", async (_, changing, original) => {
    const files = [original, gzipFile("b.warc.gz", capture("b", 2), capture("c", 3, { payload: OTHER }))];
    const disk = diskWith(files);
    let done = false;
    const result = await dedup(disk, ["/in"], {
      output: "/out",
      threads: 1,
      onProgress: ({ stage }) => {
        if (stage !== "comparing" || done) return;
        done = true;
        putFile(disk, `/in/${changing}`, Buffer.concat([getFile(disk, `/in/${changing}`), Buffer.from("more")]));
      },
    });
    expect(done).toBe(true);
    expect(result.replaced).toBe(0);
    expect(result.skipped.map(({ name, error }) => [name, error.code])).toEqual([[`/in/${changing}`, "HT_CHANGED"]]);
    const rest = files.filter(({ name }) => name !== changing);
    const written = listFiles(disk, "/out").filter(isArchive);
    expect(written.map(({ name }) => name)).toEqual(rest.map(({ name }) => name));
    for (const [i, { bytes }] of written.entries()) expect(bytes.equals(rest[i]!.bytes)).toBe(true);
  });
});

describe("--in-place", () => {
  test("changes the files with copies and leaves the others alone", async () => {
    const path = realFolder("in place", [...pair, gzipFile("c.warc.gz", capture("c", 3, { payload: OTHER }))]);
    const before = nodeDisk.stat(join(path, "c.warc.gz"))!.identity;
    const result = await dedup(nodeDisk, [path], { threads: 1 });
    expect(result).toMatchObject({ files: 3, filesChanged: 1, replaced: 1, job: `${path}/holotype-job` });
    expect(nodeDisk.stat(join(path, "c.warc.gz"))!.identity).toBe(before);
    const after = ["a.warc.gz", "b.warc.gz"].map((name) => ({ name, bytes: readFileSync(join(path, name)) }));
    checkDeduplicated(pair, after);
    expect(readdirSync(path).sort()).toEqual(["a.warc.gz", "b.warc.gz", "c.warc.gz", "holotype-job"]);
    expect(await dedup(nodeDisk, [path], { threads: 1 })).toMatchObject({ replaced: 1, resumed: true });
  });

  test("a dry run says the same and touches nothing", async () => {
    const path = realFolder("dry", pair);
    const dry = await dedup(nodeDisk, [path], { threads: 1, dryRun: true });
    expect(dry.report).toBeUndefined();
    expect(readdirSync(path)).toEqual(["a.warc.gz", "b.warc.gz"]);
    const { replaced, bytesAfter, left } = await dedup(nodeDisk, [path], { threads: 1 });
    expect(dry).toMatchObject({ replaced, bytesAfter, left });
  });
});
