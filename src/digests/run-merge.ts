/** Several runs as one: their entries by URL, those that tell of one content merged; and the run that they become. */
import type { Disk } from "../disk/index.ts";
import { ByteWriter } from "./byte-fields.ts";
import { type DigestEntry, mergeStates } from "./entry.ts";
import { encodeEntry } from "./entry-bytes.ts";
import type { Run } from "./run.ts";
import { RECORD_MAX, RunWriter, type WrittenRun } from "./run-writer.ts";
import type { IndexSettings } from "./settings.ts";
import { type SortedCursor, SpillMerge } from "./spill.ts";
import { createHashPair, hashText } from "./url-hash.ts";
import { WordTable } from "./word-table.ts";

/** So many entries of one hash are merged at once; a URL with more states comes more than once. */
const GROUP_MAX = 1 << 16;

/** The entries of one run, encoded anew with the words of the run that they go into. */
class RunCursor implements SortedCursor {
  readonly buffer: Buffer;
  readonly start = 0;
  high = 0;
  low = 0;
  /** The entry that it stands at. */
  entry: DigestEntry | undefined;
  private readonly entries: Iterator<DigestEntry>;
  private readonly words: WordTable | undefined;
  private readonly writer: ByteWriter;
  private readonly pair = createHashPair();

  constructor(run: Run, words: WordTable | undefined) {
    this.buffer = Buffer.alloc(words === undefined ? 0 : RECORD_MAX);
    this.entries = run.entries();
    this.words = words;
    this.writer = new ByteWriter(this.buffer);
  }

  get end(): number {
    return this.writer.at;
  }

  next(): boolean {
    for (;;) {
      const step = this.entries.next();
      if (step.done === true) return false;
      this.entry = step.value;
      this.writer.at = 0;
      this.writer.isFull = false;
      // Words that found room in the table of their run may find none here: then a record may have none in its page.
      if (this.words !== undefined && !encodeEntry(this.entry, this.words, this.writer)) continue;
      hashText(this.entry.uri, this.pair);
      this.high = this.pair[0]!;
      this.low = this.pair[1]!;
      return true;
    }
  }

  close(): void {}
}

/** The states of all URLs, one URL at a time, in the order of their hashes. */
export function* mergedStates(runs: readonly Run[]): Generator<DigestEntry[]> {
  const cursors = runs.map((run) => new RunCursor(run, undefined));
  const merge = new SpillMerge(cursors);
  let group: DigestEntry[] = [];
  let [high, low] = [0, 0];
  while (merge.next()) {
    if (group.length > 0 && (merge.high !== high || merge.low !== low || group.length === GROUP_MAX)) {
      yield* byUri(group);
      group = [];
    }
    [high, low] = [merge.high, merge.low];
    group.push(cursors[merge.source]!.entry!);
  }
  if (group.length > 0) yield* byUri(group);
}

function* byUri(group: readonly DigestEntry[]): Generator<DigestEntry[]> {
  if (group.length === 1) return yield [...group];
  const uris = new Map<string, DigestEntry[]>();
  for (const entry of group) {
    const list = uris.get(entry.uri);
    if (list === undefined) uris.set(entry.uri, [entry]);
    else list.push(entry);
  }
  for (const entries of uris.values()) yield mergeStates(entries);
}

/** Makes one run of several, the oldest of them first. */
export function writeMerged(
  disk: Disk,
  path: string,
  runs: readonly Run[],
  options: { readonly folder: string; readonly settings: IndexSettings },
): WrittenRun {
  const words = new WordTable();
  const count = runs.reduce((sum, run) => sum + run.entryCount, 0);
  using writer = new RunWriter(disk, path, { ...options, words, count });
  return writer.write(new SpillMerge(runs.map((run) => new RunCursor(run, words))));
}
