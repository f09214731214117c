/**
 * Captures as the bytes of WARC records, with every choice that deduplication looks at. Made by code that shares
 * nothing with the writer; the same choices give the same bytes.
 */
import { gzipSync } from "node:zlib";
import { digestOf, formatDigest } from "../base/index.ts";
import type { Compression } from "../warc/index.ts";
import { compressedFrame } from "./zstd-frame.ts";

/** What the header says of the payload: nothing, the truth in several forms, or a lie. */
export type DigestForm = "none" | "transferred" | "stored" | "hex" | "sha256" | "wrong";

export interface CaptureText {
  readonly type?: string | undefined;
  readonly uri: string;
  readonly date: string;
  readonly payload: Uint8Array | string;
  /** Sizes of the chunks in which the body is stored; absent for a plain body. What they leave over is a last chunk. */
  readonly chunks?: readonly number[] | undefined;
  /** Stands behind the last chunk, in place of the blank line. */
  readonly trailer?: string | undefined;
  /** Behind each chunk size. */
  readonly chunkExtension?: string | undefined;
  readonly status?: string | undefined;
  readonly mime?: string | undefined;
  /** Where the HTTP header tells another length than the payload has. */
  readonly contentLength?: number | undefined;
  /** Further lines of the HTTP header, without line ends. */
  readonly http?: readonly string[] | undefined;
  /** The record has no HTTP header: its block is the payload. */
  readonly bare?: boolean | undefined;
  readonly digest?: DigestForm | undefined;
  /** Where it is not that of `digest`. */
  readonly digestText?: string | undefined;
  readonly blockDigest?: boolean | undefined;
  readonly version?: string | undefined;
  /** Further lines of the record's header, without line ends. */
  readonly lines?: readonly string[] | undefined;
  readonly brackets?: boolean | undefined;
  /** Absent for one that follows from URI and date; null for a record without. */
  readonly id?: string | null | undefined;
}

/** Bytes that do not compress, the same for the same name. */
export function noise(name: string, size: number): Buffer {
  const parts = Array.from({ length: Math.ceil(size / 64) }, (_, i) =>
    Buffer.from(digestOf("sha512", Buffer.from(`${name} ${i}`)).hex, "hex"),
  );
  return Buffer.concat(parts).subarray(0, size);
}

/** The same text gives the same id, without brackets. */
export function idOf(text: string): string {
  const { hex } = digestOf("md5", Buffer.from(text));
  return `urn:uuid:${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}`;
}

/** The body as it is stored: cut into chunks where it is asked for. */
export function storedBody(text: CaptureText): Buffer {
  const payload = Buffer.from(text.payload as Uint8Array);
  if (text.chunks === undefined) return payload;
  const { chunkExtension = "", trailer = "\r\n" } = text;
  const parts: Buffer[] = [];
  const put = (piece: Buffer) => {
    parts.push(Buffer.from(`${piece.length.toString(16)}${chunkExtension}\r\n`), piece, Buffer.from("\r\n"));
  };
  let at = 0;
  for (const size of text.chunks) {
    if (at < payload.length && size > 0) put(payload.subarray(at, at + size));
    at += size;
  }
  if (at < payload.length) put(payload.subarray(at));
  return Buffer.concat([...parts, Buffer.from(`0\r\n${trailer}`)]);
}

function digestText(form: DigestForm, payload: Buffer, stored: Buffer): string | undefined {
  switch (form) {
    case "none":
      return undefined;
    case "transferred":
      return formatDigest(digestOf("sha1", payload));
    case "stored":
      return formatDigest(digestOf("sha1", stored));
    case "hex":
      return `sha1:${digestOf("sha1", payload).hex}`;
    case "sha256":
      return formatDigest(digestOf("sha256", payload));
    case "wrong":
      return "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  }
}

/** Header, block and separator of the record. */
export function captureBytes(text: CaptureText): Buffer {
  const { type = "response", uri, date, status = "200 OK", mime = "text/plain", bare = type === "resource" } = text;
  const payload = Buffer.from(text.payload as Uint8Array);
  const stored = storedBody(text);
  const length = text.contentLength ?? payload.length;
  const framing = text.chunks === undefined ? `Content-Length: ${length}` : "Transfer-Encoding: chunked";
  const httpLines = [`HTTP/1.1 ${status}`, `Content-Type: ${mime}`, framing, ...(text.http ?? []), "", ""];
  const block = bare ? stored : Buffer.concat([Buffer.from(httpLines.join("\r\n"), "latin1"), stored]);
  const claim = text.digestText ?? digestText(text.digest ?? "transferred", payload, stored);
  const id = text.id === undefined ? idOf(`${type} ${uri} ${date}`) : text.id;
  return recordBytes(
    [
      text.version ?? "WARC/1.0",
      `WARC-Type: ${type}`,
      `WARC-Target-URI: ${text.brackets === true ? `<${uri}>` : uri}`,
      `WARC-Date: ${date}`,
      ...(claim === undefined ? [] : [`WARC-Payload-Digest: ${claim}`]),
      ...(id === null ? [] : [`WARC-Record-ID: <${id}>`]),
      ...(text.lines ?? []),
      ...(text.blockDigest === true ? [`WARC-Block-Digest: ${formatDigest(digestOf("sha1", block))}`] : []),
      `Content-Type: ${bare ? mime : "application/http; msgtype=response"}`,
    ],
    block,
  );
}

/** A record of any kind: its lines without Content-Length, and its block. */
export function recordBytes(lines: readonly string[], block: Uint8Array | string): Buffer {
  const bytes = Buffer.from(block as Uint8Array);
  const head = [...lines, `Content-Length: ${bytes.length}`, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from("\r\n\r\n")]);
}

export interface RevisitText {
  readonly uri: string;
  readonly date: string;
  readonly refersTo?: { readonly uri?: string; readonly date?: string; readonly id?: string };
  readonly digest?: string;
  readonly brackets?: boolean;
  /** Null for a revisit without. */
  readonly profile?: string | null;
  readonly http?: string;
  /** Further lines of the record's header, without line ends. */
  readonly lines?: readonly string[];
  /** Absent for one that follows from URI and date; null for a record without. */
  readonly id?: string | null;
}

/** A revisit that some crawler wrote. */
export function revisitBytes(text: RevisitText): Buffer {
  const { uri, date, refersTo = {}, digest, brackets = false } = text;
  const put = (value: string) => (brackets ? `<${value}>` : value);
  const { profile = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest" } = text;
  const id = text.id === undefined ? idOf(`revisit ${uri} ${date}`) : text.id;
  return recordBytes(
    [
      "WARC/1.0",
      "WARC-Type: revisit",
      `WARC-Target-URI: ${put(uri)}`,
      `WARC-Date: ${date}`,
      ...(profile === null ? [] : [`WARC-Profile: ${profile}`]),
      ...(digest === undefined ? [] : [`WARC-Payload-Digest: ${digest}`]),
      ...(refersTo.uri === undefined ? [] : [`WARC-Refers-To-Target-URI: ${put(refersTo.uri)}`]),
      ...(refersTo.date === undefined ? [] : [`WARC-Refers-To-Date: ${refersTo.date}`]),
      ...(refersTo.id === undefined ? [] : [`WARC-Refers-To: <${refersTo.id}>`]),
      ...(id === null ? [] : [`WARC-Record-ID: <${id}>`]),
      ...(text.lines ?? []),
      "Content-Type: application/http; msgtype=response",
    ],
    text.http ?? "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n",
  );
}

export interface RequestText {
  readonly uri: string;
  readonly date: string;
  readonly method?: string;
  /** Ids of captures that it belongs to, without brackets. */
  readonly concurrentTo?: readonly string[];
  /** Further lines of the HTTP header, without line ends. */
  readonly http?: readonly string[];
  readonly body?: string;
  /** Absent for one that follows from method, URI and date; null for a record without. */
  readonly id?: string | null;
}

export function requestBytes(text: RequestText): Buffer {
  const { uri, date, method = "GET", concurrentTo = [], http = [], body = "" } = text;
  const id = text.id === undefined ? idOf(`${method} ${uri} ${date}`) : text.id;
  return recordBytes(
    [
      "WARC/1.0",
      "WARC-Type: request",
      `WARC-Target-URI: ${uri}`,
      `WARC-Date: ${date}`,
      ...(id === null ? [] : [`WARC-Record-ID: <${id}>`]),
      ...concurrentTo.map((each) => `WARC-Concurrent-To: <${each}>`),
      "Content-Type: application/http; msgtype=request",
    ],
    `${[`${method} / HTTP/1.1`, `Content-Length: ${body.length}`, ...http, "", ""].join("\r\n")}${body}`,
  );
}

/** Records as a file of their own, each a member where there are members. Frames must have been loaded for zstd. */
export function packRecords(records: readonly Uint8Array[], compression: Compression = "gzip"): Buffer {
  const pack = { none: (record: Uint8Array) => record, gzip: gzipSync, zstd: compressedFrame }[compression];
  return Buffer.concat(records.map((record) => pack(record)));
}
