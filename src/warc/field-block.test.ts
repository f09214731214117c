import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeText, decodeUri, FieldBlock } from "./field-block.ts";

const latin1 = (text: string, encoding: BufferEncoding = "utf8") => Buffer.from(text, encoding).toString("latin1");

describe("fields", () => {
  test.each<[name: string, text: string, fields: [string, string][]]>([
    ["none", "", []],
    ["a blank line alone", "\r\n", []],
    [
      "CR LF",
      "A: 1\r\nB: 2\r\n\r\n",
      [
        ["A", "1"],
        ["B", "2"],
      ],
    ],
    [
      "LF alone",
      "A: 1\nB: 2\n\n",
      [
        ["A", "1"],
        ["B", "2"],
      ],
    ],
    [
      "CR CR LF",
      "A: 1\r\r\nB: 2\r\r\n\r\r\n",
      [
        ["A", "1"],
        ["B", "2"],
      ],
    ],
    ["no line end at all", "A: 1", [["A", "1"]]],
    ["nothing behind the blank line", "A: 1\r\n\r\nB: 2\r\n", [["A", "1"]]],
    [
      "blanks around the colon",
      "A \t:\t 1 \t\r\nB:2\r\n",
      [
        ["A", "1"],
        ["B", "2"],
      ],
    ],
    [
      "an empty value",
      "A:\r\nB: \r\n",
      [
        ["A", ""],
        ["B", ""],
      ],
    ],
    ["colons in a value", "A: http://x:80/\r\n", [["A", "http://x:80/"]]],
    ["an empty name", ": 1\r\n", [["", "1"]]],
    [
      "a folded value",
      "A: 1\r\n 2\r\n\t 3 \r\nB: 4\r\n",
      [
        ["A", "1 2 3"],
        ["B", "4"],
      ],
    ],
    [
      "a value that begins on the next line",
      "A:\r\n  1\r\nB: 2\r\n",
      [
        ["A", "1"],
        ["B", "2"],
      ],
    ],
    ["folded with LF and CR CR LF", "A: 1\n 2\r\r\n 3\r\r\n", [["A", "1 2 3"]]],
    [
      "a first line that looks folded",
      " A: 1\r\nB: 2\r\n",
      [
        [" A", "1"],
        ["B", "2"],
      ],
    ],
    [
      "repeated",
      "A: 1\r\na: 2\r\n",
      [
        ["A", "1"],
        ["a", "2"],
      ],
    ],
    ["a carriage return inside", "A: 1\r2\r\n", [["A", "1\r2"]]],
    [
      "UTF-8",
      latin1("A: Jürgen à\r\nÄ: ☃\r\n"),
      [
        ["A", "Jürgen à"],
        ["Ä", "☃"],
      ],
    ],
    ["Latin-1", "A: J\xfcrgen\r\n", [["A", "Jürgen"]]],
    ["a byte 0xA0 at the end of a letter", latin1("A: à \r\n"), [["A", "à"]]],
    ["a byte 0xA0 of its own", "A: \xa0x\xa0\r\n", [["A", "\xa0x\xa0"]]],
    ["a byte 0x85", "A: \x85x\x85\r\n", [["A", "\x85x\x85"]]],
  ])("%s", (_, text, fields) => {
    const block = new FieldBlock(text);
    expect([...block]).toEqual(fields);
    expect(block.count).toBe(fields.length);
    expect(block.oddLineCount).toBe(0);
    expect(block.text).toBe(text);
  });
});

test("lines without a colon are counted and passed over", () => {
  const block = new FieldBlock("A: 1\r\nnonsense\r\nB: 2\r\nmore\r\n\r\nnot this\r\n");
  expect([...block]).toEqual([
    ["A", "1"],
    ["B", "2"],
  ]);
  expect(block.oddLineCount).toBe(2);
});

test("are found whatever the case of their name, the first of several", () => {
  const block = new FieldBlock("WARC/1.0\r\nWaRc-TYPE: a\r\nwarc-type: b\r\nWARC-Types: c\r\n[x]: d\r\n", 10);
  expect(block.get("warc-type")).toBe("a");
  expect(block.all("warc-type")).toEqual(["a", "b"]);
  expect(block.get("warc-types")).toBe("c");
  expect(block.get("warc-typ")).toBeUndefined();
  expect(block.all("absent")).toEqual([]);
  // `[` and `{` differ by the bit that tells `A` from `a`.
  expect(block.get("{x]")).toBeUndefined();
});

test("what stands before the fields is not looked at", () => {
  expect([...new FieldBlock("GET http://x/ HTTP/1.1\r\nHost: x\r\n", 24)]).toEqual([["Host", "x"]]);
  expect([...new FieldBlock("A: 1", 4)]).toEqual([]);
  expect([...new FieldBlock("A: 1", 9)]).toEqual([]);
});

test("text that was UTF-8 is decoded, other text is not", () => {
  expect(decodeText(latin1("ß☃😀"))).toBe("ß☃😀");
  expect(decodeText("\xdf")).toBe("ß");
  expect(decodeText("plain")).toBe("plain");
  // Half a letter: all of it stays Latin-1.
  expect(decodeText(`${latin1("ß")}\xdf`)).toBe(`${latin1("ß")}ß`);
});

test("bytes of a URI that are not UTF-8 are escaped, and nothing else is", () => {
  expect(decodeUri(latin1("http://x/ß☃"))).toBe("http://x/ß☃");
  expect(decodeUri("http://x/caf\xe9?\x80=%e9 z")).toBe("http://x/caf%E9?%80=%e9 z");
  expect(decodeUri(`${latin1("ß")}\xdf`)).toBe("%C3%9F%DF");
  const block = new FieldBlock(`A: http://x/\xe9\r\nB: ${latin1("http://x/é")}\r\n`);
  expect([block.uri("a"), block.uri("b"), block.uri("c")]).toEqual(["http://x/%E9", "http://x/é", undefined]);
});

const token = fc.string({ unit: fc.constantFrom("a", "b", "X", "Y", "-", "9"), minLength: 1, maxLength: 12 });
const value = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replace(/[\r\n\v\f]/g, "").trim());

test("what is written is read as the same", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(token, value)), fc.constantFrom("\n", "\r\n", "\r\r\n"), (fields, end) => {
      const text = `X/1${end}${fields.map(([n, v]) => `${n}: ${v}${end}`).join("")}${end}`;
      const block = new FieldBlock(latin1(text), 3 + end.length);
      expect([...block]).toEqual(fields);
      for (const [name] of fields) {
        const lower = name.toLowerCase();
        const values = fields.filter(([n]) => n.toLowerCase() === lower).map(([, v]) => v);
        expect(block.all(lower)).toEqual(values);
        expect(block.get(lower)).toBe(values[0]);
      }
    }),
  );
});

test("any bytes are fields or odd lines", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("A", ":", " ", "\t", "\r", "\n", "\xa0", "é")), (letters) => {
      const block = new FieldBlock(letters.join(""));
      for (const [name, found] of block) {
        expect(`${name}${found}`).not.toContain("\n");
        expect(block.all(name.toLowerCase())).toContain(found);
      }
    }),
    { numRuns: 300 },
  );
});

test("a header of blanks takes no more than linear time", () => {
  const blanks = " ".repeat(1 << 20);
  expect(new FieldBlock(`A: x${blanks}\r\n${blanks}\r\n`).get("a")).toBe("x");
  expect(new FieldBlock(`A: x\r\n y`.repeat(1) + "\r\n z".repeat(1 << 16)).get("a")).toHaveLength(3 + 2 * (1 << 16));
}, 2000);
