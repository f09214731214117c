import { describe, expect, it } from "vitest";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import type { RecordCheck } from "./check.ts";
import { OrphanFinder } from "./orphans.ts";

function checked(offset: number, { holds = [], refersTo }: { holds?: string[]; refersTo?: string }): RecordCheck {
  const verdicts = { payloadDigest: "absent", blockDigest: "absent" } as const;
  return { file: "a.warc", offset, type: "x", ...verdicts, holds, ...(refersTo === undefined ? {} : { refersTo }) };
}

function findOrphans(records: readonly RecordCheck[]): { offset: number; refersTo: string }[] {
  using finder = new OrphanFinder(new ForgetfulDisk());
  for (const record of records) finder.add(record);
  return [...finder.orphans()].map(({ offset, refersTo }) => ({ offset, refersTo }));
}

describe("orphans", () => {
  it("are revisits whose original nobody holds", () => {
    const records = [
      checked(0, { holds: ["here"] }),
      checked(1, { refersTo: "here" }),
      checked(2, { refersTo: "away" }),
    ];
    expect(findOrphans(records)).toEqual([{ offset: 2, refersTo: "away" }]);
  });

  it("are found whatever the order, and each is told", () => {
    const records = [
      checked(0, { refersTo: "behind" }),
      checked(1, { refersTo: "away" }),
      checked(2, { refersTo: "away" }),
      checked(3, { holds: ["other", "behind"] }),
    ];
    expect(findOrphans(records).map(({ offset }) => offset)).toEqual([1, 2]);
  });

  it("are not made by keys that begin alike, or hold tabs, line ends, quotes or what is not ASCII", () => {
    const keys = ["a", "a b", 'a"', "a\tb", "a\nb", "a\\", "a\u0000", "ä", "\u{1f600}", ""];
    const held = keys.map((key, i) => checked(i, { holds: [key] }));
    const revisits = keys.map((key, i) => checked(100 + i, { refersTo: key }));
    expect(findOrphans([...revisits, ...held])).toEqual([]);
    for (const [i, key] of keys.entries()) {
      const others = held.filter((_, other) => other !== i);
      expect(findOrphans([...revisits, ...others])).toEqual([{ offset: 100 + i, refersTo: key }]);
    }
  });

  it("are none where there are no revisits", () => {
    expect(findOrphans([checked(0, { holds: ["a"] })])).toEqual([]);
  });
});
