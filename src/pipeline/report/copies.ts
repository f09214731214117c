/** How often payloads occur, counted as their records go by: all records of one payload come together. */
import { invariant } from "../../base/index.ts";
import type { ManifestLine } from "../manifest-line.ts";
import type { Collisions, CopyClass } from "./shape.ts";

/** Classes of the number of copies, from and up to. */
const CLASSES: readonly (readonly [number, number | undefined])[] = [
  [1, 1],
  [2, 2],
  [3, 5],
  [6, 10],
  [11, 100],
  [101, undefined],
];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class CopyCounter {
  private readonly classes: Mutable<CopyClass>[] = CLASSES.map(([from, to]) => {
    return { from, to, payloads: 0, records: 0, payloadBytes: 0, repeatedBytes: 0 };
  });
  private readonly collisions: Mutable<Collisions> = { digests: 0, payloads: 0, resolvedRecords: 0 };
  private digest: string | undefined;
  private extension = 0;
  /** Payloads of the present digest that were told apart. */
  private extensions = 0;
  private records = 0;
  private payloadBytes = 0;
  private size = 0;

  /** Lines without a digest are passed over. */
  add(line: ManifestLine): void {
    const { digest } = line;
    if (digest === undefined) return;
    // As the plan takes it: what nobody compared is taken for the first payload of its digest.
    const extension = line.extension ?? 0;
    if (digest !== this.digest) {
      this.endDigest();
      this.digest = digest;
      this.extension = extension;
      this.extensions = 1;
    } else if (extension !== this.extension) {
      this.endPayload();
      this.extension = extension;
      this.extensions++;
    }
    if (line.extension !== undefined) this.collisions.resolvedRecords++;
    this.size = line.payloadSize ?? 0;
    this.records++;
    this.payloadBytes += this.size;
  }

  /** Ends the payload under way; what comes behind it is taken for another. */
  finish(): { copies: CopyClass[]; collisions: Collisions; payloads: number } {
    this.endDigest();
    const payloads = this.classes.reduce((sum, { payloads }) => sum + payloads, 0);
    return { copies: this.classes.map((row) => ({ ...row })), collisions: { ...this.collisions }, payloads };
  }

  private endDigest(): void {
    this.endPayload();
    if (this.extensions > 1) {
      this.collisions.digests++;
      this.collisions.payloads += this.extensions;
    }
    this.digest = undefined;
    this.extensions = 0;
  }

  private endPayload(): void {
    if (this.records === 0) return;
    const row = this.classes.find(({ to }) => to === undefined || this.records <= to);
    invariant(row !== undefined, "the last class has no end");
    row.payloads++;
    row.records += this.records;
    row.payloadBytes += this.payloadBytes;
    row.repeatedBytes += this.payloadBytes - this.size;
    this.records = 0;
    this.payloadBytes = 0;
  }
}
