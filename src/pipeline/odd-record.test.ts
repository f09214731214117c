/** Records that some reader of WARC files stops at, each tried with npm warcio, Python warcio, FastWARC and jwarc. */
import { describe, expect, it } from "vitest";
import { captureBytes, recordBytes, requestBytes } from "../testing/capture-text.ts";
import { bufferSource, WarcReader } from "../warc/index.ts";
import { readFacts } from "./record-facts.ts";

const CAPTURE = { uri: "http://a.example/", date: "2020-01-01T00:00:00Z", payload: "a page" };
const LARGE = "z".repeat(40_000);
const LF_ONLY = "HTTP/1.1 200 OK\nContent-Type: text/plain\n\n";
const HTTP = "Content-Type: application/http; msgtype=response";

function block(bytes: string, contentType = HTTP): Buffer {
  const lines = ["WARC-Type: response", `WARC-Target-URI: ${CAPTURE.uri}`, `WARC-Date: ${CAPTURE.date}`, contentType];
  return recordBytes(["WARC/1.0", ...lines], bytes);
}

function arc(url: string, bytes: string): Buffer {
  const line = (name: string, size: number) => `${name} 192.0.2.7 20040506070809 text/html ${size}\n`;
  const head = "1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n";
  return Buffer.from(`${line("filedesc://a.arc", head.length)}${head}\n${line(url, bytes.length)}${bytes}\n`, "latin1");
}

function isOdd(bytes: Buffer): boolean {
  const all = [...readFacts(new WarcReader(bufferSource(bytes)), "a.warc")];
  return all.at(-1)!.odd === true;
}

describe("an odd record", () => {
  it.each([
    ["a header of 40,000 bytes", captureBytes({ ...CAPTURE, lines: [`X-Long: ${LARGE}`] })],
    ["a URL of 40,000 bytes", captureBytes({ ...CAPTURE, uri: `http://a.example/${LARGE}` })],
    ["an HTTP header of 40,000 bytes", captureBytes({ ...CAPTURE, http: [`X-Long: ${LARGE}`] })],
    ["the HTTP header of a request of 40,000 bytes", requestBytes({ ...CAPTURE, http: [`X-Long: ${LARGE}`] })],
    ["an HTTP header of LF lines before a large payload", block(`${LF_ONLY}${LARGE}`)],
    ["a large block that should be an HTTP message", block(LARGE)],
    ["an ARC record with LF lines before a large payload", arc(CAPTURE.uri, `${LF_ONLY}${LARGE}`)],
    ["an ARC record with a long URL", arc(`http://a.example/${"z".repeat(20_000)}`, "a page")],
  ])("has %s", (_, bytes) => {
    expect(isOdd(bytes)).toBe(true);
  });

  it.each([
    ["a large payload", captureBytes({ ...CAPTURE, payload: LARGE })],
    ["a header of 20,000 bytes", captureBytes({ ...CAPTURE, lines: [`X-Long: ${LARGE.slice(0, 20_000)}`] })],
    ["a large body of a request", requestBytes({ ...CAPTURE, method: "POST", body: LARGE })],
    ["an HTTP header of LF lines before a small payload", block(`${LF_ONLY}a page`)],
    ["a large block that is no HTTP message", block(LARGE, "Content-Type: text/plain")],
    ["an ARC record with LF lines and a small payload", arc(CAPTURE.uri, `${LF_ONLY}a page`)],
    ["a large ARC record that is no HTTP message", arc("ftp://a.example/file", LARGE)],
  ])("is not one with %s", (_, bytes) => {
    expect(isOdd(bytes)).toBe(false);
  });
});
