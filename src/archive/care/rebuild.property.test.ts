/**
 * What is made anew answers as what was there: with others' revisits before and behind their originals, several captures of
 * one moment, records without ids and with one id, files that were adopted, removals and compactions in between. Revisits
 * tell the digest of their payload: what others mean depends on the order in which files came (docs/lifespans.md).
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf, formatDigest, formatIso } from "../../base/index.ts";
import { diagnose, makeInput, openReader, openWriter, rebuild } from "../../testing/archive-fixture.ts";
import { captureBytes, idOf, noise, revisitBytes } from "../../testing/capture-text.ts";
import { newSeed } from "../../testing/dice.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

const URLS = ["http://a.example/", "http://b.example/", "http://c.example/"];
const PAYLOADS = ["one", "two", "three"].map((name) => noise(name, 500));
const TIMES = [0, 86_400_000, 86_400_500, 259_200_000].map((afterMs) => Date.UTC(2020, 0, 1) + afterMs);

const seen = { url: fc.nat(URLS.length - 1), time: fc.nat(TIMES.length - 1), payload: fc.nat(PAYLOADS.length - 1) };
const response = fc.record({
  kind: fc.constant("response" as const),
  ...seen,
  status: fc.constantFrom("200 OK", "404 No"),
  id: fc.constantFrom("own", "own", "own", "shared", "none"),
});
const revisit = fc.record({
  kind: fc.constant("revisit" as const),
  ...seen,
  algorithm: fc.constantFrom("sha1" as const, "sha256" as const),
});
const record = fc.oneof({ weight: 3, arbitrary: response }, { weight: 2, arbitrary: revisit });
type Told = typeof record extends fc.Arbitrary<infer T> ? T : never;

const records = fc.array(record, { minLength: 1, maxLength: 4 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("add" as const), records }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("adopt" as const), records }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove url" as const), url: seen.url, time: seen.time }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove payload" as const), payload: seen.payload }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("compact" as const) }) },
);

function bytesOf(told: Told): Buffer {
  const { url, time, payload } = told;
  const text = { uri: URLS[url]!, date: formatIso(TIMES[time]!), payload: PAYLOADS[payload]!, version: "WARC/1.1" };
  if (told.kind === "response") {
    const ids = { own: idOf(JSON.stringify(told)), shared: "urn:uuid:shared", none: null };
    return captureBytes({ ...text, status: told.status, id: ids[told.id as keyof typeof ids] });
  }
  const digest = formatDigest(digestOf(told.algorithm, text.payload));
  return revisitBytes({ ...text, digest, id: idOf(JSON.stringify(told)) });
}

/** The captures of each URL with their payloads, and its lifespans. */
async function answers(disk: ForgetfulDisk): Promise<unknown> {
  await using archive = await openReader(disk);
  return URLS.map((url) => ({
    captures: [...archive.captures(url)]
      .map(({ timeMs, row }) => {
        const { kind, mark, digest } = row;
        return `${timeMs} ${kind === "revisit"} ${mark.toString("hex")} ${digest?.toString("hex")}`;
      })
      .sort(),
    history: archive.history(url),
  }));
}

const seed = newSeed();

test(`everything is the same when it is made anew; seed ${seed}`, { timeout: 60_000 }, async () => {
  const size = fc.constantFrom(1, 2500, 1 << 20);
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 2, maxLength: 9 }),
    size,
    async (steps, segmentSize) => {
      const disk = new ForgetfulDisk();
      let nowMs = Date.UTC(2026, 0, 1);
      const clock = { now: () => ++nowMs };
      for (const each of steps) {
        await using writer = openWriter(disk, { segmentSizeBytes: segmentSize, clock });
        if (each.kind === "add") await writer.add([makeInput(disk, each.records.map(bytesOf))]);
        else if (each.kind === "adopt") await writer.adopt([makeInput(disk, each.records.map(bytesOf))]);
        else if (each.kind === "compact") writer.compact();
        else {
          const timeMs = each.kind === "remove url" ? TIMES[each.time] : undefined;
          const selection =
            each.kind === "remove url"
              ? { url: URLS[each.url], fromMs: timeMs, toMs: timeMs }
              : { sha256: digestOf("sha256", PAYLOADS[each.payload]!).hex };
          await writer.remove(selection, { reason: "a test" });
        }
      }
      const before = await answers(disk);
      expect(await diagnose(disk)).toEqual([]);
      await rebuild(disk, { clock });
      expect(await answers(disk)).toEqual(before);
      expect(await diagnose(disk)).toEqual([]);
    },
  );
  await fc.assert(property, { numRuns: 40, seed });
});
