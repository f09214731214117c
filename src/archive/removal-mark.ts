/** What a capture that was removed is known by, so that it does not come back with the same file. */
import { hash } from "node:crypto";

const SIZE = 16;

export function removalMark(archiveKey: string, timeMs: number, id: string | undefined): Buffer {
  return hash("sha256", `${timeMs} ${id ?? ""} ${archiveKey}`, "buffer").subarray(0, SIZE);
}
