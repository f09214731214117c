import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerReader, parseAnswerHead, UnfamiliarAnswer } from "./answer-reader.ts";

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,15}$/).filter((text) => !RESERVED.has(text.toLowerCase()));
const value = fc.stringMatching(/^[\x21-\x7e\xa1-\xff]{0,20}$/);
const RESERVED = new Set(["transfer-encoding", "content-length", "connection", "keep-alive"]);

const answers = fc.record({
  status: fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
  fields: fc.uniqueArray(fc.tuple(name, value), { selector: ([text]) => text.toLowerCase(), maxLength: 8 }),
  body: fc.uint8Array({ maxLength: 300 }),
});

function encode({ status, fields, body }: typeof answers extends fc.Arbitrary<infer T> ? T : never): Buffer {
  const lines = fields.map(([text, content]) => `${text}: ${content}\r\n`).join("");
  const head = `HTTP/1.1 ${status} Whatever\r\n${lines}Content-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}

/** Gives the bytes in pieces, each in the same buffer, as a connection does. */
function feed(reader: AnswerReader, bytes: Buffer, cuts: readonly number[]): "more" | "whole" | "large" {
  const shared = Buffer.alloc(bytes.length);
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  let state: "more" | "whole" | "large" = "more";
  for (const [i, start] of places.slice(0, -1).entries()) {
    const size = bytes.copy(shared, 0, start, places[i + 1]);
    state = reader.take(shared.subarray(0, size));
    shared.fill(0x78);
    if (state !== "more") break;
  }
  return state;
}

const cuts = fc.array(fc.nat(2000), { maxLength: 12 });

describe("an answer", () => {
  it("is read the same wherever it is cut", () => {
    fc.assert(
      fc.property(answers, cuts, (answer, places) => {
        const reader = new AnswerReader(false, 1000);
        expect(feed(reader, encode(answer), places)).toBe("whole");
        expect(reader.head!.status).toBe(answer.status);
        for (const [text, content] of answer.fields) expect(reader.head!.headers[text.toLowerCase()]).toBe(content);
        expect([...reader.body]).toEqual([...answer.body]);
      }),
    );
  });

  it("that is cut off is not taken for whole", () => {
    fc.assert(
      fc.property(answers, cuts, fc.nat(), (answer, places, end) => {
        const bytes = encode(answer);
        expect(feed(new AnswerReader(false, 1000), bytes.subarray(0, end % bytes.length), places)).toBe("more");
      }),
    );
  });

  it("with any bytes changed is one, or is none, and nothing else happens", () => {
    const changes = fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(answers, changes, cuts, (answer, bytes, places) => {
        const changed = encode(answer);
        for (const [at, byte] of bytes) changed[at % changed.length] = byte;
        const reader = new AnswerReader(false, 1000);
        try {
          const state = feed(reader, changed, places);
          if (state === "whole") expect(reader.body.length).toBe(Number(reader.head!.headers["content-length"]));
          expect(reader.body.length).toBeLessThanOrEqual(1000);
        } catch (error) {
          expect(error).toBeInstanceOf(UnfamiliarAnswer);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("of any bytes at all is none", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), cuts, (bytes, places) => {
        try {
          expect(feed(new AnswerReader(false, 1000), Buffer.from(bytes), places)).toBe("more");
        } catch (error) {
          expect(error).toBeInstanceOf(UnfamiliarAnswer);
        }
      }),
    );
  });

  it("that is larger than is held gives its head and what came of it", () => {
    const reader = new AnswerReader(false, 4);
    expect(reader.take(Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"))).toBe("large");
    expect(reader.head).toMatchObject({ status: 200, length: 5 });
    expect(reader.body.toString()).toBe("ab");
  });

  it("has a head of limited size", () => {
    const reader = new AnswerReader(false, 10);
    const line = Buffer.from(`X-${"y".repeat(1000)}: 1\r\n`);
    expect(reader.take(Buffer.from("HTTP/1.1 200 OK\r\n"))).toBe("more");
    expect(() => {
      for (let i = 0; i < 100; i++) reader.take(line);
    }).toThrow(UnfamiliarAnswer);
  });

  it("with more bytes than it announced is none", () => {
    const reader = new AnswerReader(false, 10);
    expect(() => reader.take(Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab"))).toThrow(UnfamiliarAnswer);
  });
});

describe("the head of an answer", () => {
  it.each([
    ["HTTP/1.1 204 No Content", false, { status: 204, length: 0, keptMs: undefined }],
    ['HTTP/1.1 304 Not Modified\r\nETag: "a"', false, { status: 304, length: 0 }],
    ["HTTP/1.1 200 OK\r\nContent-Length: 12", true, { status: 200, length: 0 }],
    ["HTTP/1.1 200\r\nContent-Length:12", false, { status: 200, length: 12 }],
    ["HTTP/1.1 204 x\r\nConnection: close", false, { keptMs: 0 }],
    ["HTTP/1.1 204 x\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60", false, { keptMs: 60_000 }],
    ["HTTP/1.1 204 x\r\nKeep-Alive: timeout=5, max=100", false, { keptMs: 5000 }],
  ])("%j is understood", (text, isToHead, head) => {
    expect(parseAnswerHead(text, isToHead)).toMatchObject(head);
  });

  it.each([
    "",
    "HTTP/1.0 200 OK\r\nContent-Length: 0",
    "HTTP/1.1 100 Continue",
    "HTTP/1.1 600 ?\r\nContent-Length: 0",
    "HTTP/1.1 200 OK",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\ncontent-length: 4",
    "HTTP/1.1 200 OK\r\nContent-Length: -3",
    "HTTP/1.1 200 OK\r\nContent-Length: 3, 3",
    "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999",
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n folded",
    "HTTP/1.1 200 OK\r\nContent-Length : 0",
    "HTTP/1.1 200 OK\r\nno field",
    "HTTP/1.1 200 OK\nContent-Length: 0",
    "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0",
    "HTTP/1.1 200 OK\r\nX: \x00\r\nContent-Length: 0",
  ])("%j is not", (text) => {
    expect(() => parseAnswerHead(text, false)).toThrow(UnfamiliarAnswer);
  });
});
