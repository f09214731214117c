/** What is said of a catalogue whose bytes are not what was written. */
import { ArchiveError } from "../base/index.ts";

export function damagedRows(file: string, what: string, offset?: number): ArchiveError {
  const where = offset === undefined ? file : `${file}:${offset}`;
  const message = `${where}: the catalogue ${what}; \`holotype rebuild\` makes it again`;
  return new ArchiveError("HT_CORRUPT", message, { file, ...(offset === undefined ? {} : { offset }) });
}
