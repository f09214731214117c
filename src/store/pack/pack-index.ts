/**
 * The index of a pack volume: which blocks there are and where, what was answered to which request, how far each segment
 * has been taken in. All of it comes from the segments and can be made from them again. An index never knows of
 * anything that is not durable in a segment; it may know less, and then the rest is read from the segments.
 */
import type { BlockAddress } from "../content-key.ts";
import type { StoreReceipt } from "../volume.ts";

/** One block, as far as its address and its place go. */
export interface BlockEntry {
  readonly overflow: number;
  readonly size: number;
  readonly storedSize: number;
  readonly compression: string;
  readonly references: number;
  /** Where the record is, and how large its header. */
  readonly segment: number;
  readonly offset: number;
  readonly headSize: number;
  /** The segment with the record that told the counter last. */
  readonly counterSegment: number;
  /** Of that record. */
  readonly sequence: number;
  /** On its way to another volume. */
  readonly leaving: boolean;
  /** Content keys of other volumes that lead here. */
  readonly formerKeys: readonly string[];
}

export interface SegmentState {
  /** Up to where the index knows it. */
  readonly end: number;
  /** Bytes of records of blocks that are there. */
  readonly live: number;
}

export interface IndexTotals {
  readonly blocks: number;
  readonly contentBytes: number;
  readonly storedBytes: number;
  readonly references: number;
}

export interface IndexState {
  /** The last sequence number that was given out. */
  readonly sequence: number;
  readonly totals: IndexTotals;
}

export type Answer = Omit<StoreReceipt, "outcome"> & {
  readonly outcome: StoreReceipt["outcome"] | "removed";
  /** Whether former keys lead to the block since. */
  readonly isAdopted: boolean;
};

/** What changed since the last commit. */
export interface IndexChanges {
  /** All blocks with this signature as they are now; none at all for an empty list. */
  readonly blocks: ReadonlyMap<string, readonly BlockEntry[]>;
  readonly answers: ReadonlyMap<string, Answer>;
  readonly former: ReadonlyMap<string, BlockAddress | undefined>;
  /** Absent for a segment that is gone. */
  readonly segments: ReadonlyMap<number, SegmentState | undefined>;
  /** The state after the changes. */
  readonly state: IndexState;
}

export interface PackIndex {
  /** As of the last commit. */
  readonly state: IndexState;
  segments(): Map<number, SegmentState>;
  blocks(signature: string): readonly BlockEntry[];
  answer(requestId: string): Answer | undefined;
  former(key: string): BlockAddress | undefined;
  /** In order of signatures, from this one on. A short list of them; empty at the end. */
  page(from: string): readonly { readonly signature: string; readonly entries: readonly BlockEntry[] }[];
  /** The same without their entries, more of them at a time. */
  signatures(from: string): readonly string[];
  /** All or nothing; resolves when durable. */
  commit(changes: IndexChanges): Promise<void>;
  close(): Promise<void>;
}

/** What to do where the index is damaged: all of it comes from the segments. */
export const INDEX_ADVICE = "`holotype volume rebuild` makes it again";

/** How many requests an index remembers, at least. */
export const ANSWERS_KEPT = 100_000;

export const EMPTY_STATE: IndexState = {
  sequence: 0,
  totals: { blocks: 0, contentBytes: 0, storedBytes: 0, references: 0 },
};
