/**
 * Turns the header of a captured response into that of a revisit record. Fields are changed where they stand and ours
 * are appended behind them, so that the original header can be put together again. The block is the HTTP header alone.
 */
import { ArchiveError, createHasher, type Digest, formatDigest, parseDigest } from "../base/index.ts";
import type { HttpHead } from "./http-head.ts";
import type { WarcRecord } from "./record.ts";

export type RevisitProfile = "identical-payload-digest" | "server-not-modified";

/** The record that holds the payload. */
export interface OriginalReference {
  readonly uri: string;
  /** Exactly as the original's WARC-Date is written. */
  readonly date: string;
  /** Without brackets. */
  readonly id?: string | undefined;
}

/** The profile's URI in the record's own version of the standard: 1.0 records have 1.0 profiles. */
export function profileUri(profile: RevisitProfile, version: string): string {
  return `http://netpreserve.org/warc/${version === "WARC/1.0" ? "1.0" : "1.1"}/revisit/${profile}`;
}

/** Reads the profile's URI of any version; the two that mean the same digest rule are one. */
export function parseProfile(uri: string | undefined): RevisitProfile | undefined {
  const name = /^<?https?:\/\/netpreserve\.org\/warc\/[\d.]+\/(?:revisit\/)?([a-z-]+)>?$/i.exec(uri ?? "")?.[1];
  switch (name?.toLowerCase()) {
    case "identical-payload-digest":
    case "uri-agnostic-identical-payload-digest":
      return "identical-payload-digest";
    case "server-not-modified":
      return "server-not-modified";
    default:
      return undefined;
  }
}

export interface Revisit {
  readonly head: Buffer;
  readonly block: Buffer;
}

/**
 * The revisit that stands for `record`. Its payload must be that of `original`, stored in the same framing. Everything
 * the record says of itself is kept: id, date, version line, unknown fields and their order.
 */
export function formatRevisit(
  record: WarcRecord,
  http: HttpHead,
  original: OriginalReference,
  payloadDigest: Digest,
  profile: RevisitProfile = "identical-payload-digest",
): Revisit {
  if (record.arc !== undefined) {
    throw new ArchiveError("HT_UNSUPPORTED", "an ARC file has no revisit records; convert it first", record);
  }
  const block = Buffer.from(http.text, "latin1");
  const claimed = record.payloadDigest === undefined ? undefined : parseDigest(record.payloadDigest);
  const added: [string, string][] = [
    ["WARC-Profile", profileUri(profile, record.version)],
    ["WARC-Refers-To-Target-URI", original.uri],
    ["WARC-Refers-To-Date", original.date],
  ];
  if (original.id !== undefined) added.splice(1, 0, ["WARC-Refers-To", `<${original.id}>`]);
  if (claimed === undefined) added.push(["WARC-Payload-Digest", formatDigest(payloadDigest)]);
  if (record.truncated === undefined) added.push(["WARC-Truncated", "length"]);
  const changed = changeFields(record, (name) => {
    switch (name) {
      case "warc-type":
        return "revisit";
      case "content-length":
        return String(block.length);
      case "warc-block-digest":
        return formatDigest(sameAlgorithm(record.blockDigest, block));
      case "warc-payload-digest":
        // One that could not be read is replaced by ours.
        return claimed === undefined ? formatDigest(payloadDigest) : undefined;
      default:
        return undefined;
    }
  });
  const without =
    claimed === undefined && record.payloadDigest !== undefined
      ? added.filter(([name]) => name !== "WARC-Payload-Digest")
      : added;
  const lines = without.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return { head: Buffer.concat([changed, Buffer.from(`${lines}\r\n`)]), block };
}

function sameAlgorithm(claim: string | undefined, block: Uint8Array): Digest {
  const algorithm = (claim === undefined ? undefined : parseDigest(claim)?.algorithm) ?? "sha1";
  const hasher = createHasher(algorithm);
  hasher.update(block);
  return hasher.finish();
}

/** The header's lines with some values changed, without the blank line. All other bytes stay. */
function changeFields(record: WarcRecord, change: (lowerName: string) => string | undefined): Buffer {
  const [versionLine, ...lines] = record.headers.text.match(/[^\n]*\n/g) ?? [];
  const kept = [versionLine ?? ""];
  let changed = false;
  for (const line of lines) {
    // A folded value goes as a whole.
    if (changed && /^[ \t]/.test(line)) continue;
    const field = /^([^:\s]+)[ \t]*:[ \t]*/.exec(line);
    const value = field === null ? undefined : change(field[1]!.toLowerCase());
    changed = value !== undefined;
    kept.push(changed ? `${field![0]}${value}${line.slice(Math.max(field![0].length, endOfValue(line)))}` : line);
  }
  while (/^\r*\n$/.test(kept.at(-1)!)) kept.pop();
  return Buffer.from(kept.join(""), "latin1");
}

/** Where the line end and the blanks before it begin. A regular expression would try every run of blanks. */
function endOfValue(line: string): number {
  let end = line.length;
  while (end > 0 && (line[end - 1] === "\n" || line[end - 1] === "\r")) end--;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end--;
  return end;
}
