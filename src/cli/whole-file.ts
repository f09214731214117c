/** Small files that a command needs as a whole. */
import { ArchiveError } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";

/** All of it or an error: rules that were cut off would show what they should hide. */
export function readWhole(path: string, sizeMax: number): Buffer {
  using file = nodeDisk.open(path, "read");
  const size = file.size();
  if (size > sizeMax) throw new ArchiveError("HT_TOO_LARGE", `${path}: larger than such a file may be`);
  const bytes = Buffer.alloc(size);
  let at = 0;
  for (let count = -1; at < size && count !== 0; at += count) count = file.read(bytes.subarray(at), at);
  if (at < size) throw new ArchiveError("HT_CHANGED", `${path}: became shorter while it was read`);
  return bytes;
}
