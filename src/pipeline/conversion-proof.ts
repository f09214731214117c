/** Proof that two archive files hold the same records, though one was converted from the other. */
import { ArchiveError, createHasher, formatDigest, formatPlace, isDamage, type Warning } from "../base/index.ts";
import { type ByteSource, scanRecord, WarcReader, type WarcRecord } from "../warc/index.ts";
import { arcLineOf, keptArcLine } from "./arc-conversion.ts";

/** A digest over the headers and blocks of all records, in order: equal for two files exactly if those are. */
export class Proof {
  private readonly hasher = createHasher("sha256");
  private count = 0;

  add(head: string, blockDigest: string): void {
    this.hasher.update(Buffer.from(JSON.stringify([head, blockDigest])));
    this.count++;
  }

  finish(): string {
    return `${this.count} records, ${formatDigest(this.hasher.finish())}`;
  }
}

/** What is damaged would be lost in a conversion, or would look sound. */
export function refuseDamage(warning: Warning): void {
  if (!isDamage(warning)) return;
  const message = `${formatPlace(warning)}: ${warning.message}; a damaged file is not converted`;
  throw new ArchiveError(warning.code, message, warning);
}

function addRecord(proof: Proof, head: string, record: WarcRecord): void {
  const { blockDigests } = scanRecord(record, { block: ["sha256"] });
  proof.add(head, formatDigest(blockDigests[0]!));
}

/** The proof of a file that is to be converted. */
export function proveInput(source: ByteSource): { proof: string; records: number; fromArc: boolean } {
  const proof = new Proof();
  const reader = new WarcReader(source, { onWarning: refuseDamage });
  for (const record of reader)
    addRecord(proof, record.arc === undefined ? record.headers.text : arcLineOf(record), record);
  return { proof: proof.finish(), records: reader.recordCount, fromArc: reader.format === "arc" };
}

/** The proof of a file that came out of a conversion; equal to that of the input if nothing was lost. */
export function proveOutput(source: ByteSource, fromArc: boolean): string {
  const proof = new Proof();
  const reader = new WarcReader(source, { onWarning: refuseDamage });
  for (const record of reader) {
    // The warcinfo record that a conversion from ARC begins with has no counterpart in the input.
    if (fromArc && reader.recordCount === 1) continue;
    addRecord(proof, fromArc ? (keptArcLine(record) ?? "") : record.headers.text, record);
  }
  return proof.finish();
}
