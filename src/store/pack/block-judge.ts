/** Whether a block may stand for a content that came: only one whose bytes were read, or written, since the volume was opened. */
import { ArchiveError } from "../../base/index.ts";
import type { Codecs } from "../codec.ts";
import { equalContents, verifyStored } from "../content-check.ts";
import type { SignatureAlgorithm } from "../signature.ts";
import type { HeldData } from "./held-data.ts";
import type { PackCore } from "./pack-core.ts";
import type { BlockEntry } from "./pack-index.ts";
import type { Deposit } from "./record-making.ts";

/** Whether a block is a duplicate; one that is rotten cannot be read, or is not what its signature says. */
export type Verdict = "same" | "other" | "rotten";

export interface Judged {
  readonly place: string;
  readonly verdict: Verdict;
}

export function placeOf({ segment, offset }: Pick<BlockEntry, "segment" | "offset">): string {
  return `${segment}:${offset}`;
}

function rottenUnlessBug(error: unknown): "rotten" {
  if (error instanceof ArchiveError) return "rotten";
  throw error;
}

export class BlockJudge {
  private readonly codecs: Codecs;
  private readonly algorithm: SignatureAlgorithm;

  constructor(codecs: Codecs, algorithm: SignatureAlgorithm) {
    this.codecs = codecs;
    this.algorithm = algorithm;
  }

  /** Whether a block of its size and signature is a duplicate of the deposit. */
  judge(core: PackCore, entry: BlockEntry, deposit: Deposit, held: HeldData | undefined): Verdict | Promise<Verdict> {
    return deposit.duplicate === "bytes"
      ? this.compare(core, entry, deposit, held!)
      : this.prove(core, deposit.signature, entry);
  }

  /** Reads a block, unless this was done before. Small ones take no turn of the event loop. */
  private prove(core: PackCore, signature: string, entry: BlockEntry): Verdict | Promise<Verdict> {
    const place = placeOf(entry);
    if (core.proven.has(place)) return "same";
    const proved = (): Verdict => {
      core.proven.add(place);
      return "same";
    };
    const { codecs } = this;
    const { size, compression } = entry;
    const claim = { signature, size, compression };
    try {
      const data = core.read(entry);
      const later =
        data instanceof Promise
          ? data.then((bytes) => verifyStored(codecs, this.algorithm, claim, bytes))
          : verifyStored(codecs, this.algorithm, claim, data);
      return later === undefined ? proved() : later.then(proved, rottenUnlessBug);
    } catch (error) {
      return rottenUnlessBug(error);
    }
  }

  private async compare(core: PackCore, entry: BlockEntry, deposit: Deposit, held: HeldData): Promise<Verdict> {
    const { signature, compression, size } = deposit;
    let failure: { readonly error: unknown } | undefined;
    try {
      const there = { compression: entry.compression, size: entry.size, data: await core.read(entry) };
      const data = held instanceof Uint8Array ? held : held.data();
      if (await equalContents(this.codecs, { compression, size, data }, there)) return "same";
    } catch (error) {
      failure = { error };
    }
    const verdict = await this.prove(core, signature, entry);
    if (verdict === "rotten") return verdict;
    // The block is sound: so it is what it was compared with that could not be read.
    if (failure !== undefined) throw failure.error;
    return "other";
  }
}
