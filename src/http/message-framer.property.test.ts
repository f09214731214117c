import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordedAnswer } from "../testing/recorded-answer.ts";
import { HTTP_HEAD_SIZE_MAX } from "../warc/index.ts";
import { type FramerOptions, type MessageEnd, MessageFramer } from "./index.ts";

interface Framed {
  readonly raw: Buffer;
  readonly entity: Buffer;
  readonly end: MessageEnd | undefined;
  readonly head: string | undefined;
  readonly flaws: readonly string[];
  readonly interimCount: number;
  readonly framing: string;
}

type Cause = "closed" | "reset" | "time";

/** Frames bytes that come in pieces cut at `places`. The pieces are wiped afterwards, as a buffer that is used again. */
function frame(bytes: Uint8Array, places: readonly number[], cause: Cause, options: Partial<FramerOptions>): Framed {
  const raw: Buffer[] = [];
  const entity: Buffer[] = [];
  const sink = {
    raw: (piece: Uint8Array) => void raw.push(Buffer.from(piece)),
    entity: (piece: Uint8Array) => void entity.push(Buffer.from(piece)),
  };
  const framer = new MessageFramer({ method: "GET", sink, ...options });
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  for (const [i, from] of [0, ...cuts].entries()) {
    const piece = Uint8Array.from(bytes.subarray(from, cuts[i] ?? bytes.length));
    const taken = framer.push(piece);
    if (framer.end === undefined) expect(taken).toBe(piece.length);
    else expect(taken >= 0 && taken <= piece.length).toBe(true);
    piece.fill(0);
  }
  framer.finish(cause);
  const { end, head, flaws, interimCount, rawSize, entitySize, framing } = framer;
  const framed = {
    raw: Buffer.concat(raw),
    entity: Buffer.concat(entity),
    end,
    head: head?.text,
    flaws,
    interimCount,
    framing,
  };
  expect(framed.raw.length).toBe(rawSize);
  expect(framed.entity.length).toBe(entitySize);
  return framed;
}

/** An answer in any pieces is the same as in one, and is what warc/ finds in its record. */
function checkAnswer(
  bytes: Uint8Array,
  places: readonly number[],
  cause: Cause,
  options: Partial<FramerOptions>,
): void {
  const framed = frame(bytes, places, cause, options);
  expect(framed).toEqual(frame(bytes, [], cause, options));
  expect(framed.end === undefined).toBe(framed.raw.length === 0);
  expect(Buffer.from(bytes).includes(framed.raw)).toBe(true);
  const { payload, http, framing } = recordedAnswer(framed.raw);
  expect(framed.framing).toBe(framing);
  expect(framed.entity).toEqual(payload);
  expect(framed.head).toBe(http?.text);
}

const bytesOf = (text: string) => Buffer.from(text, "latin1");
const word = (...words: readonly string[]) => fc.constantFrom(...words);
const lineEnd = fc.oneof({ weight: 8, arbitrary: word("\r\n") }, { weight: 1, arbitrary: word("\n", "\r\r\n", "\r") });

const startLine = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        word("HTTP/1.1", "HTTP/1.0", "HTTP/2", "ICY", "HTTP", "http/1.1"),
        word("100", "101", "103", "200", "204", "304", "999", "20", "abc"),
      )
      .map(([version, status]) => `${version} ${status} OK`),
  },
  {
    weight: 1,
    arbitrary: word("", "hello world", "<html>", "GET / HTTP/1.1", "HTTP", " HTTP/1.1 200 OK", "HTTP/1.1 200"),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 50 }) },
);
const field = fc.oneof(
  word("Content-Length: 5", "Content-Length: 0", "Content-Length: 12", "content-length : 7", "Content-Length: -1"),
  word("Content-Length: 5, 5", "Content-Length: 99999999999999999999", "Content-Length: x"),
  word("Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: gzip", "TE\t: x"),
  word(
    "Connection: close",
    "Connection: keep-alive",
    "X: \0",
    " folded",
    "no colon",
    "X: \xe9",
    "Transfer-Encoding: identity",
  ),
);
const head = fc
  .tuple(startLine, fc.array(field, { maxLength: 4 }), lineEnd, fc.boolean())
  .map(([start, fields, end, hasEnd]) => [start, ...fields].map((line) => line + end).join("") + (hasEnd ? end : ""));
const chunk = fc
  .tuple(fc.string({ maxLength: 20 }), lineEnd, word("", ";a=b", " "))
  .map(([data, end, extension]) => `${data.length.toString(16)}${extension}${end}${data}${end}`);
const body = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc
    .tuple(fc.array(chunk, { maxLength: 4 }), word("0\r\n\r\n", "0\n\n", "0\r\nX: y\r\n\r\n", "", "zz\r\n", "0\r\n"))
    .map(([chunks, end]) => chunks.join("") + end),
  word("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", "f".repeat(16), "5\r\nhel"),
);
const answer = fc
  .tuple(fc.array(word("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 x\nLink: a\n\n"), { maxLength: 3 }), head, body)
  .map(([interim, start, rest]) => bytesOf(interim.join("") + start + rest));
const places = fc.array(fc.nat(400), { maxLength: 12 });
const cause = word("closed", "reset", "time") as fc.Arbitrary<Cause>;
const options = fc.record({
  method: word("GET", "HEAD"),
  bodySizeMax: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(30)),
  interimCountMax: fc.nat(3),
});

describe("an answer", () => {
  it("is the same in any pieces, and to warc/", () => {
    fc.assert(fc.property(answer, places, cause, options, checkAnswer), { numRuns: 3000 });
  });

  it("of any bytes ends, and is the same to warc/", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), places, cause, options, checkAnswer));
    const likely = fc.stringMatching(/^[HTP/1. 0\r\n:a;x-]*$/).map(bytesOf);
    fc.assert(fc.property(likely, places, cause, options, checkAnswer), { numRuns: 1000 });
  });

  it("cut off anywhere is the same to warc/", () => {
    const bytes = bytesOf(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n00a\r\n0123456789\r\n0\r\nA: b\r\n\r\nextra",
    );
    for (let size = 0; size <= bytes.length; size++) {
      checkAnswer(bytes.subarray(0, size), [size >> 1, size >> 2], "closed", {});
      checkAnswer(bytes, [size], "closed", { bodySizeMax: size });
    }
  });

  const aroundLimit = [-2, -1, 0, 1, 2];
  const filler = (before: string, size: number, after = "") =>
    bytesOf(before + "y".repeat(Math.max(0, size - before.length - after.length)) + after);

  it.each(aroundLimit)("with a header that ends %i bytes from the limit is the same to warc/", (more) => {
    const size = HTTP_HEAD_SIZE_MAX + more;
    const bodies = ["", "hello", "5\r\nhello\r\n0\r\n\r\n"];
    for (const start of [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: ",
      "some text that is no header ",
      "<html>\r\n",
      "",
    ]) {
      for (const end of ["\r\n\r\n", "\n\n", "\n\r\r\r\r\n", ""]) {
        for (const rest of bodies) {
          const bytes = Buffer.concat([filler(start, size, end), bytesOf(rest)]);
          for (const bodySizeMax of [0, 3, Number.POSITIVE_INFINITY]) {
            checkAnswer(bytes, [1, size - 3, size - 2, size - 1, size, size + 1], "closed", { bodySizeMax });
          }
        }
      }
    }
  });

  it("with a header that never ends, a byte at a time, takes no more than its time", () => {
    const bytes = bytesOf(`HTTP/1.1 200 OK\n${"\r".repeat(HTTP_HEAD_SIZE_MAX)}`);
    const framer = new MessageFramer({ method: "GET", sink: { raw: () => {} } });
    let used = 0;
    for (let i = 0; i < bytes.length; i++) used += framer.push(bytes.subarray(i, i + 1));
    expect(framer.end).toBe("length");
    expect(framer.flaws).toContain("head-too-large");
    expect(used).toBe(HTTP_HEAD_SIZE_MAX);
  });
});
