/** Visits from lines of text: our own, or those of CDX and CDXJ indexes. */
import { ArchiveError, parseTimestamp } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { readGivenLines, readInputLines } from "../pipeline/index.ts";
import { urlKey } from "../url/index.ts";
import {
  type CdxEntry,
  type CdxLayout,
  detectCdxLayout,
  parseCdxDigest,
  parseCdxHeader,
  parseCdxjHeader,
  parseCdxjLine,
  parseCdxLine,
} from "../warc/index.ts";
import { parseHex, parseLineTime, parseValue, unescapeBytes } from "./timeline-text.ts";

export interface LoadedVisit {
  readonly key: Uint8Array;
  readonly time: number;
  /** Absent: gone. */
  readonly digest: Uint8Array | undefined;
  readonly value: Uint8Array;
}

/**
 * The visits of a file or of standard input (`-`), which may be compressed. A line without a digest or a time tells nothing
 * and is passed over; so is one that is none, but not the first: that is another kind of file.
 */
export function* readVisits(name: string, onSkipped: (why: string) => void): Generator<LoadedVisit> {
  if (name !== "-" && nodeDisk.stat(name)?.kind !== "file") {
    throw new ArchiveError("HT_NOT_FOUND", `${name}: no such file`, { file: name });
  }
  const parser = new VisitParser();
  let number = 0;
  let isKnown = false;
  for (const line of name === "-" ? readInputLines() : readGivenLines(nodeDisk, name)) {
    const place = `${name === "-" ? "standard input" : name}:${++number}`;
    try {
      const visit = parser.parse(line, place);
      isKnown ||= visit !== undefined;
      if (visit === "nothing") onSkipped(`${place}: no key, time or digest`);
      else if (visit !== undefined) yield visit;
    } catch (error) {
      if (!isKnown || !(error instanceof ArchiveError) || error.code !== "HT_USAGE") throw error;
      onSkipped(error.message);
    }
  }
}

class VisitParser {
  private layout: CdxLayout | undefined;

  /** Absent for an empty line and a header. */
  parse(line: string, place: string): LoadedVisit | "nothing" | undefined {
    if (line.trim() === "" || parseCdxjHeader(line) !== undefined) return undefined;
    const header = parseCdxHeader(line);
    if (header !== undefined) {
      this.layout = header;
      return undefined;
    }
    if (this.layout === undefined && line.includes("\t")) return parseOwnLine(line, place);
    const cdxj = this.layout === undefined ? parseCdxjLine(line) : undefined;
    if (cdxj === undefined) this.layout ??= detectCdxLayout(line);
    const entry = cdxj ?? (this.layout === undefined ? undefined : parseCdxLine(line, this.layout));
    if (entry === undefined) throw new ArchiveError("HT_USAGE", `${place}: neither a visit nor a line of CDX or CDXJ`);
    return fromCdx(entry) ?? "nothing";
  }
}

function parseOwnLine(line: string, place: string): LoadedVisit {
  const [key = "", time = "", digest = "", value = "", ...more] = line.replace(/\r$/, "").split("\t");
  if (more.length > 0) throw new ArchiveError("HT_USAGE", `${place}: more than four columns`);
  return {
    key: unescapeBytes(key, place),
    time: parseLineTime(time, place),
    digest: digest === "gone" ? undefined : parseHex(digest, place),
    value: digest === "gone" ? Buffer.alloc(0) : parseValue(value, place),
  };
}

/** The key is the SURT, the value what is left: status, media type, file, offset and length, as CDXJ has them. */
function fromCdx(entry: CdxEntry): LoadedVisit | undefined {
  const key = entry.urlKey ?? (entry.url === undefined ? undefined : urlKey(entry.url));
  const time = parseTimestamp(entry.timestamp.slice(0, 17));
  const digest = entry.digest === undefined ? undefined : parseCdxDigest(entry.digest);
  if (key === undefined || key === "" || time === undefined || digest === undefined) return undefined;
  const { status, mime, file, offset, length } = entry;
  const value = Buffer.from(JSON.stringify({ status, mime, file, offset, length }));
  return { key: Buffer.from(key), time, digest: Buffer.from(digest.hex, "hex"), value };
}
