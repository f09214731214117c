/**
 * The form of a block: what it has beside the text of its HTTP header and its payload, as a hash. Two blocks with the same
 * header text, payload and form are the same bytes.
 */
import { hash } from "node:crypto";
import type { DigestAlgorithm } from "../base/index.ts";
import { type HttpHead, type RecordScan, type ScanRequest, scanRecord, type WarcRecord } from "../warc/index.ts";
import { layoutOf, StoredBody } from "./reversal.ts";

const STORED: DigestAlgorithm = "sha256";
const FORM_DIGITS = 16;

/**
 * Absent for the usual form: a plain body after a blank line. `cut` says how a chunked body is cut, and is absent for a
 * plain one.
 */
export function formOf(http: HttpHead | undefined, cut: string | undefined): string | undefined {
  if (http === undefined) return undefined;
  const end = http.text.slice(http.text.trimEnd().length);
  if (cut === undefined && end === "\r\n\r\n") return undefined;
  return hash("sha256", `${end} ${cut ?? "plain"}`, "hex").slice(0, FORM_DIGITS);
}

/** Reads the record to its end. */
export function scanForm(record: WarcRecord, request: ScanRequest): { scan: RecordScan; form: string | undefined } {
  const { block } = record;
  if (block !== undefined) {
    const scan = scanRecord(record, request);
    return { scan, form: formOf(scan.http, cutOf(scan, block)) };
  }
  const body = new StoredBody(record);
  const stored = [...(request.stored ?? []), STORED];
  const scan = scanRecord(record, { ...request, stored, onBlock: (bytes) => body.push(bytes) });
  return { scan, form: streamedForm(scan, body.finish()) };
}

/** Of a record that was scanned with its stored digest asked for. */
export function streamedForm(scan: RecordScan, layout: string | undefined): string | undefined {
  if (scan.framing === "plain") return formOf(scan.http, undefined);
  return formOf(scan.http, layout ?? scan.storedDigests.find(({ algorithm }) => algorithm === STORED)!.hex);
}

/** The layout of a body that is cut plainly; of any other, a digest of it as stored. */
function cutOf({ framing, http }: RecordScan, block: Uint8Array): string | undefined {
  if (framing === "plain") return undefined;
  return layoutOf(block, http!) ?? hash("sha256", block.subarray(http!.text.length), "hex");
}
