import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HEADER_SCHEMES, HeaderPredictor, type HeaderValues, type Prediction } from "./header-predictor.ts";

const CRAWLED = Date.UTC(2026, 0, 10);
const date = (day: number) => new Date(Date.UTC(2026, 0, day)).toUTCString();
const KNOWN = { timeMs: CRAWLED, lastModified: date(5), etag: '"1"' };

const all = (headers: HeaderValues, known = KNOWN): Prediction[] =>
  HEADER_SCHEMES.map((scheme) => new HeaderPredictor(scheme).predict(headers, known));

describe("schemes", () => {
  const [yes, no] = ["change", "non-change"] as const;
  test.each<[string, HeaderValues, readonly Prediction[]]>([
    ["neither moved", { lastModified: date(5), etag: '"1"' }, [no, no, no, no]],
    ["both moved", { lastModified: date(6), etag: '"2"' }, [yes, yes, yes, yes]],
    ["the date moved", { lastModified: date(6), etag: '"1"' }, [yes, no, no, yes]],
    ["the tag moved", { lastModified: date(5), etag: '"2"' }, [no, yes, no, yes]],
    ["the date went back", { lastModified: date(1), etag: '"1"' }, [no, no, no, no]],
    ["no date, same tag", { etag: '"1"' }, ["missing", no, no, yes]],
    ["no date, other tag", { etag: '"2"' }, ["missing", yes, yes, yes]],
    ["same date, no tag", { lastModified: date(5) }, [no, "missing", no, yes]],
    ["nothing", {}, ["missing", "missing", "missing", "missing"]],
    ["blanks", { lastModified: " ", etag: "\t" }, ["missing", "missing", "missing", "missing"]],
    ["no date that can be read", { lastModified: "0", etag: '"1"' }, ["unreadable", no, no, yes]],
    ["that alone", { lastModified: "0" }, ["unreadable", "missing", "unreadable", "unreadable"]],
    ["a weak tag is another text", { lastModified: date(5), etag: 'W/"1"' }, [no, yes, no, yes]],
  ])("%s", (_, headers, expected) => {
    expect(all(headers)).toEqual(expected);
  });

  test("an ETag that the index does not have cannot be compared", () => {
    expect(all({ etag: '"1"', lastModified: date(6) }, { ...KNOWN, etag: "" })).toEqual([yes, "missing", yes, yes]);
  });
});

describe("a Last-Modified is compared", () => {
  const between = { lastModified: date(7) };
  const predict = (known: Parameters<HeaderPredictor["predict"]>[1], reference?: "stored" | "captured") =>
    new HeaderPredictor("datestamp", reference).predict(between, known);

  test("with the stored one", () => {
    expect(predict(KNOWN)).toBe("change");
  });

  test("with the time of the crawl where that is all there is, and where the paper is followed", () => {
    expect(predict({ timeMs: CRAWLED })).toBe("non-change");
    expect(predict({ timeMs: CRAWLED, lastModified: "long ago" })).toBe("non-change");
    expect(predict(KNOWN, "captured")).toBe("non-change");
    expect(predict({ ...KNOWN, timeMs: Date.UTC(2026, 0, 6) }, "captured")).toBe("change");
  });

  test("as a time: in whatever way it is written", () => {
    const known = { timeMs: CRAWLED, lastModified: "Monday, 05-Jan-26 00:00:00 GMT" };
    const same = { lastModified: "Mon Jan  5 00:00:00 2026" };
    expect(new HeaderPredictor("datestamp").predict(same, known)).toBe("non-change");
  });
});

describe("hostile values", () => {
  const NUL = String.fromCharCode(0);
  const values = [
    "x".repeat(100_000),
    `"${"\\".repeat(100_000)}"`,
    `"a${NUL}\r\nSet-Cookie: b"`,
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Fri, 31 Dec 2100 23:59:59 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Sat, 99 Foo 99999 99:99:99 GMT",
    "\ud800\udfff\ud800",
    " ".repeat(100_000),
    `${" ".repeat(100_000)}x`,
    `Sun${" ".repeat(60_000)}`,
  ];

  test("never throw, and take no time", () => {
    for (const one of values) {
      for (const other of values) {
        const headers = { etag: one, lastModified: other };
        const known = { timeMs: CRAWLED, etag: other, lastModified: one };
        for (const prediction of all(headers, known)) {
          expect(["change", "non-change", "missing", "unreadable"]).toContain(prediction);
        }
      }
    }
  });

  test("dates long ago or to come are dates", () => {
    expect(all({ lastModified: values[3]! })[0]).toBe("non-change");
    expect(all({ lastModified: values[4]! })[0]).toBe("change");
    expect(all({ lastModified: values[6]! })[0]).toBe("unreadable");
  });

  test("whatever they are", () => {
    const value = fc.option(fc.string({ unit: "binary" }), { nil: undefined });
    fc.assert(
      fc.property(value, value, value, value, (etag, lastModified, oldTag, oldDate) => {
        const [datestamp, tag, both, either] = all(
          { etag, lastModified },
          { timeMs: CRAWLED, etag: oldTag ?? "", lastModified: oldDate ?? "" },
        );
        // What one header denies and the other does not affirm, the two together cannot affirm.
        if (both === "change") expect(either).toBe("change");
        if (datestamp === "change" && tag === "change") expect(both).toBe("change");
      }),
    );
  });
});
