/** What is wrong with a record that was read, as the warnings about it tell. */
import type { ErrorCode, Warning } from "../base/index.ts";

export type RecordDamage = "cut" | "checksum";

/** Behind one of these the rest of a record is missing. */
const CUT = new Set<ErrorCode>([
  "HT_RECORD_TRUNCATED",
  "HT_GZIP_HEADER",
  "HT_GZIP_DATA",
  "HT_GZIP_TRUNCATED",
  "HT_ZSTD_DATA",
  "HT_ZSTD_TRUNCATED",
  "HT_ZSTD_DICTIONARY",
  "HT_ZIP_DATA",
]);
const CHECKSUM = new Set<ErrorCode>(["HT_GZIP_CHECKSUM", "HT_ZSTD_CHECKSUM"]);

/** What warnings about a record mean for what was read of it. */
export function damageOf(warnings: readonly Warning[]): RecordDamage | undefined {
  if (warnings.some(({ code }) => CUT.has(code))) return "cut";
  return warnings.some(({ code }) => CHECKSUM.has(code)) ? "checksum" : undefined;
}
