/**
 * Finds the recipe that a file's records were compressed by, from those that are still as they were, and goes on with
 * it. Where a record does not come out as it was, the others are tried again; how much is compressed in vain is bounded.
 */
import type { Compression } from "../../warc/index.ts";
import {
  digestText,
  GZIP_HEADER_DEFAULT,
  type MemberContent,
  MemberEncoder,
  type MemberRecipe,
  recipesFor,
  type StoredMember,
} from "./member-recipe.ts";

/** A record as bytes, and the member that holds it. */
export interface MemberSample {
  readonly content: MemberContent;
  readonly size: number;
  readonly stored: StoredMember;
}

export interface EncodedMember {
  readonly bytes: Buffer;
  /** The bytes are those that were asked for. */
  readonly identical: boolean;
}

/** Bytes of records that may be compressed in vain for one file. At 20 MB a second, `pako` takes two seconds for its share. */
const VAIN_FAST_MAX = 96 << 20;
const VAIN_SLOW_MAX = 40 << 20;
/** So many records in a row that no recipe gives: the compressor is one that is not here. */
const MISSES_MAX = 6;

export class RecipeFinder {
  private readonly encoder: MemberEncoder;
  /** Those that held last come first. */
  private readonly recipes: MemberRecipe[];
  private vainFast = 0;
  private vainSlow = 0;
  private misses = 0;
  private header: Uint8Array = GZIP_HEADER_DEFAULT;

  constructor(compression: Compression, dictionary: Uint8Array | undefined) {
    this.encoder = new MemberEncoder(dictionary);
    this.recipes = recipesFor(compression, dictionary !== undefined);
  }

  /** The recipe at hand. */
  get recipe(): MemberRecipe {
    return this.recipes[0]!;
  }

  /** Looks for the first recipe that gives all samples; where there is none, nothing changes. */
  learn(samples: readonly MemberSample[]): void {
    const [first] = samples;
    if (first === undefined) return;
    const { gzipHeader } = first.stored;
    // A longer one tells of its own record: name, time, sizes.
    if (gzipHeader?.length === GZIP_HEADER_DEFAULT.length) this.header = Buffer.from(gzipHeader);
    const found = this.recipes.find((recipe) => samples.every((sample) => this.gives(recipe, sample)));
    if (found !== undefined) this.prefer(found);
  }

  private prefer(recipe: MemberRecipe): void {
    this.recipes.splice(this.recipes.indexOf(recipe), 1);
    this.recipes.unshift(recipe);
  }

  private gives(recipe: MemberRecipe, { content, size, stored }: MemberSample): boolean {
    if (!this.mayTry(recipe, size)) return false;
    const { identical } = this.encodeBy(recipe, content, stored);
    if (!identical) this.countVain(recipe, size);
    return identical;
  }

  private mayTry(recipe: MemberRecipe, size: number): boolean {
    return recipe.codec === "pako" ? this.vainSlow + size <= VAIN_SLOW_MAX : this.vainFast + size <= VAIN_FAST_MAX;
  }

  private countVain(recipe: MemberRecipe, size: number): void {
    if (recipe.codec === "pako") this.vainSlow += size;
    else this.vainFast += size;
  }

  private encodeBy(recipe: MemberRecipe, content: MemberContent, stored: StoredMember | undefined): EncodedMember {
    const pieces: Buffer[] = [];
    const header = stored?.gzipHeader ?? this.header;
    this.encoder.encode(recipe, content, header, (bytes) => void pieces.push(Buffer.from(bytes)));
    const bytes = Buffer.concat(pieces);
    return { bytes, identical: bytes.length === stored?.length && digestText(bytes) === stored.digest };
  }

  /**
   * The record as a member: as it was, where a recipe for that is found, else by the recipe at hand. The content must be
   * there to be read again.
   */
  encode(content: MemberContent, size: number, stored: StoredMember | undefined): EncodedMember {
    const first = this.encodeBy(this.recipe, content, stored);
    if (first.identical || stored === undefined) {
      this.misses = 0;
      return first;
    }
    if (this.misses >= MISSES_MAX) return first;
    this.countVain(this.recipe, size);
    for (const recipe of this.recipes.slice(1)) {
      if (!this.mayTry(recipe, size)) continue;
      const other = this.encodeBy(recipe, content, stored);
      if (other.identical) {
        this.prefer(recipe);
        this.misses = 0;
        return other;
      }
      this.countVain(recipe, size);
    }
    this.misses++;
    return first;
  }

  /** The same for a record that is too large to be held: by the recipe at hand, in one go. */
  stream(content: MemberContent, stored: StoredMember | undefined, emit: (bytes: Uint8Array) => void): void {
    this.encoder.encode(streamable(this.recipe), content, stored?.gzipHeader ?? this.header, emit);
  }
}

/** The recipe that needs the whole record at once has a near relation that does not. */
function streamable(recipe: MemberRecipe): MemberRecipe {
  return recipe.codec === "node" ? { ...recipe, memLevel: 8 } : recipe;
}
