/** Restoring where something is not as it should be, or not where it was. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest, type Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { gzipMember } from "../../testing/gzip-member.ts";
import { type DedupOptions, dedup } from "../dedup.ts";
import { type RestoreOptions, restore } from "./restore.ts";

/** Bytes that do not shrink. */
function noise(seed: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0, state = seed + 1; i < size; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    bytes[i] = state >>> 16;
  }
  return bytes;
}

interface Capture {
  readonly uri: string;
  readonly day: number;
  readonly payload: Buffer;
  readonly lines?: readonly string[];
}

function response({ uri, day, payload, lines = [] }: Capture): Buffer {
  const block = Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nX-Day: ${day}\r\n\r\n`), payload]);
  const head = [
    "WARC/1.1",
    "WARC-Type: response",
    `WARC-Record-ID: <urn:uuid:${day}-${uri.length}>`,
    `WARC-Date: 2020-01-${String(day).padStart(2, "0")}T00:00:00Z`,
    `WARC-Target-URI: ${uri}`,
    "Content-Type: application/http; msgtype=response",
    `WARC-Block-Digest: ${formatDigest(digestOf("sha1", block))}`,
    ...lines,
    `Content-Length: ${block.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), block, Buffer.from("\r\n\r\n")]);
}

function gzipped(...records: readonly Buffer[]): Buffer {
  return Buffer.concat(records.map((bytes) => gzipMember(bytes)));
}

function write(disk: Disk, path: string, bytes: Uint8Array): void {
  disk.makeFolder(path.slice(0, path.lastIndexOf("/")));
  using file = disk.open(path, "replace");
  file.write(bytes, 0);
}

function read(disk: Disk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

/** Everything in a folder but what is hidden. */
function names(disk: Disk, folder: string): string[] {
  return disk.stat(folder) === undefined ? [] : disk.list(folder).map(({ name }) => name);
}

let runs = 0;

/** A disk with these files, deduplicated. Every run has paths of its own. */
async function deduplicated(files: Readonly<Record<string, Buffer>>, options: Partial<DedupOptions> = {}) {
  const disk = new ForgetfulDisk();
  const root = `/test-${++runs}`;
  for (const [name, bytes] of Object.entries(files)) write(disk, `${root}/in/${name}`, bytes);
  const done = await dedup(disk, [`${root}/in`], { output: `${root}/out`, threads: 1, ...options });
  expect(done.skipped).toEqual([]);
  const back = (more: Partial<RestoreOptions> = {}, inputs: readonly string[] = [`${root}/out`]) =>
    restore(disk, inputs, { output: `${root}/back`, ...more });
  return { disk, root, done, back };
}

const [ONE, TWO] = [noise(1, 3000), noise(2, 4000)];
const A = gzipped(response({ uri: "http://a.example/", day: 1, payload: ONE }));
const B = gzipped(
  response({ uri: "http://b.example/", day: 2, payload: TWO }),
  response({ uri: "http://a.example/", day: 2, payload: ONE }),
);
const C = gzipped(response({ uri: "http://bb.example/", day: 3, payload: TWO }));
const FILES = { "a.warc.gz": A, "b.warc.gz": B, "c.warc.gz": C };

function reasonsOf({ failed }: { failed: readonly { name: string; error: { code: string; message: string } }[] }) {
  return failed.map(({ name, error }) => `${name.replace(/^.*\//, "")} ${error.code} ${error.message}`);
}

describe("restore", () => {
  it("tells of each file what came of it", async () => {
    const { back, root } = await deduplicated(FILES);
    const { files, restored, failed, skipped } = await back();
    expect({ restored, failed, skipped }).toEqual({ restored: 2, failed: [], skipped: [] });
    expect(files).toEqual(
      ["a", "b", "c"].map((name) => ({
        file: `${root}/out/${name}.warc.gz`,
        output: `${root}/back/${name}.warc.gz`,
        state: "identical",
        restored: name === "a" ? 0 : 1,
        earlier: 0,
        sizeBefore: expect.any(Number) as number,
        size: FILES[`${name}.warc.gz` as keyof typeof FILES].length,
        sha256: digestOf("sha256", FILES[`${name}.warc.gz` as keyof typeof FILES]).hex,
        kept: false,
      })),
    );
  });

  it("gives no name to a file whose original is missing, and goes on with the others", async () => {
    const { disk, root, back } = await deduplicated(FILES);
    disk.remove(`${root}/out/a.warc.gz`);
    const result = await back();
    expect(reasonsOf(result)).toEqual([
      expect.stringMatching(
        /^b\.warc\.gz HT_NOT_FOUND .*its original is not there: http:\/\/a\.example\/ of 2020-01-01T00:00:00Z/,
      ),
    ]);
    expect(names(disk, `${root}/back`)).toEqual(["c.warc.gz"]);
    expect(read(disk, `${root}/back/c.warc.gz`).equals(C)).toBe(true);
  });

  it("finds originals elsewhere: in a file by itself, in ARC, in a member that is shared", async () => {
    const arcHead = "http://a.example/ 192.0.2.1 20200101000000 text/plain ";
    const arcBlock = Buffer.concat([Buffer.from("HTTP/1.0 200 OK\r\n\r\n"), ONE]);
    const arc = Buffer.concat([Buffer.from(`${arcHead}${arcBlock.length}\n`), arcBlock, Buffer.from("\n")]);
    const filedesc = "1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n";
    const wholeArc = Buffer.concat([
      Buffer.from(`filedesc://x.arc 0.0.0.0 20200101000000 text/plain ${filedesc.length}\n${filedesc}\n`),
      arc,
    ]);
    const holder = response({ uri: "http://a.example/", day: 1, payload: ONE });
    const shared = gzipSync(Buffer.concat([response({ uri: "http://z.example/", day: 1, payload: TWO }), holder]));
    for (const [name, bytes] of [
      ["x.warc", holder] as const,
      ["x.arc", wholeArc] as const,
      ["x.warc.gz", shared] as const,
    ]) {
      const { disk, root, back } = await deduplicated(FILES);
      disk.remove(`${root}/out/a.warc.gz`);
      write(disk, `${root}/more/${name}`, bytes);
      const { failed } = await back({ originals: [`${root}/more`] });
      expect({ name, failed }).toEqual({ name, failed: [] });
      expect(read(disk, `${root}/back/b.warc.gz`).equals(B)).toBe(true);
      expect(names(disk, `${root}/back`)).toEqual(["b.warc.gz", "c.warc.gz"]);
    }
  });

  it("takes the one of several captures in a second that has the payload", async () => {
    const { disk, root, back } = await deduplicated(FILES);
    const other = response({ uri: "http://a.example/", day: 1, payload: noise(9, 3000) }).toString("latin1");
    // Found first, and under the same id.
    write(disk, `${root}/more/0.warc`, Buffer.from(other, "latin1"));
    const { failed } = await back({ originals: [`${root}/more`] });
    expect(failed).toEqual([]);
    expect(read(disk, `${root}/back/b.warc.gz`).equals(B)).toBe(true);
  });

  it("refuses a payload that is not the one that was replaced", async () => {
    const { disk, root, back } = await deduplicated(FILES);
    write(
      disk,
      `${root}/out/a.warc.gz`,
      gzipped(response({ uri: "http://a.example/", day: 1, payload: noise(9, 3000) })),
    );
    const result = await back();
    expect(reasonsOf(result)).toEqual([
      expect.stringMatching(
        /^b\.warc\.gz HT_VERIFY .*:\d+: cannot be restored: another payload than the one that was replaced$/,
      ),
    ]);
    expect(names(disk, `${root}/back`)).toEqual(["a.warc.gz", "c.warc.gz"]);
  });
});

describe("restore without a ledger", () => {
  it("proves by the revisits alone, and says no more than that", async () => {
    const { disk, root, back } = await deduplicated({
      ...FILES,
      "d.warc": response({ uri: "http://d.example/", day: 9, payload: ONE }),
    });
    write(disk, `${root}/gone`, read(disk, `${root}/out/b.warc.gz`));
    for (const { name } of disk.list(`${root}/out/holotype-job/ledger`))
      disk.remove(`${root}/out/holotype-job/ledger/${name}`);
    const { files } = await back();
    expect(files.map(({ output, state }) => `${output.replace(/^.*\//, "")} ${state}`)).toEqual([
      "a.warc.gz copied",
      "b.warc.gz equal",
      "c.warc.gz equal",
      "d.warc identical",
    ]);
    // What is still there of a file tells how it was compressed.
    expect(read(disk, `${root}/back/b.warc.gz`).subarray(10).equals(B.subarray(10))).toBe(true);
  });

  it("follows the files where they were moved, with their ledgers", async () => {
    const { disk, root } = await deduplicated(FILES);
    for (const name of Object.keys(FILES)) write(disk, `${root}/moved/${name}`, read(disk, `${root}/out/${name}`));
    const { files } = await restore(disk, [`${root}/moved`], {
      output: `${root}/back`,
      jobs: [`${root}/out/holotype-job`],
    });
    expect(files.map(({ state }) => state)).toEqual(["identical", "identical", "identical"]);
  });

  it("does without a ledger that has lost lines, or has others", async () => {
    for (const spoil of [(lines: string[]) => lines.slice(0, 1), (lines: string[]) => [lines[0]!, "1\t2\t3"]]) {
      const { disk, root, back } = await deduplicated(FILES);
      const path = `${root}/out/holotype-job/ledger/000002.tsv`;
      write(disk, path, Buffer.from(`${spoil(read(disk, path).toString().split("\n")).join("\n")}\n`));
      const warnings: Warning[] = [];
      const { files } = await back({ onWarning: (warning) => void warnings.push(warning) });
      expect(warnings.map(({ code, file }) => `${code} ${file}`)).toEqual([`HT_CORRUPT ${path}`]);
      expect(files.map(({ state, restored, earlier }) => [state, restored, earlier])).toEqual([
        ["identical", 0, 0],
        ["equal", 1, 0],
        ["identical", 1, 0],
      ]);
    }
  });

  it("tells a ledger that it cannot read, and a job folder that is not there", async () => {
    const { disk, root, back } = await deduplicated(FILES);
    write(disk, `${root}/out/holotype-job/ledger/000002.tsv`, Buffer.from("nothing\n"));
    const warnings: Warning[] = [];
    const { files } = await back({ onWarning: (warning) => void warnings.push(warning) });
    expect(warnings.map(({ code, file }) => `${code} ${file}`)).toEqual([
      `HT_CORRUPT ${root}/out/holotype-job/ledger/000002.tsv`,
    ]);
    expect(files.map(({ state }) => state)).toEqual(["identical", "equal", "identical"]);
    await expect(back({ jobs: [`${root}/nowhere`], output: `${root}/other` })).rejects.toMatchObject({
      code: "HT_NOT_FOUND",
    });
    write(disk, `${root}/out/holotype-job/ledger/000002.tsv`, Buffer.from('{"format":"holotype-ledger/9"}\n'));
    await expect(back({ output: `${root}/third` })).rejects.toMatchObject({ code: "HT_FORMAT_TOO_NEW" });
  });
});

describe("restore of files that are not as dedup left them", () => {
  it("does not call a file proven of which other bytes have changed", async () => {
    const { disk, root, back } = await deduplicated(FILES);
    const bytes = read(disk, `${root}/out/b.warc.gz`);
    // The operating system in the header of the first member: no reader minds.
    bytes[9] = 77;
    write(disk, `${root}/out/b.warc.gz`, bytes);
    const { files } = await back();
    expect(files.map(({ state }) => state)).toEqual(["identical", "changed", "identical"]);
  });

  it("misses a revisit that the ledger has and the file has not", async () => {
    const { disk, root, back } = await deduplicated(FILES);
    write(disk, `${root}/out/c.warc.gz`, gzipped(response({ uri: "http://e.example/", day: 9, payload: ONE })));
    const result = await back();
    expect(reasonsOf(result)).toEqual([
      expect.stringMatching(/^c\.warc\.gz HT_VERIFY .*: the revisit that stands for urn:uuid:3-18 is not there$/),
    ]);
    expect(names(disk, `${root}/back`)).toEqual(["a.warc.gz", "b.warc.gz"]);
  });

  it("refuses a revisit of ours that is damaged", async () => {
    for (const ledger of [true, false]) {
      const { disk, root, back } = await deduplicated(FILES);
      const bytes = read(disk, `${root}/out/c.warc.gz`);
      // The checksum of its only member.
      bytes[bytes.length - 6]! ^= 255;
      write(disk, `${root}/out/c.warc.gz`, bytes);
      if (!ledger) disk.remove(`${root}/out/holotype-job/ledger/000003.tsv`);
      const result = await back();
      expect(reasonsOf(result)).toEqual([
        expect.stringMatching(/^c\.warc\.gz HT_VERIFY .*:0: a revisit of ours is damaged$/),
      ]);
    }
  });

  it("refuses revisits of ours that were packed into one member", async () => {
    const { disk, root, back, done } = await deduplicated({
      "a.warc": Buffer.concat([
        response({ uri: "http://a.example/", day: 1, payload: ONE }),
        response({ uri: "http://a.example/", day: 2, payload: ONE }),
      ]),
    });
    expect(done.replaced).toBe(1);
    write(disk, `${root}/packed/x.warc.gz`, gzipSync(read(disk, `${root}/out/a.warc`)));
    const result = await back({}, [`${root}/packed`]);
    expect(reasonsOf(result)).toEqual([expect.stringMatching(/^x\.warc\.gz HT_UNSUPPORTED .*shares its member/)]);
    expect(names(disk, `${root}/back`)).toEqual([]);
  });
});

describe("restore again", () => {
  it("keeps what is there and proves right, and refuses what is not", async () => {
    const { disk, root, back } = await deduplicated(FILES);
    await back();
    disk.remove(`${root}/back/b.warc.gz`);
    const again = await back();
    expect(again.files.map(({ kept, state }) => `${kept} ${state}`)).toEqual([
      "true identical",
      "false identical",
      "true identical",
    ]);
    const bytes = read(disk, `${root}/back/c.warc.gz`);
    bytes[bytes.length - 50]! ^= 1;
    write(disk, `${root}/back/c.warc.gz`, bytes);
    const hurt = await back();
    expect(reasonsOf(hurt)).toEqual([
      expect.stringMatching(/^c\.warc\.gz HT_EXISTS .*there already, and not what .*c\.warc\.gz is restored to/),
    ]);
    expect(read(disk, `${root}/back/c.warc.gz`).equals(bytes)).toBe(true);
  });

  it("undoes one deduplication at a time", async () => {
    const { disk, root } = await deduplicated({ "a.warc.gz": A, "b.warc.gz": B });
    write(disk, `${root}/out/c.warc.gz`, gzipped(response({ uri: "http://a.example/", day: 7, payload: ONE })));
    const c = read(disk, `${root}/out/c.warc.gz`);
    const b = read(disk, `${root}/out/b.warc.gz`);
    await dedup(
      disk,
      ["a", "b", "c"].map((name) => `${root}/out/${name}.warc.gz`),
      { output: `${root}/twice`, threads: 1 },
    );
    const once = await restore(disk, [`${root}/twice`], { output: `${root}/once` });
    expect(once.files.map(({ restored, earlier, state }) => [restored, earlier, state])).toEqual([
      [0, 0, "identical"],
      [0, 1, "identical"],
      [1, 0, "identical"],
    ]);
    expect(read(disk, `${root}/once/b.warc.gz`).equals(b)).toBe(true);
    expect(read(disk, `${root}/once/c.warc.gz`).equals(c)).toBe(true);
    const never = await restore(disk, [`${root}/once`], {
      output: `${root}/never`,
      jobs: [`${root}/out/holotype-job`],
    });
    expect(never.failed).toEqual([]);
    expect(read(disk, `${root}/never/b.warc.gz`).equals(B)).toBe(true);
  });

  it("refuses to write into what it reads, and the other way round", async () => {
    const { root, back } = await deduplicated(FILES);
    await expect(back({ output: `${root}/out/back` })).rejects.toMatchObject({ code: "HT_USAGE" });
    await expect(back({ output: root })).rejects.toMatchObject({ code: "HT_USAGE" });
    await expect(back({ output: `${root}/out` })).rejects.toMatchObject({ code: "HT_USAGE" });
    await expect(back({}, [`${root}/nowhere`])).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
  });
});

describe("restore of what is larger than what is held", () => {
  it("streams it, and finds its compression as well", async () => {
    const payload = Buffer.from(noise(5, (4 << 20) + 1000).toString("hex"));
    const file = (day: number) =>
      gzipped(
        response({ uri: "http://small.example/", day, payload: noise(day, 900) }),
        response({ uri: "http://large.example/", day, payload }),
      );
    const [first, second] = [file(1), file(2)];
    const { disk, root, back, done } = await deduplicated({ "a.warc.gz": first, "b.warc.gz": second });
    expect(done.replaced).toBe(1);
    const { files } = await back();
    expect(files.map(({ state, restored }) => [state, restored])).toEqual([
      ["identical", 0],
      ["identical", 1],
    ]);
    expect(read(disk, `${root}/back/b.warc.gz`).equals(second)).toBe(true);
  });
});
