import { describe, expect, it } from "vitest";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import type { HeldLine, RevisitLine } from "./capture-line.ts";
import { OrphanFinder } from "./orphans.ts";

const DATE = "2020-01-01T00:00:00Z";

function held(offset: number, more: Partial<HeldLine>): HeldLine {
  return {
    kind: "held",
    offset,
    size: offset,
    digests: [`sha1:${offset}`],
    uri: `http://a.example/${offset}`,
    ...more,
  };
}

function revisit(offset: number, more: Partial<RevisitLine>): RevisitLine {
  return { kind: "revisit", offset, ...more };
}

function findOrphans(captures: readonly (HeldLine | RevisitLine)[]): { offset: number; refersTo: string }[] {
  using finder = new OrphanFinder(new ForgetfulDisk());
  for (const capture of captures) finder.take(`{"file":"a.warc"}\t${JSON.stringify(capture)}`);
  return [...finder.orphans()].map(({ offset, refersTo }) => ({ offset, refersTo }));
}

describe("orphans", () => {
  it("are revisits whose original nobody holds", () => {
    const records = [
      held(0, { id: "here" }),
      revisit(1, { refersTo: { id: "here" } }),
      revisit(2, { refersTo: { id: "away" } }),
    ];
    expect(findOrphans(records)).toEqual([{ offset: 2, refersTo: "away" }]);
  });

  it("are found whatever the order, and each is reported", () => {
    const records = [
      revisit(0, { refersTo: { uri: "http://a.example/", date: DATE } }),
      revisit(1, { refersTo: { uri: "http://b.example/", date: DATE } }),
      revisit(2, { refersTo: { uri: "http://b.example/", date: DATE } }),
      held(3, { uri: "http://a.example/", date: DATE }),
    ];
    expect(findOrphans(records).map(({ offset }) => offset)).toEqual([1, 2]);
  });

  it("are not made by keys that begin alike, or hold tabs, line ends, quotes or what is not ASCII", () => {
    const keys = ["a", "a b", 'a"', "a\tb", "a\nb", "a\\", "a\u0000", "ä", "\u{1f600}"];
    const records = keys.map((id, i) => held(i, { id }));
    const revisits = keys.map((id, i) => revisit(100 + i, { refersTo: { id } }));
    expect(findOrphans([...revisits, ...records])).toEqual([]);
    for (const [i, key] of keys.entries()) {
      const others = records.filter((_, other) => other !== i);
      expect(findOrphans([...revisits, ...others])).toEqual([{ offset: 100 + i, refersTo: key }]);
    }
  });

  it("are none where there are no revisits", () => {
    expect(findOrphans([held(0, { id: "a" })])).toEqual([]);
  });
});
