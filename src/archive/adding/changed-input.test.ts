/** Inputs that give other bytes when they are read again: what is not as it was examined is left out, and named. */
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import type { Warning } from "../../base/index.ts";
import type { Disk, DiskFile } from "../../disk/index.ts";
import type { Input } from "../../pipeline/index.ts";
import { diagnose, openReader, openWriter, rebuild } from "../../testing/archive-fixture.ts";
import { capturesOf } from "../../testing/asked-archive.ts";
import { captureBytes, idOf, noise, packRecords, requestBytes } from "../../testing/capture-text.ts";
import { putFile } from "../../testing/dedup-trial.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

const PAGE = "http://page.example/";
const OTHER = "http://other.example/";
const DATE = "2020-01-05T00:00:00Z";
const other = captureBytes({ uri: OTHER, date: DATE, payload: noise("other", 300) });
const page = captureBytes({ uri: PAGE, date: DATE, payload: noise("page", 3000) });
const large = captureBytes({ uri: PAGE, date: DATE, payload: noise("large", 3_000_000) });
const request = requestBytes({ uri: PAGE, date: DATE, concurrentTo: [idOf("nobody")], body: "secret=1" });

/** A disk that reads a byte of a file right for the first time, and with one bit flipped ever after. */
function fickle(disk: ForgetfulDisk, path: string, position: number): Disk {
  let isRead = false;
  const open = (name: string, ...rest: [never]): DiskFile => {
    const file = disk.open(name, ...rest);
    if (name !== path) return file;
    const read = (into: Uint8Array, from: number): number => {
      const count = file.read(into, from);
      if (from > position || from + count <= position) return count;
      if (isRead) into[position - from]! ^= 1;
      isRead = true;
      return count;
    };
    return new Proxy(file, {
      get: (target, key) => {
        if (key === "read") return read;
        const value: unknown = Reflect.get(target, key);
        return typeof value === "function" ? (value as () => unknown).bind(target) : value;
      },
    });
  };
  return new Proxy<Disk>(disk, {
    get: (target, key) => {
      if (key === "open") return open;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
}

/** One after the other in one gzip member, uncompressed: a flipped bit changes one byte, and nothing else. */
function share(records: readonly Buffer[]): Buffer {
  return gzipSync(Buffer.concat(records), { level: 0 });
}

it.each([
  ["the payload of a capture", page, page.length - 1000],
  ["the HTTP header of a capture", page, page.indexOf("200 OK") + 4],
  ["the WARC header of a capture", page, page.indexOf("WARC-Payload-Digest") + 30],
  ["the body of a request", request, request.length - 6],
  ["the WARC header of a request", request, request.indexOf("WARC-Concurrent-To") + 35],
] as const)("%s, in a member with others", async (_, record, position) => {
  const disk = new ForgetfulDisk();
  const path = "/a.warc.gz";
  const [first, second] = [share([other]), share([other, record])];
  const bytes = Buffer.concat([first, second]);
  const at = first.length + second.indexOf(record.subarray(0, 500)) + position;
  putFile(disk, path, bytes);
  const input: Input = { name: path, path, entries: [], size: bytes.length };
  const warnings: Warning[] = [];
  {
    const onWarning = (warning: Warning) => void warnings.push(warning);
    await using writer = openWriter(fickle(disk, path, at), { onWarning });
    expect(await writer.add([input])).toMatchObject({ records: 3, damaged: 1, captures: 1 });
  }
  const isOfRecord = ({ code }: Warning) => code !== "HT_MEMBER_SHARED";
  const message: unknown = expect.stringContaining("left out");
  expect(warnings.filter(isOfRecord)).toMatchObject([{ file: path, offset: first.length, message }]);
  expect(await diagnose(disk)).toEqual([]);
  {
    await using writer = openWriter(disk);
    expect(await writer.add([input])).toMatchObject({ damaged: 0, captures: record === request ? 0 : 1 });
  }
});

it.each([
  ["a small capture in a gzip member", "gzip", page, 1000],
  ["the header of a capture in a plain file", "none", page, 60],
  ["the payload of a capture in a plain file", "none", page, 1000],
  ["a large capture in a gzip member", "gzip", large, 1_400_000],
  ["the end of a large capture in a gzip member", "gzip", large, 2_990_000],
  ["a large capture in a plain file", "none", large, 1_400_000],
  ["the header of a large capture in a plain file", "none", large, 60],
  ["a request in a gzip member", "gzip", request, 200],
  ["the body of a request in a plain file", "none", request, request.length - 6],
] as const)("%s", async (_, compression, record, position) => {
  const disk = new ForgetfulDisk();
  const path = compression === "gzip" ? "/a.warc.gz" : "/a.warc";
  const first = packRecords([other], compression);
  const bytes = Buffer.concat([first, packRecords([record, other], compression)]);
  putFile(disk, path, bytes);
  const input: Input = { name: path, path, entries: [], size: bytes.length };
  const warnings: Warning[] = [];
  {
    const onWarning = (warning: Warning) => void warnings.push(warning);
    await using writer = openWriter(fickle(disk, path, first.length + position), { onWarning });
    expect(await writer.add([input])).toMatchObject({ records: 3, damaged: 1, captures: 1 });
  }
  expect(warnings).toMatchObject([{ code: "HT_CHANGED", file: path, offset: first.length }]);
  const check = async () => {
    await using archive = await openReader(disk);
    expect(await capturesOf(archive, PAGE)).toEqual([]);
    expect(await capturesOf(archive, OTHER)).toHaveLength(1);
    expect(await diagnose(disk)).toEqual([]);
  };
  await check();
  await rebuild(disk);
  await check();
  // The disk is well again.
  {
    await using writer = openWriter(disk);
    expect(await writer.add([input])).toMatchObject({ damaged: 0, captures: record === request ? 0 : 1 });
  }
});
