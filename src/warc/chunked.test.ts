import fc from "fast-check";
import { expect, test } from "vitest";
import { type ChunkedVerdict, Dechunker } from "./chunked.ts";

function dechunk(...pieces: readonly Uint8Array[]): { verdict: ChunkedVerdict; payload: string } {
  const parts: Buffer[] = [];
  const dechunker = new Dechunker((bytes) => void parts.push(Buffer.from(bytes)));
  for (const piece of pieces) dechunker.push(piece);
  const verdict = dechunker.finish();
  expect(dechunker.verdict).toBe(verdict);
  return { verdict, payload: Buffer.concat(parts).toString("latin1") };
}

const bytesOf = (text: string) => Buffer.from(text, "latin1");
const LONG = "x".repeat(4096);

test.each<[name: string, body: string, verdict: ChunkedVerdict, payload: string]>([
  ["two chunks", "4\r\nWiki\r\n5\r\npedia\r\n0\r\n\r\n", "complete", "Wikipedia"],
  ["no chunk", "0\r\n\r\n", "complete", ""],
  ["LF only", "4\nWiki\n5\npedia\n0\n\n", "complete", "Wikipedia"],
  ["CR CR LF", "4\r\r\nWiki\r\r\n0\r\r\n\r\r\n", "complete", "Wiki"],
  ["extensions", '4;a=b\r\nWiki\r\n5 ; c="d;e"\r\npedia\r\n0;f\r\n\r\n', "complete", "Wikipedia"],
  ["trailers", "4\r\nWiki\r\n0\r\nExpires: never\r\nX: y\r\n\r\n", "complete", "Wiki"],
  ["a trailer longer than any", `4\r\nWiki\r\n0\r\nX: ${LONG}${LONG}y\r\n\r\n`, "complete", "Wiki"],
  ["capital hex", "A\r\n0123456789\r\n0B\r\nabcdefghijk\r\n0\r\n\r\n", "complete", "0123456789abcdefghijk"],
  ["zeros in front", "0004\r\nWiki\r\n00\r\n\r\n", "complete", "Wiki"],
  ["blanks around the size", " 4 \r\nWiki\r\n0\t\r\n\r\n", "complete", "Wiki"],
  ["line ends in the data", "6\r\na\r\n\r\nb\r\n0\r\n\r\n", "complete", "a\r\n\r\nb"],
  ["bytes behind the end", "4\r\nWiki\r\n0\r\n\r\n5\r\npedia\r\n", "complete", "Wiki"],
  ["no end", "4\r\nWiki\r\n", "broken", "Wiki"],
  ["no blank line at the end", "4\r\nWiki\r\n0\r\n", "complete", "Wiki"],
  ["cut off in a chunk", "8\r\nWiki", "broken", "Wiki"],
  ["cut off in a size", "4\r\nWiki\r\n5", "broken", "Wiki"],
  ["an invalid size", "4\r\nWiki\r\nxyz\r\npedia\r\n0\r\n\r\n", "broken", "Wiki"],
  ["a size that is too small", "3\r\nWiki\r\n0\r\n\r\n", "broken", "Wik"],
  ["a size that is too large", "fffffffffffff\r\nWiki\r\n0\r\n\r\n", "broken", "Wiki\r\n0\r\n\r\n"],
  ["a size of 14 digits", "00000000000004\r\nWiki\r\n0\r\n\r\n", "plain", "00000000000004\r\nWiki\r\n0\r\n\r\n"],
  ["plain", "<html>\r\n0\r\n\r\n", "plain", "<html>\r\n0\r\n\r\n"],
  ["plain without a line end", "<html>", "plain", "<html>"],
  ["a negative size", "-4\r\nWiki\r\n0\r\n\r\n", "plain", "-4\r\nWiki\r\n0\r\n\r\n"],
  ["a hexadecimal prefix", "0x4\r\nWiki\r\n0\r\n\r\n", "plain", "0x4\r\nWiki\r\n0\r\n\r\n"],
  ["a size without its line end", "4", "plain", "4"],
  ["a blank line first", "\r\n4\r\nWiki\r\n0\r\n\r\n", "plain", "\r\n4\r\nWiki\r\n0\r\n\r\n"],
  ["a long first line", `${LONG}${LONG}\r\n`, "plain", `${LONG}${LONG}\r\n`],
  ["a long extension", `4;${LONG}\r\nWiki\r\n0\r\n\r\n`, "plain", `4;${LONG}\r\nWiki\r\n0\r\n\r\n`],
  ["a long extension later", `4\r\nWiki\r\n4;${LONG}\r\nWiki\r\n0\r\n\r\n`, "broken", "Wiki"],
  ["binary", "\x1f\x8b\x08\x00\xff\n\x00", "plain", "\x1f\x8b\x08\x00\xff\n\x00"],
  ["nothing", "", "plain", ""],
])("%s", (_, body, verdict, payload) => {
  const bytes = bytesOf(body);
  expect(dechunk(bytes)).toEqual({ verdict, payload });
  expect(dechunk(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual({ verdict, payload });
});

test("a body cut off anywhere gives what was there", () => {
  const body = bytesOf("4;x=y\r\nWiki\r\n00A\r\n0123456789\r\n0\r\nA: b\r\n\r\n");
  const whole = "Wiki0123456789";
  const lastChunkEnd = body.indexOf("A: b");
  for (let cut = 0; cut < body.length; cut++) {
    const { verdict, payload } = dechunk(body.subarray(0, cut));
    if (cut < 7) expect([verdict, payload]).toEqual(["plain", body.toString("latin1", 0, cut)]);
    else expect([verdict, whole.startsWith(payload)]).toEqual([cut < lastChunkEnd ? "broken" : "complete", true]);
  }
});

/** Cuts bytes where the numbers say. */
function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

const cuts = fc.array(fc.nat(), { maxLength: 8 });

test("any split of any bytes gives the same", () => {
  const piece = fc.constantFrom(
    "0",
    "4",
    "a",
    "\r\n",
    "\n",
    "\r",
    ";x",
    "Wiki",
    "4\r\nWiki\r\n",
    "0\r\n\r\n",
    " ",
    LONG,
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), cuts, (pieces, at) => {
      const bytes = bytesOf(pieces.join(""));
      expect(dechunk(...split(bytes, at))).toEqual(dechunk(bytes));
    }),
    { numRuns: 1000 },
  );
});

test("any bytes in chunks of any sizes come back", () => {
  const lineEnd = fc.constantFrom("\r\n", "\n");
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      cuts,
      cuts,
      lineEnd,
      fc.boolean(),
      (bytes, sizes, at, end, upper) => {
        const chunks = split(bytes, sizes).filter((chunk) => chunk.length > 0);
        const coded = chunks.flatMap((chunk) => {
          const size = chunk.length.toString(16);
          return [bytesOf(`${upper ? size.toUpperCase() : size}${end}`), chunk, bytesOf(end)];
        });
        const body = Buffer.concat([...coded, bytesOf(`0${end}${end}`)]);
        const payload = Buffer.from(bytes).toString("latin1");
        expect(dechunk(...split(body, at))).toEqual({ verdict: "complete", payload });
      },
    ),
    { numRuns: 300 },
  );
});

test("the verdict is known as early as can be", () => {
  const dechunker = new Dechunker(() => undefined);
  expect(dechunker.verdict).toBe("undecided");
  dechunker.push(bytesOf("4"));
  expect(dechunker.verdict).toBe("undecided");
  dechunker.push(bytesOf("\r\n"));
  expect(dechunker.verdict).toBe("chunked");
  dechunker.push(bytesOf("Wiki\r\n0\r\n\r\n"));
  expect(dechunker.verdict).toBe("complete");
});

test.each<[body: string, own: number]>([
  ["4\r\nWiki\r\n0\r\n\r\nHTTP/1.1 200 OK", 14],
  ["4\r\nWiki\r\n0\r\nA: b\r\n\r\nmore", 20],
  ["4\r\nWikix\r\n0\r\n\r\n", 8],
  ["4\r\nWiki\r\nxyz\r\nmore", 14],
  ["4\r\nWiki", 7],
  ["plain\r\nmore", 11],
])("of %j the first %i bytes are its own, in any pieces", (body, own) => {
  for (let cut = 0; cut <= body.length; cut++) {
    const dechunker = new Dechunker(() => {});
    const count = dechunker.push(bytesOf(body.slice(0, cut))) + dechunker.push(bytesOf(body.slice(cut)));
    expect(count).toBe(own);
  }
});
