/** What captures, and revisits that wait for them, are found under in the catalogue. Obeys docs/format/archive.md. */
import { hash } from "node:crypto";
import { shortHash } from "../../base/index.ts";
import { urlKey } from "../../url/index.ts";

/**
 * Each character one byte: the URL's key, a zero, 7 bytes for the time, and the record mark, which tells captures of one
 * moment apart. So captures lie in the order of URL keys and times.
 */
export type CaptureKey = string;

const TIME_SIZE = 7;
/** Half of it tells record ids apart, the other half what records with one id say of their payloads. */
const MARK_SIZE = 8;
const TAIL_SIZE = 1 + TIME_SIZE + MARK_SIZE;
/** Times before 1970 sort before the others too. */
const TIME_BIAS = 2 ** 52;
export const FIRST_MS = -(2 ** 51);
export const LAST_MS = 2 ** 51 - 1;
const WAIT_SIZE = 16;
const KEY_SIZE_MAX = 32_768;

/** The last one that was asked for: it is asked for several times in a row. */
let last = { uri: undefined as string | undefined, key: makeKey(undefined) };

/** The key that an archive files a URI under: its SURT; what has none, or too long a one, under a form of its own. */
export function archiveKey(uri: string | undefined): string {
  if (uri !== last.uri) last = { uri, key: makeKey(uri) };
  return last.key;
}

function makeKey(uri: string | undefined): string {
  // As they become when an ARC record is converted.
  const key = urlKey((uri ?? "").replace(/\p{Cc}/gu, encodeURIComponent));
  const own =
    key === "-" && uri !== undefined && uri !== "" ? `-${encodeURI(uri.replace(/\p{Surrogate}/gu, "\ufffd"))}` : key;
  if (own.length <= KEY_SIZE_MAX) return own;
  return `${own.slice(0, KEY_SIZE_MAX - 66)}~${hash("sha256", own, "hex")}`;
}

/** A number as so many bytes, the highest first. */
function bytesOf(value: number, size: number): string {
  const codes = new Array<number>(size);
  let rest = value;
  for (let i = size - 1; i >= 0; i--) {
    codes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return String.fromCharCode(...codes);
}

/** What the keys of all captures of a URL at one moment begin with. */
export function momentKey(urlKey: string, timeMs: number): string {
  return `${urlKey}\0${bytesOf(timeMs + TIME_BIAS, TIME_SIZE)}`;
}

export function captureKey(urlKey: string, timeMs: number, mark: string): CaptureKey {
  return momentKey(urlKey, timeMs) + mark;
}

export function momentOf(key: CaptureKey): string {
  return key.slice(0, -MARK_SIZE);
}

export function urlKeyOf(key: CaptureKey): string {
  return key.slice(0, -TAIL_SIZE);
}

export function timeOf(key: CaptureKey): number {
  let biased = 0;
  const end = key.length - MARK_SIZE;
  for (let i = end - TIME_SIZE; i < end; i++) biased = biased * 256 + key.charCodeAt(i);
  return biased - TIME_BIAS;
}

export function markIn(key: CaptureKey): string {
  return key.slice(-MARK_SIZE);
}

export function recordMark(id: string | undefined, claim: string | undefined): string {
  return idMark(id) + bytesOf(shortHash(claim ?? ""), MARK_SIZE / 2);
}

/** Stands for the mark of a removed record of which the journal does not tell it. */
export function formerMark(id: string | undefined): string {
  return idMark(id) + "\0".repeat(MARK_SIZE / 2);
}

/** What the marks of records with this id begin with. */
export function idMark(id: string | undefined): string {
  return bytesOf(shortHash(id ?? ""), MARK_SIZE / 2);
}

/** What revisits wait for: a payload with a digest, a capture of a URL in one second, a record with an id. */
export function waitForDigest(claim: string): string {
  return waitHash(`claim ${claim}`);
}

export function waitForSecond(urlKey: string, timeMs: number): string {
  return waitHash(`at ${Math.floor(timeMs / 1000)} ${urlKey}`);
}

export function waitForId(idMark: string): string {
  return waitHash(`id ${idMark}`);
}

/** A capture waits for a request with this id, which it names. */
export function waitForRequest(id: string): string {
  return waitHash(`request ${id}`);
}

function waitHash(text: string): string {
  return hash("sha256", text, "binary").slice(0, WAIT_SIZE);
}

/** Of a record that is no capture. */
export function noteHash(id: string): string {
  return hash("sha256", id, "binary").slice(0, MARK_SIZE);
}
