/** Looking for damage in a tree: what does not belong there, does not hold together, or is not what was written. */
import { join } from "node:path";
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { Codecs } from "../codec.ts";
import { verifyContentStream } from "../content-check.ts";
import { type BlockAddress, formatAddress } from "../content-key.ts";
import { othersTurn } from "../promised.ts";
import type { SignatureAlgorithm } from "../signature.ts";
import type { BlockData, CheckOptions, Finding } from "../volume.ts";
import type { BlockFiles, TreeBlock } from "./block-files.ts";
import type { FormerKeys } from "./former-keys.ts";
import type { IncomingFiles } from "./incoming.ts";
import { readJournal } from "./journal-file.ts";
import { type JournalEntry, NO_TOTALS, type Totals } from "./journal-line.ts";
import { formerFolder } from "./location.ts";
import type { TreeChanges } from "./tree-changes.ts";
import { type TreeShape, walkTree } from "./walk.ts";

export interface CheckedTree {
  readonly disk: Disk;
  readonly folder: string;
  readonly files: BlockFiles;
  readonly former: FormerKeys;
  readonly incoming: IncomingFiles;
  readonly shape: TreeShape;
  readonly changes: TreeChanges;
  readonly codecs: Codecs;
  readonly algorithm: SignatureAlgorithm;
}

/** Blocks looked at before others get their turn. */
const AT_ONCE = 100;

/** What is compared with the journal is left out where the volume is changed meanwhile. */
export async function* checkTree(tree: CheckedTree, options: CheckOptions): AsyncGenerator<Finding> {
  const undisturbed = tree.changes.watch();
  const seen = { totals: NO_TOTALS };
  yield* checkBlocks(tree, options, seen);
  yield* checkFormer(tree);
  for (const { name } of tree.disk.list(tree.incoming.path)) {
    if (!tree.incoming.inUse.has(name)) yield stray(join(tree.incoming.path, name));
  }
  if (undisturbed()) yield* checkJournal(tree, undisturbed);
  if (undisturbed()) yield* compareTotals(seen.totals, tree.changes.totals, tree.changes.journal.path);
}

async function* checkBlocks(
  tree: CheckedTree,
  { scrub, onProgress }: CheckOptions,
  seen: { totals: Totals },
): AsyncGenerator<Finding> {
  const { disk, files, shape, changes } = tree;
  let expected: BlockAddress = { signature: "", overflow: 0 };
  let gap: string | undefined;
  let done = 0;
  for (const { path, address } of walkTree(disk, files.path, shape)) {
    if (++done % AT_ONCE === 0) await othersTurn();
    if (address === undefined) {
      yield stray(path);
      continue;
    }
    const isNext = address.signature === expected.signature;
    if (gap !== undefined && !isNext) yield corrupt(gap, "keeps a place below nothing");
    if (address.overflow !== (isNext ? expected.overflow : 0))
      yield corrupt(path, "there is no block below its number");
    expected = { signature: address.signature, overflow: address.overflow + 1 };
    const block = yield* attempt(path, () => files.get(address));
    gap = block === undefined && disk.stat(path) !== undefined ? path : undefined;
    if (block === undefined) continue;
    seen.totals = plus(seen.totals, block);
    if (scrub === true) yield* scrubBlock(tree, block, path);
    onProgress?.(seen.totals.blocks, Math.max(seen.totals.blocks, changes.totals.blocks));
  }
  if (gap !== undefined) yield corrupt(gap, "keeps a place below nothing");
}

/** What an attempt gives; a finding where it throws that something is damaged. */
function* attempt<T>(path: string, work: () => T): Generator<Finding, T | undefined> {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    yield { code: "HT_CORRUPT", message: error.message, file: path };
    return undefined;
  }
}

async function* scrubBlock(tree: CheckedTree, block: TreeBlock, path: string): AsyncGenerator<Finding> {
  try {
    const data = tree.files.open(block)?.data;
    if (data !== undefined) await verifyContentStream(tree.codecs, tree.algorithm, block, stream(data));
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    // It may have been removed in the meantime, which is no damage.
    if (tree.files.get(block) === undefined) return;
    yield { code: "HT_SIGNATURE", message: `${path}: ${error.message}`, file: path };
  }
}

async function* stream(data: BlockData): AsyncGenerator<Uint8Array> {
  if (data instanceof Uint8Array) yield data;
  else yield* data;
}

function* checkFormer({ disk, folder, files, former, shape }: CheckedTree): Generator<Finding> {
  for (const { path, address } of walkTree(disk, formerFolder(folder), shape)) {
    if (address === undefined || address.overflow !== 0) {
      yield stray(path);
      continue;
    }
    for (const [key, overflow] of (yield* attempt(path, () => former.of(address.signature))) ?? []) {
      const target = { signature: address.signature, overflow };
      const block = yield* attempt(path, () => files.get(target));
      if (block === undefined) yield corrupt(path, `${key} leads to ${formatAddress(target)}, which is not there`);
    }
  }
}

/** Every block of which the journal still tells is as it tells. */
async function* checkJournal(tree: CheckedTree, undisturbed: () => boolean): AsyncGenerator<Finding> {
  const { path } = tree.changes.journal;
  const last = new Map<string, JournalEntry>();
  yield* attempt(path, () =>
    readJournal(tree.disk, path, (entry) => {
      last.set(formatAddress(entry), entry);
    }),
  );
  let done = 0;
  for (const entry of last.values()) {
    if (++done % AT_ONCE === 0) await othersTurn();
    const block = yield* attempt(path, () => tree.files.get(entry));
    if (!undisturbed()) return;
    const file = tree.files.pathOf(entry);
    if (entry.references === 0 && block !== undefined) yield corrupt(file, "was removed, and is there");
    if (entry.references === 0) continue;
    if (block === undefined) yield { code: "HT_LOST", message: `${file}: is not there`, file };
    else if (block.references !== entry.references) {
      yield corrupt(file, `counts ${block.references} references, and should count ${entry.references}`);
    }
  }
}

function* compareTotals(found: Totals, told: Totals, file: string): Generator<Finding> {
  for (const what of ["blocks", "contentBytes", "storedBytes", "references"] as const) {
    if (found[what] === told[what]) continue;
    const code = found[what] < told[what] ? "HT_LOST" : "HT_CORRUPT";
    yield { code, message: `${file}: there are ${found[what]} ${what}, and should be ${told[what]}`, file };
  }
}

function plus(totals: Totals, { size, storedSize, references }: TreeBlock): Totals {
  return {
    blocks: totals.blocks + 1,
    contentBytes: totals.contentBytes + size,
    storedBytes: totals.storedBytes + storedSize,
    references: totals.references + references,
  };
}

function corrupt(file: string, message: string): Finding {
  return { code: "HT_CORRUPT", message: `${file}: ${message}`, file };
}

function stray(file: string): Finding {
  return corrupt(file, "does not belong there");
}
