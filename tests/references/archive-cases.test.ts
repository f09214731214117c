/** What only an archive can say of a revisit or a 304: with requests, removals and 304s that are responses. */
import { expect, test } from "vitest";
import { Archive, ArchiveWriter } from "../../src/archive/index.ts";
import { digestOf } from "../../src/base/index.ts";
import { FOLDER, makeInput, openWriter } from "../../src/testing/archive-fixture.ts";
import { captureBytes, noise, requestBytes, revisitBytes } from "../../src/testing/capture-text.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";

const URI = "http://a.example/";
const [ONE, TWO] = [noise("one", 600), noise("two", 600)];
const day = (number: number) => `2020-01-0${number}T00:00:00Z`;
const held = (number: number, payload: Uint8Array, status = "200 OK") =>
  captureBytes({ uri: URI, date: day(number), payload, id: `urn:${number}`, status });
const profile = "http://netpreserve.org/warc/1.0/revisit/server-not-modified";
const silent = (number: number) =>
  revisitBytes({
    uri: URI,
    date: day(number),
    id: `urn:${number}`,
    profile,
    http: "HTTP/1.1 304 Not Modified\r\n\r\n",
  });
const asked = (number: number, method: string, http: readonly string[] = []) =>
  requestBytes({
    uri: URI,
    date: day(number),
    method,
    id: `urn:request-${number}`,
    concurrentTo: [`urn:${number}`],
    http,
  });
const NAMES = new Map([ONE, TWO].map((payload, i) => [digestOf("sha256", payload).hex, ["ONE", "TWO"][i]!]));

interface Case {
  readonly name: string;
  readonly records: readonly Buffer[];
  /** The day whose captures are removed when all are there. */
  readonly removed?: number;
  /** Class and payload of each capture, in the order of time. */
  readonly captures: string;
}

const CASES: readonly Case[] = [
  {
    name: "a 304 between two contents",
    records: [held(1, ONE), silent(2), held(3, TWO), silent(4)],
    captures: "state ONE, confirmation ONE, state TWO, confirmation TWO",
  },
  {
    name: "a 304 as a response record",
    records: [held(1, ONE), held(2, Buffer.alloc(0), "304 Not Modified"), held(3, TWO)],
    captures: "state ONE, confirmation ONE, state TWO",
  },
  {
    name: "a 304 after a removed state",
    records: [held(1, ONE), held(2, TWO), silent(3)],
    removed: 2,
    captures: "state ONE, confirmation -",
  },
  {
    name: "a request in another file than its answer",
    records: [held(1, ONE), held(2, TWO), asked(2, "POST"), silent(3)],
    captures: "state ONE, other-method TWO, confirmation ONE",
  },
  {
    name: "a request without a condition for a 304",
    records: [held(1, ONE), silent(2), asked(2, "GET")],
    captures: "state ONE, failed ONE",
  },
  {
    name: "a request with a condition for a 304",
    records: [held(1, ONE), silent(2), asked(2, "GET", ['If-None-Match: "x"'])],
    captures: "state ONE, confirmation ONE",
  },
];

async function capturesOf(disk: ForgetfulDisk): Promise<string> {
  await using archive = await Archive.open(disk, FOLDER);
  const found: string[] = [];
  for await (const captures of archive.captures({ url: URI }))
    for (const { class: kind, sha256 } of captures) found.push(`${kind} ${NAMES.get(sha256 ?? "") ?? "-"}`);
  return found.join(", ");
}

const ORDERS = [
  ["each in a file of its own", (records: readonly Buffer[]) => records.map((record) => [record])],
  ["the other way round", (records: readonly Buffer[]) => records.toReversed().map((record) => [record])],
  ["all in one file", (records: readonly Buffer[]) => [records]],
] as const;

test.each(CASES.flatMap((each) => ORDERS.map(([order, files]) => ({ ...each, order, files: files(each.records) }))))(
  "$name, $order",
  async ({ files, removed, captures }) => {
    const disk = new ForgetfulDisk();
    for (const records of files) {
      await using writer = openWriter(disk);
      await writer.add([makeInput(disk, records)]);
    }
    if (removed !== undefined) {
      await using writer = openWriter(disk);
      const timeMs = Date.parse(day(removed));
      await writer.remove({ url: URI, fromMs: timeMs, toMs: timeMs }, { reason: "a test" });
    }
    expect(await capturesOf(disk)).toBe(captures);
    await ArchiveWriter.rebuild(disk, FOLDER);
    expect(await capturesOf(disk)).toBe(captures);
  },
);

test("a request that comes with its answer once more, and not right beside it", async () => {
  const disk = new ForgetfulDisk();
  for (const records of [[held(1, ONE)], [held(1, ONE), held(2, TWO), asked(1, "POST")]]) {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, records)]);
  }
  expect(await capturesOf(disk)).toBe("other-method ONE, state TWO");
  await ArchiveWriter.rebuild(disk, FOLDER);
  expect(await capturesOf(disk)).toBe("other-method ONE, state TWO");
});
