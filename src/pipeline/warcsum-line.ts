/**
 * Lines of the original tools: six fields of warcsum (file, offset, length, URI, date, digest in hex), separated by
 * blanks; warccollres adds the hash extension, warcsumproc the copy number and for copies the original's URI and date.
 * docs/format/manifest.md compares them with ours.
 */
import { ArchiveError, type Digest, parseDigest } from "../base/index.ts";
import { formatColumn, type ManifestLine } from "./manifest-line.ts";

export interface WarcsumLine {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  readonly uri: string;
  readonly date: string;
  readonly digest: Digest;
}

const FIELDS = /^(\S+) (\d{1,15}) (\d{1,15}) (\S.*) (\S+) (\S+)$/;

/** Whether a line may be one of the original tools: ours has tabs. */
export function isWarcsumLine(text: string): boolean {
  return !text.includes("\t");
}

/** A line of six fields. A URI may have blanks in it; the fields around it have none. Throws HT_USAGE. */
export function parseWarcsumLine(text: string, place: string): WarcsumLine {
  const [, file, offset, length, uri, date, hex] = FIELDS.exec(text) ?? [];
  if (file === undefined) throw notWarcsum(place, "six fields are expected: file, offset, length, URI, date, digest");
  const digest = parseDigest(hex!);
  if (digest === undefined) throw notWarcsum(place, `not a digest: ${hex!.slice(0, 80)}`);
  return { file, offset: Number(offset), length: Number(length), uri: uri!, date: date!, digest };
}

const DIGEST_FIELD = /^.* ((?:md5|sha1|sha256|sha512|blake3):[0-9A-Za-z+/=_-]+)(?: |$)/;

/** The digest of a line with six fields or more, as it stands there; empty where there is none. */
export function warcsumDigest(text: string): string {
  return DIGEST_FIELD.exec(text)?.[1] ?? "";
}

function notWarcsum(place: string, message: string): ArchiveError {
  return new ArchiveError("HT_USAGE", `${place}: not a line of warcsum: ${message}`);
}

/**
 * A line as the original tools have it, with as many fields as are known. Absent for what they have no line for: revisits
 * and other records that are no responses, those that share their member with others, those without a URI or a date.
 */
export function formatWarcsumLine(line: ManifestLine): string | undefined {
  const { length, uri, date, flags, extension, copy, original } = line;
  const digest = line.digest === undefined ? undefined : parseDigest(line.digest);
  if (digest === undefined || length === undefined || uri === undefined || date === undefined) return undefined;
  if (flags.includes("revisit") || flags.includes("resource")) return undefined;
  const fields = [field(line.file), line.offset, length, field(uri), field(date), `${digest.algorithm}:${digest.hex}`];
  if (extension !== undefined || copy !== undefined) fields.push(extension ?? 0);
  if (copy !== undefined) fields.push(copy);
  if ((copy ?? 0) > 1) fields.push(field(original?.uri), field(original?.date));
  return fields.join(" ");
}

/** A blank in a value would make two fields of it. */
function field(value: string | undefined): string {
  return formatColumn(value).replaceAll(" ", "%20");
}
