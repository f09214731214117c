/** Which record holds each payload, by which digests it is found, and whether any capture has it. */
import { formatDigest, parseDigest } from "../../base/index.ts";
import type { CaptureFacts, RecordFacts } from "../../pipeline/index.ts";
import { type CaptureKey, waitForDigest } from "../catalogue/capture-key.ts";
import { type CaptureRow, DIGEST_HALF, isHolder, type Payload, type RecordPlace } from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { FRAMINGS, type Framing, Table } from "../catalogue/catalogue-keys.ts";

export class Payloads {
  private readonly catalogue: Catalogue;
  private readonly woken: Set<CaptureKey>;

  /** Revisits that have to be looked at again are put into `woken`. */
  constructor(catalogue: Catalogue, woken: Set<CaptureKey>) {
    this.catalogue = catalogue;
    this.woken = woken;
  }

  /** A capture has this payload, and its record holds it; with `heals`, whatever record held it before. */
  hold(facts: RecordFacts, payload: Payload, place: RecordPlace, heals: boolean): void {
    this.enter(facts, payload, place, true, heals);
  }

  /** The record holds this payload, though its capture was removed. */
  offer(facts: RecordFacts, payload: Payload, place: RecordPlace): void {
    this.enter(facts, payload, place, false, false);
  }

  private enter(facts: RecordFacts, payload: Payload, place: RecordPlace, isHeld: boolean, heals: boolean): void {
    const { catalogue } = this;
    const capture = facts.capture!;
    const { sha256, sha1, size: payloadSize } = payload;
    const digest = sha256.subarray(0, DIGEST_HALF);
    const framing: Framing = capture.framing ?? "plain";
    const there = catalogue.original(digest, framing);
    const other = catalogue.original(digest, framing === "plain" ? "chunked" : "plain");
    const wasHeld = there?.isHeld === true || other?.isHeld === true;
    const isReferable = mayBeReferredTo(facts);
    // One that can be referred to is better than one that cannot.
    if (there === undefined || heals || (!there.isReferable && isReferable)) {
      const digestRest = sha256.subarray(DIGEST_HALF);
      const row = { place, payloadSize, digestRest, sha1, isReferable, isHeld: isHeld || there?.isHeld === true };
      catalogue.putOriginal(digest, framing, there, row, other !== undefined);
      catalogue.markOrphaned(digest, framing, !isHeld);
    } else if (isHeld && !there.isHeld) catalogue.putOriginal(digest, framing, there, { ...there, isHeld: true }, true);
    if (!wasHeld) this.wakeWaiting(`sha256:${capture.sha256!}`);
    for (const claim of claimsOf(capture)) this.addClaim(claim, digest, !wasHeld);
  }

  /** A revisit that we wrote has found its payload: it has it as the record had whose place it took. */
  claimFor({ capture }: RecordFacts, payload: Payload): void {
    const digest = payload.sha256.subarray(0, DIGEST_HALF);
    // One that has just become a duplicate was compared with what is held.
    const isNewlyHeld = capture?.sha256 === undefined && !this.isHeld(digest);
    if (isNewlyHeld) {
      for (const framing of FRAMINGS) {
        const row = this.catalogue.original(digest, framing);
        if (row !== undefined) this.catalogue.putOriginal(digest, framing, row, { ...row, isHeld: true }, true);
      }
      this.wakeWaiting(`sha256:${payload.sha256.toString("hex")}`);
      this.addClaim(formatDigest({ algorithm: "sha1", hex: payload.sha1.toString("hex") }), digest, true);
    }
    const claim = capture?.claim;
    const isOurs =
      claim?.startsWith("sha256:") === true || (capture?.sha256 !== undefined && capture.sha1 === undefined);
    // A removed capture may have told the same digest before, which proved nothing then.
    if (claim !== undefined && !isOurs) this.addClaim(claim, digest, isNewlyHeld);
  }

  private isHeld(digest: Buffer): boolean {
    return FRAMINGS.some((framing) => this.catalogue.original(digest, framing)?.isHeld === true);
  }

  private addClaim(claim: string, digest: Buffer, isNewlyHeld: boolean): void {
    const isNew = this.catalogue.addClaim(claim, digest);
    if (!isNew && !isNewlyHeld) return;
    this.wakeWaiting(claim);
    const others = this.catalogue.claimed(claim).filter((other) => !other.equals(digest));
    // The digest has become ambiguous for those who were led by it.
    for (const other of others) this.wakeRevisits(other);
  }

  private wakeWaiting(claim: string): void {
    if (this.catalogue.state.waiting === 0) return;
    for (const key of this.catalogue.listed(Table.waiting, waitForDigest(claim))) this.woken.add(key);
  }

  private wakeRevisits(digest: Buffer): void {
    for (const key of this.catalogue.seen(digest))
      if (this.catalogue.capture(key)?.kind === "revisit") this.woken.add(key);
  }

  /** A capture with this payload is gone; if it was the last, the payload is, too. */
  release({ payload, claim, place }: CaptureRow, entry: number): void {
    const { catalogue } = this;
    const digest = payload!.sha256.subarray(0, DIGEST_HALF);
    const isLast = !this.hasHolder(digest);
    if (isLast) {
      this.drop(digest);
      catalogue.markDropped(digest, entry);
    } else this.orphan(digest, place);
    // A digest that only its header told may prove nothing any more.
    if (isLast || claim !== undefined) this.wakeRevisits(digest);
  }

  /** A capture has another payload now. If no other has the one that it had, that is gone. */
  leave({ payload }: CaptureRow): void {
    const digest = payload?.sha256.subarray(0, DIGEST_HALF);
    if (digest === undefined || this.hasHolder(digest)) return;
    this.drop(digest);
    this.wakeRevisits(digest);
  }

  /** The record of a capture that is gone holds what others share: a compaction finds them another. */
  private orphan(digest: Buffer, { segment, offset, inner }: RecordPlace): void {
    for (const framing of FRAMINGS) {
      const place = this.catalogue.original(digest, framing)?.place;
      if (place?.segment === segment && place.offset === offset && place.inner === inner)
        this.catalogue.markOrphaned(digest, framing);
    }
  }

  private hasHolder(digest: Buffer): boolean {
    for (const key of this.catalogue.seen(digest)) {
      const row = this.catalogue.capture(key);
      if (row !== undefined && isHolder(row)) return true;
    }
    return false;
  }

  /** Forgets the records of a payload. */
  drop(digest: Buffer): void {
    for (const framing of FRAMINGS) this.catalogue.dropOriginal(digest, framing);
  }

  /** The same for one that was offered and that nobody wanted. */
  dropUnheld(digest: Buffer): void {
    if (!this.isHeld(digest)) this.drop(digest);
  }
}

/** What fails its checksum is kept, but nothing is to rely on it. */
export function mayBeReferredTo({ capture, damaged, date, uri }: RecordFacts): boolean {
  const { truncated, short, segmented, payloadSize = 0 } = capture!;
  const isWhole = truncated !== true && short !== true && segmented !== true && payloadSize > 0;
  return isWhole && damaged === undefined && date !== undefined && uri !== undefined;
}

export function sha1Of({ sha1, claim }: CaptureFacts): Buffer {
  return Buffer.from(sha1 ?? parseDigest(claim!)!.hex, "hex");
}

/** Digests by which a revisit may refer to a payload, beside its sha256. */
function claimsOf(capture: CaptureFacts): string[] {
  const { claim, lies } = capture;
  const sha1 = capture.sha1 === undefined ? claim! : formatDigest({ algorithm: "sha1", hex: capture.sha1 });
  const isOther = claim !== undefined && lies !== true && claim !== sha1 && !claim.startsWith("sha256:");
  return isOther ? [sha1, claim] : [sha1];
}
