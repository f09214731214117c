/** Small archive files, built in memory for the tests of the command line. */
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { digestOf, formatDigest } from "../../src/base/index.ts";
import { type NewRecord, WarcWriter, type WriterOptions } from "../../src/warc/index.ts";

export interface CaptureOptions {
  readonly date?: string;
  readonly status?: string;
  readonly mime?: string;
  /** Chunked on the wire and as stored. */
  readonly chunked?: boolean;
  readonly headers?: string;
  /** A digest as text; or `transferred` or `stored`, for that of the payload in this form. */
  readonly digest?: string;
}

export const DATE = "2020-02-02T20:20:20Z";

/** The same text gives the same id. */
function recordId(text: string): string {
  const { hex } = digestOf("md5", Buffer.from(text));
  return `<urn:uuid:${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}>`;
}

export function chunk(body: Buffer): Buffer {
  const half = Math.ceil(body.length / 2);
  const pieces = [body.subarray(0, half), body.subarray(half)].filter((piece) => piece.length > 0);
  const framed = pieces.flatMap((piece) => [
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...framed, Buffer.from("0\r\n\r\n")]);
}

/** A captured HTTP response. */
export function response(uri: string, body: Uint8Array | string, options: CaptureOptions = {}): NewRecord {
  const { date = DATE, status = "200 OK", mime = "text/plain", chunked = false, digest = "transferred" } = options;
  const payload = Buffer.from(body);
  const stored = chunked ? chunk(payload) : payload;
  const framing = chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${payload.length}`;
  const head = `HTTP/1.1 ${status}\r\nContent-Type: ${mime}\r\n${framing}\r\n${options.headers ?? ""}\r\n`;
  const digested = digest === "transferred" ? payload : digest === "stored" ? stored : undefined;
  return {
    fields: [
      ["WARC-Type", "response"],
      ["WARC-Record-ID", recordId(`${uri} ${date}`)],
      ["WARC-Date", date],
      ["WARC-Target-URI", uri],
      ["WARC-Payload-Digest", digested === undefined ? digest : formatDigest(digestOf("sha1", digested))],
      ["Content-Type", "application/http; msgtype=response"],
    ],
    block: Buffer.concat([Buffer.from(head), stored]),
    blockDigest: true,
  };
}

/** A record of any other type. */
export function record(type: string, uri: string, contentType: string, block: string, extra: NewRecord["fields"] = []) {
  return {
    fields: [
      ["WARC-Type", type],
      ["WARC-Record-ID", recordId(`${type} ${uri} ${block}`)],
      ["WARC-Date", DATE],
      ["WARC-Target-URI", uri],
      ["Content-Type", contentType],
      ...extra,
    ],
    block: Buffer.from(block),
    blockDigest: true,
  } satisfies NewRecord;
}

export function revisit(uri: string, original: { uri: string; date: string }, digest?: string): NewRecord {
  return record("revisit", uri, "application/http; msgtype=response", "HTTP/1.1 200 OK\r\n\r\n", [
    ["WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"],
    ["WARC-Refers-To-Target-URI", original.uri],
    ["WARC-Refers-To-Date", original.date],
    ...(digest === undefined ? [] : [["WARC-Payload-Digest", digest] as [string, string]]),
  ]);
}

export function warcFile(records: Iterable<NewRecord>, options: WriterOptions = {}): Buffer {
  const parts: Buffer[] = [];
  const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) }, options);
  for (const each of records) writer.write(each);
  return Buffer.concat(parts);
}

export interface ArcRecord {
  readonly url: string;
  readonly mime: string;
  readonly block: string | Buffer;
  readonly date?: string;
  readonly ip?: string;
}

export const ARC_DATE = "20040506070809";

/** The header line of each record, without its line end, and the records as they lie in the file. */
export function arcRecords(version: 1 | 2, name: string, records: readonly ArcRecord[]) {
  const columns = version === 1 ? "" : " Result-code Checksum Location Offset Filename";
  const described = `${version} 0 Test\nURL IP-address Archive-date Content-type${columns} Archive-length\n`;
  const all = [{ url: `filedesc://${name}`, mime: "text/plain", block: described, ip: "0.0.0.0" }, ...records];
  return all.map(({ url, mime, block, ip = "192.0.2.7", ...rest }: ArcRecord) => {
    const bytes = Buffer.from(block);
    const middle = version === 1 ? "" : ` 200 - - 0 ${name}`;
    const line = `${url} ${ip} ${rest.date ?? ARC_DATE} ${mime}${middle} ${bytes.length}`;
    return {
      line,
      block: bytes,
      stored: Buffer.concat([Buffer.from(`${line}\n`, "latin1"), bytes, Buffer.from("\n")]),
    };
  });
}

export function arcFile(version: 1 | 2, name: string, records: readonly ArcRecord[]): Buffer {
  const stored = arcRecords(version, name, records).map((each) => each.stored);
  return Buffer.concat(name.endsWith(".gz") ? stored.map((bytes) => gzipSync(bytes)) : stored);
}

/** A ZIP file whose entries are stored, as those of a WACZ are, or deflated. */
export function zipFile(entries: Readonly<Record<string, Buffer>>, method = "stored"): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, data] of Object.entries(entries)) {
    const nameBytes = Buffer.from(name);
    const packed = method === "stored" ? data : deflateRawSync(data);
    // Shared by both headers: version, flags, method, time, date, CRC, sizes, size of the name, size of the extra field.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(method === "stored" ? 0 : 8, 4);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, nameBytes, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x00"), common, rest, nameBytes);
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(locals.length, 8);
  end.writeUInt16LE(locals.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}
