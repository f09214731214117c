/**
 * The manifest: a line for each record that holds a payload, with the digest of that payload. The first six columns are
 * those of WARCsum (file, offset, length, URI, date, digest); the others are ours. Obeys docs/format/manifest.md.
 */
import {
  type DigestAlgorithm,
  formatDigest,
  isDamage,
  loadDigest,
  parseAlgorithm,
  parseDigest,
  type Warning,
} from "../base/index.ts";
import { mediaType, type RecordScan, type ScanRequest, scanRecord, type WarcRecord } from "../warc/index.ts";
import type { RecordTask } from "./task.ts";

export interface ManifestOptions {
  readonly digest: DigestAlgorithm;
  /** Objects instead of columns. */
  readonly json?: boolean;
}

export const MANIFEST_COLUMNS = [
  "file",
  "offset",
  "length",
  "uri",
  "date",
  "digest",
  "payload size",
  "status",
  "mime",
  "framing",
  "record id",
  "flags",
] as const;

const UNSAFE = /[\t\n\r]/;

/** A value as a column: a tab or line end in it is percent-encoded, an absent one is a dash. */
function column(value: string | undefined): string {
  if (value === undefined || value === "") return "-";
  if (!UNSAFE.test(value)) return value;
  return value.replace(/[\t\n\r]/g, (c) => `%0${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

export async function createManifest(options: ManifestOptions): Promise<RecordTask> {
  await loadDigest(options.digest);
  return new Manifest(options);
}

class Manifest implements RecordTask {
  private readonly algorithm: DigestAlgorithm;
  private readonly plain: ScanRequest;
  private readonly both: ScanRequest;
  private readonly json: boolean;
  private file = "-";

  constructor({ digest: algorithm, json }: ManifestOptions) {
    this.algorithm = algorithm;
    this.json = json === true;
    this.plain = { payload: [algorithm] };
    this.both = { payload: [algorithm], stored: [algorithm] };
  }

  beginFile(name: string): void {
    this.file = column(name);
  }

  record(record: WarcRecord, warn: (warning: Warning) => void): string {
    const { type } = record;
    if (type !== "response" && type !== "resource") return "";
    const claim = record.payloadDigest;
    // Where the header's digest is of another algorithm it cannot be judged, and the stored form is of no interest.
    const judged = claim !== undefined && parseAlgorithm(claim) === this.algorithm;
    const scan = scanRecord(record, judged ? this.both : this.plain);
    for (const finding of scan.findings) {
      warn({ ...finding, file: record.file, offset: record.offset });
    }
    record.drain();
    const digest = formatDigest(scan.payloadDigests[0]!);
    const verdict = claim === undefined ? "none" : judged ? judge(claim, digest, scan) : "unchecked";
    const mime = scan.http === undefined ? record.blockType : mediaType(scan.http.headers.get("content-type"));
    const flags = flagsOf(record, scan, verdict);
    if (this.json) return `${JSON.stringify(toObject(record, scan, digest, mime, flags))}\n`;
    return (
      `${this.file}\t${record.offset}\t${record.length ?? "-"}\t${column(record.uri)}\t${column(record.dateText)}\t` +
      `${digest}\t${scan.payloadSize}\t${scan.http?.status ?? "-"}\t${column(mime)}\t` +
      `${scan.framing}\t${column(record.id)}\t${flags}\n`
    );
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

function judge(claim: string, digest: string, scan: RecordScan): "transferred" | "stored" | "wrong" {
  if (claim === digest) return "transferred";
  const hex = parseDigest(claim)?.hex;
  if (scan.payloadDigests[0]!.hex === hex) return "transferred";
  return scan.storedDigests[0]!.hex === hex ? "stored" : "wrong";
}

/** What keeps a record from being an original or a duplicate, and how the digest in its header held. */
function flagsOf(record: WarcRecord, scan: RecordScan, verdict: string): string {
  let flags = `header-digest:${verdict}`;
  if (record.inner !== undefined) flags += `,inner:${record.inner}`;
  if (scan.payloadSize === 0) flags += ",empty";
  if (record.truncated !== undefined) flags += ",truncated";
  if (record.segmented) flags += ",segmented";
  if (!scan.complete || record.warnings.some(isDamage)) flags += ",damaged";
  return flags;
}
