/** What the digests in lines of captures say about payloads: whether two are one, and whether one has a digest. */
import { parseAlgorithm } from "../base/index.ts";
import type { HeldLine } from "./capture-line.ts";

/** Two payloads that are not one. Digests of no common algorithm tell nothing. */
export function differ(one: HeldLine, other: HeldLine): boolean {
  if (one.size !== other.size) return true;
  if (one.start !== undefined && other.start !== undefined && one.start !== other.start) return true;
  return other.digests.some((digest) => isComputed(one, digest) && !one.digests.includes(digest));
}

/** Whether the digest is that of the record's payload, or of its body as stored. */
export function holds({ digests, stored }: HeldLine, digest: string): boolean {
  return digests.includes(digest) || stored?.includes(digest) === true;
}

function isComputed({ digests }: HeldLine, digest: string): boolean {
  const algorithm = parseAlgorithm(digest);
  return digests.some((own) => parseAlgorithm(own) === algorithm);
}

/** Whether nothing says that the record has another payload than the revisit claims. */
export function mayHold(held: HeldLine, claim: string | undefined): boolean {
  return claim === undefined || holds(held, claim) || held.lie === claim || !isComputed(held, claim);
}
