/**
 * Earlier holdings, as an index tells of them: a manifest, a CDX or a CDXJ file. A CDX says nothing of the size and the
 * framing of a payload; it is taken to be stored plainly, as most are.
 */
import { ArchiveError, formatDigest, formatIso, parseDigest, parseTimestamp } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import {
  type CdxEntry,
  type CdxLayout,
  detectCdxLayout,
  parseCdxHeader,
  parseCdxjHeader,
  parseCdxjLine,
  parseCdxLine,
} from "../warc/index.ts";
import { algorithmOf, MANIFEST_WIDTH, type ManifestLine, parseManifestLine } from "./manifest-line.ts";
import { readGivenLines } from "./text-lines.ts";

/** The captures of the index that can be referred to. */
export function* readKnown(disk: Disk, path: string): Generator<ManifestLine> {
  let layout: CdxLayout | undefined;
  let number = 0;
  for (const line of readGivenLines(disk, path)) {
    const place = `${path}:${++number}`;
    if (line === "" || parseCdxjHeader(line) !== undefined) continue;
    const header = parseCdxHeader(line);
    if (header !== undefined) {
      layout = header;
      continue;
    }
    if (line.split("\t", MANIFEST_WIDTH).length === MANIFEST_WIDTH && layout === undefined) {
      yield parseManifestLine(line, place);
      continue;
    }
    const cdxj = layout === undefined ? parseCdxjLine(line) : undefined;
    if (cdxj === undefined) layout ??= detectCdxLayout(line);
    const entry = cdxj ?? (layout === undefined ? undefined : parseCdxLine(line, layout));
    if (entry === undefined) throw new ArchiveError("HT_USAGE", `${place}: no line of a manifest, CDX or CDXJ`);
    const known = fromCdx(entry);
    if (known !== undefined) yield known;
  }
}

/**
 * Refuses an index that is none, is not there, or whose digests are all of another algorithm. It is read up to the first
 * line that fits.
 */
export function checkKnown(disk: Disk, path: string, algorithm: string): void {
  let other: string | undefined;
  for (const line of readKnown(disk, path)) {
    const own = algorithmOf(line);
    if (own === algorithm) return;
    other ??= own;
  }
  if (other === undefined) return;
  const message = `${path}: its digests are ${other}, those of the job ${algorithm}; choose --digest ${other}`;
  throw new ArchiveError("HT_USAGE", message, { file: path });
}

/** Absent where nothing can refer to the capture: a revisit, or one without digest. */
function fromCdx(entry: CdxEntry): ManifestLine | undefined {
  const digest = parseDigest(entry.digest ?? "", "sha1");
  const time = parseTimestamp(entry.timestamp);
  if (entry.mime === "warc/revisit" || digest === undefined || time === undefined || entry.url === undefined) return;
  return {
    file: entry.file ?? "-",
    offset: entry.offset ?? 0,
    length: entry.length,
    uri: entry.url,
    date: formatIso(time),
    digest: formatDigest(digest),
    payloadSize: undefined,
    status: entry.status,
    mime: entry.mime,
    framing: "plain",
    id: undefined,
    flags: [],
    extension: undefined,
    copy: undefined,
    original: undefined,
  };
}
