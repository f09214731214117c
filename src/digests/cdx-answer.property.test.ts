/** No answer makes a reader of it throw, and what it reads is of the URL and the digest that was asked for. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { keyOfUri } from "../dedup/index.ts";
import { newSeed, runsOf } from "../testing/dice.ts";
import { newestIn, recordIn } from "./cdx-answer.ts";

const URI = "http://a.test/x?y=1";
const DIGEST = "3APZ7HWIXWGYFNBNLJ3UXWWHOJF3BZL3";
const json = JSON.stringify({ url: URI, timestamp: 20200101000000, digest: DIGEST, id: DIGEST, uri: URI, date: 2020 });
const WHOLE = [
  `test,a)/x?y=1 20200101000000 ${URI} text/html 200 ${DIGEST} 77`,
  `test,a)/x?y=1 20200101000000 ${json}`,
  json,
  `[["timestamp", "original", "digest"], ["20200101000000", "${URI}", "${DIGEST}"]]`,
  " CDX N b a m s k S",
];
const piece = fc.oneof(
  fc.constantFrom(...WHOLE, URI, DIGEST, "20200101000000", ...' \n\r\t{}[]",:-!0'.split("")),
  fc.string({ unit: "binary", maxLength: 5 }),
  fc.tuple(fc.constantFrom(...WHOLE), fc.nat(120)).map(([text, end]) => text.slice(0, end)),
);
const answers = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(""));

test("whatever is answered", () => {
  let known = 0;
  fc.assert(
    fc.property(answers, (answer) => {
      const newest = newestIn(answer, URI);
      if (newest !== undefined) {
        known++;
        expect(keyOfUri(newest.uri)).toBe(keyOfUri(URI));
        expect([newest.certainty, newest.digests.length, newest.original?.uri]).toEqual(["claimed", 1, newest.uri]);
        expect(Number.isFinite(newest.timeMs)).toBe(true);
      }
      const digest = `sha1:${DIGEST}`;
      expect(recordIn(answer, digest)?.digests ?? [digest]).toEqual([digest]);
    }),
    { seed: newSeed(), numRuns: runsOf(3000) },
  );
  expect(known).toBeGreaterThan(20);
});
