/**
 * Puts records together and compresses them into a sink: from a revisit of ours and one of the records that may be its
 * original, until one proves to be. Small ones in memory; large ones are read twice, and stream.
 */
import { ArchiveError, formatDigest, formatPlace } from "../../base/index.ts";
import type { ByteSink } from "../../disk/index.ts";
import type { ManifestLine } from "../manifest-line.ts";
import type { StoredMember } from "./member-recipe.ts";
import type { RecipeFinder } from "./member-recipe-finder.ts";
import type { Originals } from "./original.ts";
import type { RevisitPlan } from "./plan.ts";
import { type OwnRevisit, RecordHasher, restoredBlock, restoredHead } from "./record.ts";

const PIECES_MAX = 16;

export class RecordBuilder {
  private readonly originals: Originals;
  private readonly finder: RecipeFinder;
  private readonly sink: ByteSink;

  constructor(originals: Originals, finder: RecipeFinder, sink: ByteSink) {
    this.originals = originals;
    this.finder = finder;
    this.sink = sink;
  }

  /** Writes the record that the revisit stands for. Throws HT_NOT_FOUND or HT_VERIFY where that cannot be proven. */
  restore(plan: RevisitPlan, revisit: OwnRevisit, stored: StoredMember | undefined): void {
    let reason = "another payload than the one that was replaced";
    const { revisit: line, originals } = plan;
    for (const original of originals) {
      try {
        const alone = originals.length === 1;
        const done = this.originals.isHeld(original)
          ? this.restoreHeld(revisit, original, stored)
          : this.restoreStreaming(revisit, original, stored, alone);
        if (done) return;
      } catch (error) {
        if (!(error instanceof ArchiveError) || error.code === "HT_NO_SPACE") throw error;
        reason = error.message;
      }
    }
    const place = { file: line.file, offset: line.offset };
    if (originals.length > 0) {
      throw new ArchiveError("HT_VERIFY", `${formatPlace(place)}: cannot be restored: ${reason}`, place);
    }
    throw new ArchiveError(
      "HT_NOT_FOUND",
      `${formatPlace(place)}: ${missing(line)}; say where with --originals`,
      place,
    );
  }

  private restoreHeld(revisit: OwnRevisit, original: ManifestLine, stored: StoredMember | undefined): boolean {
    return this.originals.use(original, ({ chunks }) => {
      const pieces = [...restoredBlock(revisit, chunks)];
      const block = pieces.length > PIECES_MAX ? [Buffer.concat(pieces)] : pieces;
      const { head, blockSize } = restoredHead(revisit, block);
      if (digestOf(head, block) !== formatDigest(revisit.replaced.digest)) return false;
      this.write(head, block, blockSize, stored);
      return true;
    });
  }

  /** The payload is read twice: for the digests in the header, and for the body. */
  private restoreStreaming(
    revisit: OwnRevisit,
    original: ManifestLine,
    stored: StoredMember | undefined,
    alone: boolean,
  ): boolean {
    const wanted = formatDigest(revisit.replaced.digest);
    const { originals } = this;
    const { head } = originals.use(original, ({ chunks }) => restoredHead(revisit, restoredBlock(revisit, chunks)));
    // What is written cannot be taken back: where there is a choice, it has to be the right one.
    if (!alone) {
      const digest = originals.use(original, ({ chunks }) => digestOf(head, restoredBlock(revisit, chunks)));
      if (digest !== wanted) return false;
    }
    const hasher = new RecordHasher(head);
    originals.use(original, ({ chunks }) => {
      this.stream(head, hasher.pass(restoredBlock(revisit, chunks)), stored);
    });
    return hasher.finish() === wanted;
  }

  /** Writes a record that is all there. */
  write(head: Uint8Array, block: readonly Uint8Array[], blockSize: number, stored?: StoredMember): void {
    this.sink.write(this.finder.encode({ head, block }, head.length + blockSize, stored).bytes);
  }

  /** Writes a record of any size. */
  stream(head: Uint8Array, block: Iterable<Uint8Array>, stored?: StoredMember): void {
    this.finder.stream({ head, block }, stored, (bytes) => this.sink.write(bytes));
  }
}

/** What a revisit looks for, in words. */
export function missing({ original }: ManifestLine): string {
  if (original === undefined) return "the revisit names no original";
  const when = original.date === undefined ? "" : ` of ${original.date}`;
  return `its original is not there: ${original.uri ?? original.id}${when}`;
}

function digestOf(head: Uint8Array, block: Iterable<Uint8Array>): string {
  const hasher = new RecordHasher(head);
  for (const piece of block) hasher.update(piece);
  return hasher.finish();
}
