/** What captures, and revisits that wait for them, are found under in the catalogue. Obeys docs/format/archive.md. */
import { hash } from "node:crypto";
import { urlKey } from "../../url/index.ts";

/**
 * Each character one byte: the URL's key, a zero, 7 bytes for the time, and the record mark, which tells captures of one
 * moment apart. So captures lie in the order of URL keys and times.
 */
export type CaptureKey = string;

const TIME_SIZE = 7;
/** The first part of a mark tells record ids apart; the rest all that a record is known by. */
const ID_MARK_SIZE = 4;
const MARK_SIZE = 12;
export const NOTE_SIZE = 8;
/** How a mark is written in the journal. */
export const MARK_DIGITS = 2 * MARK_SIZE;
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

/** `told` is what the record is known by beside its id. */
export function recordMark(id: string | undefined, told: string): string {
  return idMark(id) + hash("sha256", `${id ?? ""} ${told}`, "binary").slice(0, MARK_SIZE - ID_MARK_SIZE);
}

/**
 * Stands for the mark of a removed record of which the journal tells another one, of an earlier version, or none: `former`,
 * up to four bytes of that, keeps records with one id apart.
 */
export function formerMark(id: string | undefined, former: string): string {
  return (idMark(id) + former).padEnd(MARK_SIZE, "\0");
}

export function isFormerMark(mark: string): boolean {
  return mark.endsWith("\0\0\0\0");
}

/** What the marks of records with this id begin with. */
export function idMark(id: string | undefined): string {
  return hash("sha256", id ?? "", "binary").slice(0, ID_MARK_SIZE);
}

/** The same of the capture with this key. */
export function idMarkIn(key: CaptureKey): string {
  return markIn(key).slice(0, ID_MARK_SIZE);
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

/** What the records that continue the one with this id are listed under. */
export function segmentsOf(id: string): string {
  return waitHash(`segments ${id}`);
}

function waitHash(text: string): string {
  return hash("sha256", text, "binary").slice(0, WAIT_SIZE);
}

/** What a record that is no capture is known by. */
export interface NoteFacts {
  readonly type: string;
  readonly id?: string | undefined;
  readonly uri?: string | undefined;
  readonly timeMs?: number | undefined;
  /** A digest of its block. */
  readonly block?: string | undefined;
}

export function noteMark({ type, id, uri, timeMs, block }: NoteFacts): string {
  // What has no date gets the first of 1970 when it is converted.
  const text = [type, id, timeMs ?? 0, block, uri].map((each) => each ?? "").join(" ");
  return hash("sha256", text, "binary").slice(0, NOTE_SIZE);
}
