/** Small WARC and ARC records as bytes, made the same each time, each with what a reader should say of it. */
import { digestOf } from "../base/index.ts";

export interface RecordText {
  readonly type: string;
  readonly uri: string | undefined;
  readonly head: Buffer;
  /** What a reader should give as the block. */
  readonly block: Buffer;
  /** The line ends behind the block. */
  readonly tail: Buffer;
  /** Of the block, sha1 in hex. */
  readonly digest: string;
}

export interface WarcText {
  readonly version?: string;
  readonly type: string;
  readonly uri?: string;
  readonly block: Uint8Array | string;
  readonly eol?: string;
  readonly brackets?: boolean;
  /** What Content-Length says, where that is not the size; `null` leaves it out. */
  readonly claim?: string | null;
  /** Lines that go in behind the others, without line ends. */
  readonly lines?: readonly string[];
  readonly tail?: string;
}

export function recordSize(record: RecordText): number {
  return record.head.length + record.block.length + record.tail.length;
}

export function recordBytes(record: RecordText): Buffer {
  return Buffer.concat([record.head, record.block, record.tail]);
}

export function warcText(text: WarcText): RecordText {
  const { version = "WARC/1.0", type, uri, eol = "\r\n", brackets = false, claim, lines = [] } = text;
  const block = Buffer.from(text.block as Uint8Array);
  const digest = digestOf("sha1", block).hex;
  const fields = [
    version,
    `WARC-Type: ${type}`,
    `WARC-Record-ID: <urn:uuid:${digest.slice(0, 8)}-0000-4000-8000-${digest.slice(8, 20)}>`,
    "WARC-Date: 2019-04-01T12:00:00Z",
    ...(uri === undefined ? [] : [`WARC-Target-URI: ${brackets ? `<${uri}>` : uri}`]),
    ...(type === "response" ? ["Content-Type: application/http; msgtype=response"] : []),
    ...lines,
    ...(claim === null ? [] : [`Content-Length: ${claim ?? block.length}`]),
  ];
  const head = Buffer.from(fields.map((line) => line + eol).join("") + eol);
  return { type, uri, head, block, tail: Buffer.from(text.tail ?? "\r\n\r\n"), digest };
}

export interface ArcText {
  readonly url: string;
  readonly block: Uint8Array | string;
  readonly mime?: string;
  readonly ip?: string;
  readonly date?: string;
  /** The fields of version 2 between mime type and length. */
  readonly more?: string;
}

export function arcText(text: ArcText): RecordText {
  const { url, mime = "text/html", ip = "192.0.2.1", date = "20040105000000", more } = text;
  const block = Buffer.from(text.block as Uint8Array);
  const middle = more === undefined ? mime : `${mime} ${more}`;
  const head = Buffer.from(`${url} ${ip} ${date} ${middle} ${block.length}\n`);
  const type = url.startsWith("filedesc:") ? "warcinfo" : url.startsWith("http") ? "response" : "resource";
  return { type, uri: url, head, block, tail: Buffer.from("\n"), digest: digestOf("sha1", block).hex };
}

const HTTP = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";

/** Four records of some 300 bytes each: an info, two responses, and one whose block is empty. */
export function fourWarcRecords(options: Partial<WarcText> = {}): RecordText[] {
  return [
    warcText({ ...options, type: "warcinfo", block: "software: a test\r\nformat: WARC File Format 1.0\r\n" }),
    warcText({ ...options, type: "response", uri: "http://example.org/", block: `${HTTP}<p>one</p>` }),
    warcText({
      ...options,
      type: "response",
      uri: "http://example.org/s%C3%A9cond?a=b",
      block: `${HTTP}${"<li>two</li>\n".repeat(9)}`,
    }),
    warcText({ ...options, type: "metadata", uri: "http://example.org/empty", block: "" }),
  ];
}

export function threeArcRecords(version: 1 | 2): RecordText[] {
  const more = version === 1 ? undefined : "200 - - 0 test.arc";
  const names =
    version === 1
      ? "URL IP-address Archive-date Content-type Archive-length"
      : "URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length";
  const base = more === undefined ? {} : { more };
  return [
    arcText({
      ...base,
      url: "filedesc://test.arc",
      ip: "0.0.0.0",
      mime: "text/plain",
      block: `${version} 0 Test\n${names}\n\n`,
    }),
    arcText({ ...base, url: "http://example.org/", block: `${HTTP}<p>one</p>` }),
    arcText({ ...base, url: "http://example.org/with blank", block: `${HTTP}<p>two\n\n</p>` }),
  ];
}
