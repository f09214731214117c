import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BlockAddress } from "../content-key.ts";
import { REFERENCES_MAX } from "../volume.ts";
import { type BlockHeader, formatHeader, GAP, HEADER_SIZE, parseHeader } from "./block-header.ts";
import { parseFormer } from "./former-keys.ts";
import {
  DEEDS,
  formatEntry,
  formatLine,
  type JournalEntry,
  type JournalLine,
  parseLine,
  requestIdIn,
} from "./journal-line.ts";
import { addressAt, blockLocation, sig2location } from "./location.ts";

const signatureOfSize = (size: number) =>
  fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => Buffer.from(bytes).toString("hex").toUpperCase());
const sizes = fc.oneof(fc.nat(5), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }));
const compressions = fc.stringMatching(/^[a-z0-9-]{1,16}$/);
const counters = fc.integer({ min: 1, max: REFERENCES_MAX });

describe("the place of a block", () => {
  it("is that of the report", () => {
    expect(sig2location("ADEE2232AF3A4355", 3)).toEqual(["AD", "EE", "2232AF3A4355"]);
    expect(sig2location("ADEE2232AF3A4355", 1)).toEqual(["ADEE2232AF3A4355"]);
    expect(sig2location("ADEE2232AF3A4355", 8)).toEqual(["AD", "EE", "22", "32", "AF", "3A", "43", "55"]);
    expect(blockLocation({ signature: "ADEE2232AF3A4355", overflow: 1 }, 3)).toBe("AD/EE/2232AF3A4355-1");
  });

  it("tells the address, and nothing else does", () => {
    const addresses = fc.record({
      signature: signatureOfSize(8),
      overflow: fc.oneof(fc.constant(0), fc.nat(2 ** 32 - 1)),
    });
    fc.assert(
      fc.property(addresses, fc.integer({ min: 1, max: 8 }), (address: BlockAddress, depth) => {
        const path = blockLocation(address, depth).split("/");
        const [folders, name] = [path.slice(0, -1), path.at(-1)!];
        expect(addressAt(folders, name, 8)).toEqual(address);
        for (const other of [
          name.toLowerCase(),
          `${name}-1`,
          `${name}0`,
          `${name}.partial`,
          ` ${name}`,
          `${name}-01`,
        ]) {
          const found = addressAt(folders, other, 8);
          if (found !== undefined) expect(blockLocation(found, depth)).toBe([...folders, other].join("/"));
        }
      }),
    );
  });
});

describe("the header of a block", () => {
  const headers: fc.Arbitrary<BlockHeader> = fc.record({
    compression: compressions,
    size: sizes,
    storedSize: sizes,
    references: counters,
    state: fc.constantFrom("held", "leaving"),
  });

  it("is 128 bytes of text, ends with a line end, and parses back", () => {
    fc.assert(
      fc.property(fc.oneof(headers, fc.constant(GAP)), (header) => {
        const bytes = formatHeader(header);
        expect(bytes).toHaveLength(HEADER_SIZE);
        expect(bytes.toString("latin1")).toMatch(/^[\x20-\x7e\n]*\n$/);
        expect(parseHeader(bytes, "block")).toEqual(header);
      }),
    );
  });

  it("has room for the longest values", () => {
    const longest: BlockHeader = {
      compression: "sixteen-letters-",
      size: Number.MAX_SAFE_INTEGER,
      storedSize: Number.MAX_SAFE_INTEGER,
      references: REFERENCES_MAX,
      state: "leaving",
    };
    expect(parseHeader(formatHeader(longest), "block")).toEqual(longest);
  });

  it("that is torn between two others is none, or one of them in its sound parts", () => {
    // What a crash can leave of an update; the journal has the truth, and this must merely not be taken for a gap.
    fc.assert(
      fc.property(headers, counters, fc.nat(HEADER_SIZE), (header, references, cut) => {
        const [before, after] = [formatHeader(header), formatHeader({ ...header, references })];
        const torn = Buffer.concat([after.subarray(0, cut), before.subarray(cut)]);
        expect(parseHeader(torn, "block")?.state).not.toBe("gap");
      }),
    );
  });

  it.each([
    ["of nothing", ""],
    ["that is short", formatHeader(GAP).toString("latin1", 0, 127)],
    ["of a gap that counts", formatHeader({ ...GAP, references: 1 }).toString("latin1")],
    ["of a block that counts nothing", formatHeader({ ...GAP, state: "held" }).toString("latin1")],
    [
      "with too large a counter",
      formatHeader({ ...GAP, state: "held", references: REFERENCES_MAX + 1 }).toString("latin1"),
    ],
    ["with another order", formatHeader(GAP).toString("latin1").replace("size 0\nstored 0", "stored 0\nsize 0")],
    ["with more behind it", formatHeader(GAP).toString("latin1").replace("gap\n ", "gap\nx")],
  ])("%s is none", (_, text) => {
    expect(parseHeader(Buffer.from(text, "latin1"), "block")).toBeUndefined();
  });

  it("of a newer version is refused as such", () => {
    const newer = formatHeader(GAP).toString("latin1").replace("block 1", "block 2");
    expect(() => parseHeader(Buffer.from(newer), "block")).toThrow(
      expect.objectContaining({ code: "HT_FORMAT_TOO_NEW" }),
    );
  });
});

describe("a line of the journal", () => {
  const entries: fc.Arbitrary<JournalEntry> = fc.record({
    signature: signatureOfSize(20),
    overflow: fc.nat(3),
    deed: fc.constantFrom(...DEEDS),
    size: sizes,
    storedSize: sizes,
    compression: compressions,
    before: fc.nat(REFERENCES_MAX),
    references: fc.nat(REFERENCES_MAX),
    requestId: fc.option(fc.stringMatching(/^[\x21-\x7e]{1,128}$/), { nil: undefined }),
    formerKeys: fc.array(
      signatureOfSize(20).map((signature) => `7-${signature}-2`),
      { maxLength: 3 },
    ),
  });
  const lines: fc.Arbitrary<JournalLine> = fc.oneof(
    fc.record({ kind: fc.constantFrom("do" as const, "said" as const), entry: entries }),
    fc.record({
      kind: fc.constant("settled" as const),
      totals: fc.record({ blocks: sizes, contentBytes: sizes, storedBytes: sizes, references: sizes }),
    }),
    fc.record({ kind: fc.constant("journal" as const), version: fc.nat(9) }),
  );

  it("parses back", () => {
    fc.assert(
      fc.property(lines, (line) => {
        const text = formatLine(line);
        expect(text.indexOf("\n")).toBe(text.length - 1);
        expect(parseLine(text.slice(0, -1))).toEqual(line);
        if ("entry" in line) expect(requestIdIn(formatEntry(line.entry))).toBe(line.entry.requestId);
      }),
    );
  });

  it("in which anything was changed, or that was cut, is none", () => {
    fc.assert(
      fc.property(lines, fc.nat(), fc.integer({ min: 1, max: 255 }), (line, at, change) => {
        const bytes = Buffer.from(formatLine(line), "latin1").subarray(0, -1);
        expect(parseLine(bytes.toString("latin1", 0, at % bytes.length))).toBeUndefined();
        bytes[at % bytes.length]! ^= change;
        expect(parseLine(bytes.toString("latin1"))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it("is nothing that comes by chance", () => {
    fc.assert(fc.property(fc.string(), (text) => parseLine(text) === undefined));
  });
});

describe("a list of former keys", () => {
  it("is of one signature, and whole", () => {
    const text = "holotype-former-keys 1\n7-AD 0\n12-AD-3 2\n";
    expect(parseFormer(text, "AD")).toEqual(
      new Map([
        ["7-AD", 0],
        ["12-AD-3", 2],
      ]),
    );
    expect(parseFormer(text, "AE")).toBeUndefined();
    for (let size = 0; size < text.length; size++) {
      const found = parseFormer(text.slice(0, size), "AD");
      if (found !== undefined) expect(text.slice(0, size)).toMatch(/\n$/);
    }
    for (const other of ["", "\n", "holotype-former-keys 2\n7-AD 0\n", "holotype-former-keys 1\n7-AD x\n"]) {
      expect(parseFormer(other, "AD")).toBeUndefined();
    }
  });
});
