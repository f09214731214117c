/** Whatever a stranger asks the API: an answer that can be read, below 500, with an end. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { API_VISITS, apiRecord, HOME, LOGO } from "../../testing/api-archive.ts";
import { newSeed, runsOf } from "../../testing/dice.ts";
import { serveRecords } from "../../testing/served-archive.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { PARAMETERS } from "./parameters.ts";

const seed = newSeed();
const cursor = (text: string) => Buffer.from(text).toString("base64url");
const name = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...Object.keys(PARAMETERS)) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
);
const value = fc.oneof(
  fc.constantFrom(HOME, LOGO, "a.example", "2014", "20140103", "now", "1", "9999", "0", "00000", "99999999999999"),
  fc.constantFrom(
    "2014-01-03T00:00:00.5+23:59",
    "0000-01-01",
    "ndjson",
    "host",
    "coll",
    "example,a)/",
    "é\u0000/%",
    "*",
  ),
  fc.constantFrom(cursor("[]"), cursor('["example,a)/",0,""]'), cursor("example,a)/"), cursor("\u0100\0"), cursor("")),
  fc.string({ maxLength: 20, unit: "binary" }),
  fc.string({ maxLength: 10 }).map((text) => cursor(text)),
  fc.constant("a".repeat(64)),
);
const pair = fc
  .tuple(name, value)
  .map(([key, text]) => `${encodeURIComponent(key.replace(/\p{Surrogate}/gu, ""))}=${encode(text)}`);

function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
}

it(`answers every query; seed ${seed}`, { timeout: 120_000 }, async () => {
  await using served = await serveRecords(API_VISITS.map(apiRecord));
  let [good, bad] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(ENDPOINTS)),
      fc.oneof(
        fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join("&")),
        fc.webQueryParameters(),
      ),
      async (call, query) => {
        const { status, text, headers } = await served.ask(`/api/${call}?${query}`);
        expect(status, text).toBeLessThan(500);
        const isLines = headers["content-type"]?.startsWith("application/x-ndjson") === true;
        for (const line of isLines ? text.split("\n").slice(0, -1) : [text]) JSON.parse(line);
        if (status === 200) good++;
        else {
          bad++;
          expect(JSON.parse(text)).toMatchObject({ error: { message: expect.any(String) as string } });
        }
      },
    ),
    { seed, numRuns: runsOf(2000) },
  );
  expect(Math.min(good, bad)).toBeGreaterThan(50);
});
