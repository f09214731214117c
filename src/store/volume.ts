/**
 * What a volume does, whatever it is made of: a tree of files, WARC segments, a server elsewhere. A volume knows blocks,
 * their compressed bytes and their counters; which volume a content goes to is the instance's business.
 *
 * What every volume promises:
 * 1. A call resolves only when what it says is durable.
 * 2. A request with an id that was carried out before is not carried out again; it gets the same answer. The same id for
 *    another content or operation is refused (HT_USAGE). The last 100,000 ids are remembered, at least.
 * 3. Blocks with one signature are told apart by their overflow numbers; a number is never given to two blocks that are
 *    there at the same time.
 * 4. The content of a block has the signature and the size that its address and header tell, or it was not accepted.
 * 5. A block stands for a content that came again only if its bytes were read, or written, since the volume was opened, and
 *    are what its signature says. One that cannot be read is replaced by the bytes that came, with its counter and keys,
 *    where equal signatures mean equal contents; where they may collide, it is left alone.
 * 6. A call that throws has changed nothing, but for one whose durability is in doubt (HT_IO, HT_NO_SPACE): said again
 *    with its id, that one counts once. Where data comes in pieces and its source throws, that error comes through.
 * 7. A counter never goes beyond `REFERENCES_MAX`: what would make it do so is refused with HT_TOO_LARGE.
 */
import type { BlockAddress } from "./content-key.ts";
import type { SignatureAlgorithm } from "./signature.ts";
import type { SignatureFilter } from "./signature-filter.ts";

/**
 * What counts as a duplicate. `regular`: the same signature and size. `compare`: the same bytes. `force-new`: nothing.
 */
export const STORE_MODES = ["regular", "compare", "force-new"] as const;
export type StoreMode = (typeof STORE_MODES)[number];

/** A read-only volume takes no new contents; it still counts references, deletes and serves. */
export const VOLUME_STATES = ["writable", "read-only"] as const;
export type VolumeState = (typeof VOLUME_STATES)[number];

/** The version of the blocks that we write. */
export const BLOCK_VERSION = 1;
export const REFERENCES_MAX = 0xffff_ffff;

/** A block's header, and its address. */
export interface BlockInfo extends BlockAddress {
  /** Bytes of the content. */
  readonly size: number;
  /** Bytes of the content as compressed. */
  readonly storedSize: number;
  /** The name of a codec. */
  readonly compression: string;
  readonly references: number;
}

/** Bytes as compressed: all at once, or piece by piece where there are too many. Pieces are valid until the next one. */
export type BlockData = Uint8Array | AsyncIterable<Uint8Array>;

export interface ReferRequest {
  readonly signature: string;
  readonly size: number;
  /** Names the request: said again, it counts once. 1 to 128 characters of ASCII without blanks, or HT_USAGE. */
  readonly requestId?: string | undefined;
  /** Given, the block must also have these bytes: the `compare` mode. */
  readonly compared?: { readonly compression: string; readonly data: BlockData } | undefined;
}

export interface StoreRequest {
  readonly signature: string;
  readonly size: number;
  readonly mode: StoreMode;
  readonly compression: string;
  readonly data: BlockData;
  readonly requestId?: string | undefined;
}

/** A reference that is counted among many stores, as `refer` does it. */
export interface CountRequest {
  readonly signature: string;
  readonly size: number;
  readonly requestId?: string | undefined;
  readonly data?: undefined;
}

/** One request among many: a content to be stored, or one that is hoped to be there. */
export type BulkRequest = StoreRequest | CountRequest;

/** What became of a content: a block of its own, or a reference to one. Its header is as it was right after. */
export interface StoreReceipt extends BlockInfo {
  readonly outcome: "new" | "duplicate";
}

/** Part of the compressed bytes; `end` is the offset behind the last one. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface OpenBlock extends BlockInfo {
  /** As compressed; of a range, where one was asked for. To be taken once, or left alone. */
  readonly data: BlockData;
}

/** A block that is about to leave. */
export interface LeavingBlock extends OpenBlock {
  /** Content keys that lead here since earlier migrations, as text. They have to move on with the block. */
  readonly formerKeys: readonly string[];
}

/** A block that comes from another volume, with its counter. */
export interface AdoptRequest extends BlockInfo {
  readonly data: BlockData;
  /**
   * The content keys that led to it before, as text: the one it had there, and those that led there. They lead here from
   * now on, see `follow`.
   */
  readonly formerKeys: readonly string[];
  readonly requestId: string;
}

export interface VolumeDescription {
  /** Made up when the volume was made; no two have the same. */
  readonly id: string;
  readonly layout: string;
  readonly signature: SignatureAlgorithm;
  readonly state: VolumeState;
  readonly blocks: number;
  /** Of contents, and of what is stored for them. */
  readonly contentBytes: number;
  readonly storedBytes: number;
  /** References of all blocks. */
  readonly references: number;
}

export interface Volume extends AsyncDisposable {
  describe(): Promise<VolumeDescription>;

  /**
   * Counts a reference to a block with this signature and size. Absent where there is none, and nothing is changed then.
   * The first one is taken, in order of overflow numbers.
   */
  refer(request: ReferRequest): Promise<StoreReceipt | undefined>;

  /**
   * Stores a content: counts a reference where the mode finds a duplicate, and makes a block otherwise, under the lowest
   * free overflow number. Throws HT_SIGNATURE where signature or size are not those of the bytes, HT_CODEC for an unknown
   * codec, HT_READ_ONLY where a block would have to be made and the volume is read-only; nothing is changed then.
   */
  store(request: StoreRequest): Promise<StoreReceipt>;

  /**
   * Several stores under way at once, answered in their order. A request without data counts a reference, and its answer
   * is HT_NOT_FOUND where there is no block with this signature and size.
   */
  storeAll(requests: AsyncIterable<BulkRequest> | Iterable<BulkRequest>): AsyncIterable<StoreAnswer>;

  /** The blocks with each of these signatures, in order of overflow numbers. */
  find(signatures: readonly string[]): Promise<readonly (readonly BlockInfo[])[]>;

  /** Absent where there is no such block. A range beyond the end is cut; HT_USAGE where it begins behind it. */
  open(address: BlockAddress, range?: ByteRange): Promise<OpenBlock | undefined>;

  /** Many blocks in the order of their addresses. A block's data is valid until the next one is asked for. */
  openAll(addresses: AsyncIterable<BlockAddress> | Iterable<BlockAddress>): AsyncIterable<OpenBlock | undefined>;

  /** Takes back one reference, and the block with the last one. The header as it is then; absent where there is none. */
  remove(address: BlockAddress, requestId?: string): Promise<BlockInfo | undefined>;

  /** All blocks in order of signature and overflow number, from behind `after`. May miss what changes meanwhile. */
  list(after?: BlockAddress): AsyncIterable<BlockInfo>;

  /** Which signatures may be here. Those that are here for sure are among them, as of the time of the call. */
  filter(): Promise<SignatureFilter>;

  /**
   * Migration, first step, durable: the block accepts no reference and no delete any more (HT_MOVING) until it is left.
   * Said again, it gives the same. Absent where there is no such block.
   */
  leave(address: BlockAddress): Promise<LeavingBlock | undefined>;

  /**
   * Second step, at the other volume: takes the block with its references, or adds them to those of an equal block, by
   * comparing bytes. Read-only volumes refuse it. The overflow number is not taken over. HT_USAGE where the counter is
   * none, or a former key is no content key with this signature.
   */
  adopt(request: AdoptRequest): Promise<StoreReceipt>;

  /** Third step: a block that is leaving is gone. One that is not there, or that is not leaving, is left alone. */
  left(address: BlockAddress): Promise<void>;

  /** Where the block is that a former key led to, if it was adopted here; absent where it was not, or is gone. */
  follow(formerKey: string): Promise<BlockAddress | undefined>;
}

/** An answer to one request among many. */
export type StoreAnswer = { readonly receipt: StoreReceipt } | { readonly error: Error };

export interface CheckOptions {
  /** Reads all bytes and verifies every signature. */
  readonly scrub?: boolean;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** An inconsistency. */
export interface Finding {
  readonly code: "HT_CORRUPT" | "HT_SIGNATURE" | "HT_LOST";
  readonly message: string;
  readonly file: string;
  readonly offset?: number;
}

/** A volume in a folder of this machine. */
export interface LocalVolume extends Volume {
  readonly folder: string;
  setState(state: VolumeState): void;
  check(options?: CheckOptions): AsyncIterable<Finding>;
}
