/** A file that is being written or was, as a source to read it back from. */
import type { DiskFile } from "../disk/index.ts";
import type { ByteSource } from "../warc/index.ts";

export function fileSource(file: DiskFile, name: string): ByteSource {
  return { name, seekable: true, size: file.size(), read: (into, position) => file.read(into, position) };
}
