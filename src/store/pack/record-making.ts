/** The records that a volume writes: what each says, given the state that it changes. */
import { ArchiveError } from "../../base/index.ts";
import { type BlockAddress, formatAddress } from "../content-key.ts";
import { REFERENCES_MAX } from "../volume.ts";
import type { VolumeSettings } from "../volume-settings.ts";
import type { BlockEntry } from "./pack-index.ts";
import type { Change, PackRecord } from "./pack-record.ts";
import type { PackState } from "./pack-state.ts";

/** A content on its way into the volume. */
export interface Deposit {
  readonly signature: string;
  readonly size: number;
  readonly compression: string;
  /** What makes a block a duplicate. */
  readonly duplicate: "size" | "bytes" | "never";
  /** References that come with it. */
  readonly references: number;
  readonly formerKeys: readonly string[];
  readonly requestId: string | undefined;
}

/** What a change says that the block's entry does not. */
export interface Changed {
  readonly change: Change;
  readonly references?: number;
  readonly requestId?: string | undefined;
  readonly formerKeys?: readonly string[];
  readonly leaving?: boolean;
}

/** A record about a block that is there. */
export function changeRecord(
  state: PackState,
  settings: VolumeSettings,
  signature: string,
  entry: BlockEntry,
  to: Changed,
): PackRecord {
  return {
    change: to.change,
    algorithm: settings.signature,
    signature,
    overflow: entry.overflow,
    size: entry.size,
    storedSize: entry.storedSize,
    compression: entry.compression,
    references: to.references ?? entry.references,
    sequence: state.nextSequence(),
    requestId: to.requestId,
    formerKeys: to.formerKeys ?? [],
    leaving: to.leaving ?? entry.leaving,
  };
}

/** The deposit is a duplicate of the block: its references are added. */
export function countedRecord(
  state: PackState,
  settings: VolumeSettings,
  deposit: Deposit,
  entry: BlockEntry,
): PackRecord {
  const { signature, requestId, formerKeys } = deposit;
  const address = { signature, overflow: entry.overflow };
  if (entry.leaving) throw moving(address);
  const references = entry.references + deposit.references;
  if (references > REFERENCES_MAX) {
    throw new ArchiveError("HT_TOO_LARGE", `${formatAddress(address)} has no room for more references`);
  }
  return changeRecord(state, settings, signature, entry, { change: "reference", references, requestId, formerKeys });
}

/** The deposit becomes a block beside those with its signature. */
export function blockRecord(
  state: PackState,
  settings: VolumeSettings,
  deposit: Deposit,
  beside: readonly BlockEntry[],
  storedSize: number,
): PackRecord {
  const taken = new Set(beside.map((entry) => entry.overflow));
  let overflow = 0;
  while (taken.has(overflow)) overflow++;
  return {
    change: "block",
    algorithm: settings.signature,
    signature: deposit.signature,
    overflow,
    size: deposit.size,
    storedSize,
    compression: deposit.compression,
    references: deposit.references,
    sequence: state.nextSequence(),
    requestId: deposit.requestId,
    formerKeys: deposit.formerKeys,
    leaving: false,
  };
}

/** The bytes of the deposit take the place of those of a block that cannot be read. Its counter and its keys stay. */
export function healedRecord(
  state: PackState,
  settings: VolumeSettings,
  { signature, compression }: Deposit,
  entry: BlockEntry,
  storedSize: number,
): PackRecord {
  if (entry.leaving) throw moving({ signature, overflow: entry.overflow });
  const { formerKeys } = entry;
  const counted = changeRecord(state, settings, signature, entry, { change: "count", formerKeys });
  return { ...counted, change: "block", compression, storedSize };
}

export function moving(address: BlockAddress): ArchiveError {
  return new ArchiveError("HT_MOVING", `${formatAddress(address)} is on its way to another volume`);
}
