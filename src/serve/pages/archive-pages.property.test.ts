/** Whatever stands in their addresses, the pages about an archive answer: never with a bug. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { captureBytes } from "../../testing/capture-text.ts";
import { serveRecords } from "../../testing/served-archive.ts";

const URL = "http://a.example/x/y?q=1";
const records = ["2014-01-01", "2015-01-01"].map((day) =>
  captureBytes({ uri: URL, date: `${day}T00:00:00Z`, payload: `<p>${day}`.repeat(50), mime: "text/html" }),
);

const value = fc.oneof(
  fc.constantFrom(URL, "a.example", "2014", "20140101000000", "2014-13-45", "-1", "1e9", "/x/", "/x/y?", "/", "csv"),
  fc.constantFrom("json", "pages", "side", "source", "links", "host", "0", "99999999999999999", "9".repeat(18), ""),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const page = fc.oneof(
  fc.constantFrom("duplication", "crawls", "crawls/1", "crawls/0", "crawls/9999999999", "compare"),
  fc.constantFrom("site/a.example", "site/a.example/export", `duplication/${"a".repeat(64)}`),
  fc.string({ unit: "binary", maxLength: 12 }).map((host) => `site/${encode(host)}`),
);
const names = ["url", "a", "b", "view", "at", "day", "since", "path", "only", "cursor", "format", "table", "from"];

/** As a browser would send it; half of a pair of surrogates as nothing. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ""));
}

it("answers every address", async () => {
  await using archive = await serveRecords(records);
  await fc.assert(
    fc.asyncProperty(
      page,
      fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 }),
      fc.constantFrom("text/html", "application/json"),
      async (path, pairs, accept) => {
        const query = pairs.map(([name, text]) => `${name}=${encode(text)}`).join("&");
        const { status } = await archive.ask(`/coll/${path}?${query}`, { headers: { accept } });
        expect([path, query, status < 500]).toEqual([path, query, true]);
      },
    ),
    { numRuns: 400 },
  );
});
