/** What captures that were removed are known by. */
import { hash } from "node:crypto";

const SIZE = 16;

/** So that one does not come back with the same file. */
export function removalMark(archiveKey: string, timeMs: number, id: string | undefined): Buffer {
  return hash("sha256", `${timeMs} ${id ?? ""} ${archiveKey}`, "buffer").subarray(0, SIZE);
}

/** The same for one record of those with that URL, time and id: by the mark of its row. */
export function recordRemovalMark(removalMark: Buffer, mark: Buffer): Buffer {
  return hash("sha256", Buffer.concat([removalMark, mark]), "buffer").subarray(0, SIZE);
}

/** So that revisits still find what it held that refer to it by URL and second; filed among digests in headers. */
export function momentClaim(archiveKey: string, timeMs: number): string {
  return `at ${Math.floor(timeMs / 1000)} ${archiveKey}`;
}
