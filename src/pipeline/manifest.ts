/**
 * The manifest: a line for each record that holds a payload, with the digest of that payload. The first six columns are
 * those of WARCsum (file, offset, length, URI, date, digest); the others are ours. Obeys docs/format/manifest.md.
 */
import {
  type Digest,
  type DigestAlgorithm,
  ERROR_TABLE,
  formatDigest,
  isDamage,
  loadDigest,
  parseAlgorithm,
  parseDigest,
  type Warning,
} from "../base/index.ts";
import { isNotModified } from "../dedup/index.ts";
import {
  mediaType,
  type RecordScan,
  refersToOf,
  type ScanRequest,
  scanRecord,
  type WarcRecord,
} from "../warc/index.ts";
import { profileOf } from "./capture-line.ts";
import { formatColumn, formatManifestLine, needsEscape, parseManifestLine } from "./manifest-line.ts";
import type { RecordTask } from "./task.ts";
import { formatWarcsumLine } from "./warcsum-line.ts";

export interface ManifestOptions {
  readonly digest: DigestAlgorithm;
  /** Objects instead of columns. */
  readonly json?: boolean;
  /** The six fields of the original warcsum, for responses only. */
  readonly warcsum?: boolean;
  /** Take a digest of the asked algorithm from the header where there is one, instead of computing it. */
  readonly trustHeaders?: boolean;
  /** Lines for revisit records too, with the originals that they refer to. */
  readonly revisits?: boolean;
}

export async function createManifest(options: ManifestOptions): Promise<RecordTask> {
  await loadDigest(options.digest);
  return new Manifest(options);
}

class Manifest implements RecordTask {
  private readonly algorithm: DigestAlgorithm;
  private readonly plain: ScanRequest;
  private readonly both: ScanRequest;
  private readonly options: ManifestOptions;
  private file = "-";

  constructor(options: ManifestOptions) {
    const { digest: algorithm } = options;
    this.options = options;
    this.algorithm = algorithm;
    this.plain = { payload: [algorithm] };
    this.both = { payload: [algorithm], stored: [algorithm] };
  }

  beginFile(name: string): void {
    this.file = formatColumn(name);
  }

  record(record: WarcRecord, warn: (warning: Warning) => void): string {
    const { type } = record;
    const { warcsum = false } = this.options;
    if (type === "revisit" && this.options.revisits === true && !warcsum) return this.revisit(record);
    if (type !== "response" && type !== "resource") return "";
    const claim = record.payloadDigest;
    // Where the header's digest is of another algorithm it cannot be judged, and the stored form is of no interest.
    const judged = claim !== undefined && parseAlgorithm(claim) === this.algorithm;
    const trusted = judged && this.options.trustHeaders === true ? parseDigest(claim) : undefined;
    const scan = scanRecord(record, trusted !== undefined ? {} : judged ? this.both : this.plain);
    for (const finding of scan.findings) {
      warn({ ...finding, file: record.file, offset: record.offset });
    }
    record.drain();
    const digest = formatDigest(trusted ?? scan.payloadDigests[0]!);
    const verdict = verdictOf(claim, digest, { judged, trusted, scan });
    const mime = scan.http === undefined ? record.blockType : mediaType(scan.http.headers.get("content-type"));
    const flags = flagsOf(record, scan, verdict);
    if (this.options.json === true) return `${JSON.stringify(toObject(record, scan, digest, mime, flags))}\n`;
    const text =
      `${this.file}\t${record.offset}\t${record.length ?? "-"}\t${formatColumn(record.uri)}\t` +
      `${formatColumn(record.dateText)}\t${digest}\t${scan.payloadSize}\t${scan.http?.status ?? "-"}\t` +
      `${formatColumn(mime)}\t${scan.framing}\t${formatColumn(record.id)}\t${flags}`;
    const line = warcsum ? formatWarcsumLine(parseManifestLine(text, this.file)) : text;
    return line === undefined ? "" : `${line}\n`;
  }

  /** A revisit holds no payload: its digest is a claim, and its line tells what it refers to. */
  private revisit(record: WarcRecord): string {
    const status = scanRecord(record, {}).http?.status;
    record.drain();
    const claim = record.payloadDigest === undefined ? undefined : parseDigest(record.payloadDigest);
    const refersTo = refersToOf(record);
    const profile = profileOf(record);
    const flags = ["revisit", ...(record.inner === undefined ? [] : [`inner:${record.inner}`])];
    if (profile === "unknown") flags.push("unread");
    if (isNotModified({ profile, status })) flags.push("not-modified");
    if (record.warnings.some(isDamage)) flags.push("damaged");
    const line = {
      file: record.file,
      offset: record.offset,
      length: record.length,
      uri: record.uri,
      date: record.dateText,
      digest: claim === undefined ? undefined : formatDigest(claim),
      payloadSize: undefined,
      status: undefined,
      mime: undefined,
      framing: undefined,
      id: record.id,
      flags,
      extension: undefined,
      copy: undefined,
      original: refersTo === undefined ? undefined : { ...refersTo, file: undefined, offset: undefined },
    };
    return this.options.json === true ? `${JSON.stringify(line)}\n` : `${formatManifestLine(line)}\n`;
  }
}

function toObject(record: WarcRecord, scan: RecordScan, digest: string, mime: string | undefined, flags: string) {
  return {
    file: record.file,
    offset: record.offset,
    length: record.length ?? null,
    uri: record.uri ?? null,
    date: record.dateText ?? null,
    digest,
    payloadSize: scan.payloadSize,
    status: scan.http?.status ?? null,
    mime: mime ?? null,
    framing: scan.framing,
    id: record.id ?? null,
    flags: flags.split(","),
  };
}

interface Evidence {
  /** The claim is of the algorithm that was asked for. */
  readonly judged: boolean;
  /** The claim, where it was taken without a look at the bytes. */
  readonly trusted: Digest | undefined;
  readonly scan: RecordScan;
}

function verdictOf(claim: string | undefined, digest: string, { judged, trusted, scan }: Evidence): string {
  if (claim === undefined) return "none";
  if (trusted !== undefined) return "trusted";
  if (!judged) return "unchecked";
  if (claim === digest) return "transferred";
  const hex = parseDigest(claim)?.hex;
  if (scan.payloadDigests[0]!.hex === hex) return "transferred";
  return scan.storedDigests[0]!.hex === hex ? "stored" : "wrong";
}

/** What keeps a record from being an original or a duplicate, and how the digest in its header held. */
function flagsOf(record: WarcRecord, scan: RecordScan, verdict: string): string {
  let flags = `header-digest:${verdict}`;
  if (record.arc !== undefined) flags += ",arc";
  if (record.type === "resource") flags += ",resource";
  if (record.inner !== undefined) flags += `,inner:${record.inner}`;
  if (needsEscape(record.uri)) flags += ",escaped";
  if (scan.payloadSize === 0) flags += ",empty";
  if (record.truncated !== undefined) flags += ",truncated";
  if (record.segmented) flags += ",segmented";
  const broken = scan.findings.some((finding) => ERROR_TABLE[finding.code].kind === "damage");
  if (broken || !scan.complete || record.warnings.some(isDamage)) flags += ",damaged";
  return flags;
}
