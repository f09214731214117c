/** What captures, and revisits that wait for them, are found under in the catalogue. Obeys docs/format/archive.md. */
import { hash } from "node:crypto";

/** Behind the byte of its table: 16 bytes for the URL, 8 for the time, 1 to tell captures of one moment apart. */
export type CaptureKey = Buffer;
export const URL_SIZE = 16;
export const CAPTURE_KEY_SIZE = URL_SIZE + 9;
/** Times before 1970 sort before the others too. */
export const TIME_BIAS = 2 ** 52;

/** The last one that was asked for: it is asked for several times in a row. */
let lastUrl = { key: "", hash: hash("sha256", "", "buffer").subarray(0, URL_SIZE) };

export function urlHash(archiveKey: string): Buffer {
  if (archiveKey !== lastUrl.key) {
    lastUrl = { key: archiveKey, hash: hash("sha256", archiveKey, "buffer").subarray(0, URL_SIZE) };
  }
  return lastUrl.hash;
}

export function captureKey(url: Buffer, timeMs: number, number: number): CaptureKey {
  const key = Buffer.alloc(CAPTURE_KEY_SIZE);
  url.copy(key);
  key.writeBigUInt64BE(BigInt(timeMs + TIME_BIAS), URL_SIZE);
  key[CAPTURE_KEY_SIZE - 1] = number;
  return key;
}

export function timeOf(key: CaptureKey): number {
  return Number(key.readBigUInt64BE(URL_SIZE)) - TIME_BIAS;
}

/** What a revisit waits for: a payload with the digest in its header, a capture of a URL in one second, or any of a URL. */
export function waitForClaim(claim: string): Buffer {
  return hash("sha256", `claim ${claim}`, "buffer").subarray(0, URL_SIZE);
}

export function waitForCapture(archiveKey: string, timeMs: number): Buffer {
  return hash("sha256", `at ${Math.floor(timeMs / 1000)} ${archiveKey}`, "buffer").subarray(0, URL_SIZE);
}

export function waitForUrl(archiveKey: string): Buffer {
  return hash("sha256", `url ${archiveKey}`, "buffer").subarray(0, URL_SIZE);
}
