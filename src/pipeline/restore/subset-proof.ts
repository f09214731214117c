/** Reads a subset back: its bytes are those that were meant, its records are sound, and none is a revisit. */
import { createHash } from "node:crypto";
import { ArchiveError, formatPlace, isDamage, type Warning } from "../../base/index.ts";
import { type ByteSource, WarcReader } from "../../warc/index.ts";

const READ_SIZE = 1 << 20;

/** Throws HT_VERIFY where anything is not as it should be. */
export function proveSubset(
  output: ByteSource,
  wanted: { readonly records: number; readonly size: number; readonly sha256: string },
): void {
  const fail = (message: string, offset = 0) => {
    const place = { file: output.name, offset };
    return new ArchiveError("HT_VERIFY", `${formatPlace(place)}: ${message}; it was thrown away`, place);
  };
  if (output.size !== wanted.size || hashOf(output) !== wanted.sha256) throw fail("other bytes than were written");
  const onWarning = (warning: Warning) => {
    if (isDamage(warning)) throw fail(warning.message, warning.offset);
  };
  const reader = new WarcReader(output, { onWarning });
  try {
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      if (record.type === "revisit") throw fail("a revisit", record.offset);
    }
    if (reader.recordCount !== wanted.records) throw fail(`${reader.recordCount} records instead of ${wanted.records}`);
  } finally {
    reader.close();
  }
}

function hashOf(source: ByteSource): string {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(READ_SIZE);
  for (let at = 0, count = source.read(buffer, 0); count > 0; count = source.read(buffer, at)) {
    hash.update(buffer.subarray(0, count));
    at += count;
  }
  return hash.digest("hex");
}
