/** What captures, and revisits that wait for them, are found under in the catalogue. Obeys docs/format/archive.md. */
import { hash } from "node:crypto";

/** Each character one byte: 16 for the URL, 7 for the time, 1 to tell captures of one moment apart. */
export type CaptureKey = string;
/** Of what is shorter a site could find two URLs with one hash, whose captures would then be taken for each other's. */
export const URL_SIZE = 16;
const TIME_SIZE = 7;
export const CAPTURE_KEY_SIZE = URL_SIZE + TIME_SIZE + 1;
/** Times before 1970 sort before the others too. */
export const TIME_BIAS = 2 ** 52;
const WAIT_SIZE = 16;

/** The first bytes of a sha256, each a character. */
function shortHash(text: string, size: number): string {
  return hash("sha256", text, "binary").slice(0, size);
}

/** The last one that was asked for: it is asked for several times in a row. */
let lastUrl = { key: "", hash: shortHash("", URL_SIZE) };

export function urlHash(archiveKey: string): string {
  if (archiveKey !== lastUrl.key) lastUrl = { key: archiveKey, hash: shortHash(archiveKey, URL_SIZE) };
  return lastUrl.hash;
}

export function captureKey(url: string, timeMs: number, number: number): CaptureKey {
  const biased = timeMs + TIME_BIAS;
  const high = Math.floor(biased / 2 ** 32);
  const low = biased % 2 ** 32;
  const time = String.fromCharCode(
    (high >>> 16) & 255,
    (high >>> 8) & 255,
    high & 255,
    (low >>> 24) & 255,
    (low >>> 16) & 255,
    (low >>> 8) & 255,
    low & 255,
    number,
  );
  return url + time;
}

/** The URL and the time: the last byte tells captures of one moment apart. */
export function momentOf(key: CaptureKey): string {
  return key.slice(0, -1);
}

export function urlOf(key: CaptureKey): string {
  return key.slice(0, URL_SIZE);
}

export function timeOf(key: CaptureKey): number {
  let biased = 0;
  for (let i = URL_SIZE; i < URL_SIZE + TIME_SIZE; i++) biased = biased * 256 + key.charCodeAt(i);
  return biased - TIME_BIAS;
}

/** The key of the next capture of the same moment. */
export function nextKey(key: CaptureKey): CaptureKey {
  return key.slice(0, -1) + String.fromCharCode((key.charCodeAt(CAPTURE_KEY_SIZE - 1) + 1) & 255);
}

/** What a revisit waits for: a payload with the digest in its header, a capture of a URL in one second, or any of a URL. */
export function waitForClaim(claim: string): string {
  return shortHash(`claim ${claim}`, WAIT_SIZE);
}

export function waitForCapture(archiveKey: string, timeMs: number): string {
  return shortHash(`at ${Math.floor(timeMs / 1000)} ${archiveKey}`, WAIT_SIZE);
}

export function waitForUrl(archiveKey: string): string {
  return shortHash(`url ${archiveKey}`, WAIT_SIZE);
}
