import fc from "fast-check";
import { expect, test } from "vitest";
import { HTTP_HEAD_SIZE_MAX, mediaType, parseHttpHead, saysChunked } from "./http-head.ts";

function parse(text: string, complete = true) {
  const bytes = Buffer.from(text, "latin1");
  return parseHttpHead(bytes, 0, bytes.length, complete);
}

test.each([
  ["HTTP/1.1 200 OK\r\nA: 1\r\n\r\nbody", "HTTP/1.1 200 OK", 200, 25],
  ["HTTP/1.0 404\r\n\r\n", "HTTP/1.0 404", 404, 16],
  ["HTTP/1.1 200 OK\nA: 1\n\nbody\n\n", "HTTP/1.1 200 OK", 200, 22],
  ["HTTP/1.1 200 OK\r\r\nA: 1\r\r\n\r\r\nb", "HTTP/1.1 200 OK", 200, 28],
  ["HTTP/1.1\t301\tMoved\r\n\r\n", "HTTP/1.1\t301\tMoved", 301, 22],
  ["http/2 204 \r\n\r\n", "http/2 204", 204, 15],
  ["HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 OK", undefined, 15],
  ["HTTP/1.1 2000 x\r\n\r\n", "HTTP/1.1 2000 x", undefined, 19],
  ["ICY 200 OK\r\n\r\n", "ICY 200 OK", 200, 14],
  ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1", undefined, 27],
  ["M-SEARCH * HTTP/1.1\r\n\r\n", "M-SEARCH * HTTP/1.1", undefined, 23],
])("%j", (text, startLine, status, size) => {
  const head = parse(text)!;
  expect(head).toMatchObject({ startLine, status, terminated: true });
  expect(head.text).toBe(text.slice(0, size));
});

test.each([["<html>\r\n\r\n"], [""], ["\r\n\r\n"], ["\x00\x01\x02\n\n"], ["1 2\n\n"]])("%j is no message", (text) => {
  expect(parse(text)).toBeUndefined();
});

test("a header without its blank line ends with the bytes, once no more will come", () => {
  const text = "HTTP/1.1 200 OK\r\nA: 1\r\n";
  expect(parse(text, false)).toBeUndefined();
  expect(parse(text)).toMatchObject({ text, terminated: false, status: 200 });
  expect(parse(text)!.headers.get("a")).toBe("1");
  expect(parse("HTTP/1.1 200 OK")).toMatchObject({ startLine: "HTTP/1.1 200 OK", status: 200, terminated: false });
});

test("a header may be as large as the limit and no larger", () => {
  const start = "HTTP/1.1 200 OK\r\nA: ";
  const fits = `${start}${"x".repeat(HTTP_HEAD_SIZE_MAX - start.length - 4)}\r\n\r\n`;
  expect(parse(`${fits}body`)?.text.length).toBe(HTTP_HEAD_SIZE_MAX);
  expect(parse(`${start}x${fits.slice(start.length)}body`)).toBeUndefined();
});

test("bytes before and behind it, and bytes that are no Buffer", () => {
  const bytes = Uint8Array.from(Buffer.from("....HTTP/1.1 200 OK\r\nA: \xe9\r\n\r\n....", "latin1"));
  const head = parseHttpHead(bytes, 4, bytes.length - 4, true)!;
  expect(head.text).toBe("HTTP/1.1 200 OK\r\nA: \xe9\r\n\r\n");
  expect([...head.headers]).toEqual([["A", "é"]]);
});

test("its text is its bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.uint8Array({ maxLength: 20 }), (noise, body) => {
      const clean = Buffer.from(noise).filter((byte) => byte !== 10);
      const head = Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\nA: "), clean, Buffer.from("x\r\n\r\n")]);
      const parsed = parseHttpHead(Buffer.concat([head, body]), 0, head.length + body.length, true)!;
      expect(Buffer.from(parsed.text, "latin1").equals(head)).toBe(true);
    }),
  );
});

test("any bytes are a head or are not", () => {
  const piece = fc.constantFrom("HTTP/1.1", " ", "200", "\r", "\n", "A: 1", "GET ", "\xff");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (pieces, complete) => {
      const text = pieces.join("");
      const head = parse(text, complete);
      if (head !== undefined) expect(text.startsWith(head.text)).toBe(true);
      if (head !== undefined && !head.terminated) expect([head.text, complete]).toEqual([text, true]);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["Transfer-Encoding: chunked", true],
  ["transfer-encoding:  CHUNKED ", true],
  ["Transfer-Encoding: gzip, chunked", true],
  ["Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", true],
  ["Transfer-Encoding: chunked, gzip", false],
  ["Transfer-Encoding: identity", false],
  ["Transfer-Encoding: unchunked", false],
  ["Transfer-Encoding: chunked-not", false],
  ["Transfer-Encoding:", false],
  ["Content-Encoding: chunked", false],
])("%j says chunked: %s", (field, chunked) => {
  expect(saysChunked(parse(`HTTP/1.1 200 OK\r\n${field}\r\n\r\n`)!)).toBe(chunked);
});

test.each([
  ["text/html", "text/html"],
  [" Text/HTML ; charset=x", "text/html"],
  ["text/html;charset=x", "text/html"],
  ["text/html, text/plain", "text/html"],
  ["text/html charset=x", "text/html"],
  ["", undefined],
  [" ; x", undefined],
  [undefined, undefined],
])("the media type of %j", (value, type) => {
  expect(mediaType(value)).toBe(type);
});
