import { expect, it } from "vitest";
import { digestOf, formatDigest } from "../../src/base/index.ts";
import { makeInput, openReader, openWriter, rebuild } from "../../src/testing/archive-fixture.ts";
import { captureBytes, noise, revisitBytes } from "../../src/testing/capture-text.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import type { Archive } from "../../src/archive/index.ts";
async function hist(archive: Archive) { const r: string[] = []; for await (const b of archive.history("http://a.example/")) for (const l of b) r.push(`${new Date(l.birth).toISOString()} ${l.status} ${l.url} ${l.mime} ${l.sha256.slice(0,4)}`); return r; }
const H = "http://a.example/", S = "https://a.example/";
const day = (n: number) => `2020-01-0${n}T00:00:00Z`;
const EMPTY = formatDigest(digestOf("sha1", Buffer.alloc(0)));
const P = noise("A", 500).subarray(0, 200);
const NM = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nLast-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n\r\n";
const r1 = revisitBytes({ uri: H, date: day(1), digest: EMPTY, http: head, id: null });
const r2 = revisitBytes({ uri: H, date: day(4), digest: EMPTY, http: "", id: "r2" });
const resp = captureBytes({ uri: H, date: day(1), payload: P, status: "404 No", id: "resp" });
const r3 = revisitBytes({ uri: H, date: day(2), digest: EMPTY, http: "HTTP/1.1 301 Moved\r\nContent-Type: text/plain\r\nLocation: http://c.example/\r\n\r\n", id: "r3" });
const r4 = revisitBytes({ uri: S, date: day(3), profile: NM, digest: EMPTY, http: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", id: "r4" });
it.each([
  ["a", [[r1], [r2, resp], [r3, r4]]],
  ["b", [[r1], [r2], [r3, r4]]],
  ["c", [[r1, r2, resp], [r3, r4]]],
  ["d", [[r1], [resp], [r3, r4], [r2]]],
] as [string, Buffer[][]][])("%s", async (_, files) => {
  for (const commitChangeCount of [1, 10, 100000]) {
  const disk = new ForgetfulDisk();
  for (const records of files) {
    await using writer = openWriter(disk, { commitChangeCount });
    await writer.add([makeInput(disk, records)]);
  }
  let before: string[];
  { await using a = await openReader(disk); before = await hist(a); }
  await rebuild(disk);
  await using a = await openReader(disk);
  expect(before, `${commitChangeCount}`).toEqual(await hist(a));
  }
});
