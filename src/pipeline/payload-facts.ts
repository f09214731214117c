/** What a payload and how it is stored come down to: equal for two records exactly if one may stand for the other. */
import type { DigestAlgorithm } from "../base/index.ts";
import type { Examination } from "./reversal.ts";

/** Two payloads with one of these are the same; no two others are known. */
export const PAYLOAD_DIGEST: DigestAlgorithm = "sha256";

export interface PayloadFacts {
  readonly size: number;
  /** In hex. */
  readonly digest: string;
  readonly framing: string;
  /** The digest in the record's header, where it is that of the body as stored: then both must be cut into chunks alike. */
  readonly storedDigest: string | undefined;
}

/** Of a record that was examined with `PAYLOAD_DIGEST` asked for. */
export function payloadFacts({ scan, payloadDigest, storedDigest }: Examination): PayloadFacts {
  return { size: scan.payloadSize, digest: payloadDigest!.hex, framing: scan.framing, storedDigest };
}

export function equalPayloads(one: PayloadFacts, other: PayloadFacts): boolean {
  return (
    one.size === other.size &&
    one.digest === other.digest &&
    one.framing === other.framing &&
    one.storedDigest === other.storedDigest
  );
}
