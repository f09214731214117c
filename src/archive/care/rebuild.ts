/**
 * Everything that follows from the segments and the journal, made anew beside the old catalogue and timeline, which answer
 * until it is complete. Whatever stops it, they still do; so a segment of our own that cannot be read stops it, and so do
 * captures that the old catalogue knows and that are not there any more. A record that has rotted is damage, and nobody's
 * content; so is one of an adopted file that is not the one that was adopted.
 */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { Input, RecordFacts } from "../../pipeline/index.ts";
import { type TakeOptions, takeFacts } from "../adding/take-facts.ts";
import { archiveKey, markIn } from "../catalogue/capture-key.ts";
import { type CaptureRow, Flag, has } from "../catalogue/capture-row.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { ArchiveCore, type WriterOptions } from "../core/archive-core.ts";
import { marksOf } from "../entering/own-row.ts";
import type { SegmentEntry } from "../entering/segment-entry.ts";
import { readJournal } from "../journal/journal.ts";
import { loadForInputs } from "../segments/load-zstd.ts";
import {
  adoptedInput,
  isOddSegment,
  lastSegment,
  listSegments,
  readable,
  saveTail,
  segmentInput,
  segmentPath,
  statAdopted,
} from "../segments/segments.ts";

export interface RebuildOptions extends WriterOptions, TakeOptions {
  /** Goes on without captures that the old catalogue knows and the segments do not have any more. */
  readonly acceptLoss?: boolean | undefined;
  /** A record, or an adopted file, is not what it was. */
  readonly onDamage?: ((damage: ArchiveError) => void) | undefined;
}

export interface RebuildReport {
  readonly captures: number;
  readonly contents: number;
  /** Records and adopted files that are not what they were. */
  readonly damaged: number;
}

export async function rebuildArchive(disk: Disk, folder: string, options: RebuildOptions): Promise<RebuildReport> {
  using core = ArchiveCore.beginAnew(disk, folder, options, options.acceptLoss !== true);
  return await new Rebuild(core, options).run();
}

class Rebuild {
  private readonly core: ArchiveCore;
  private readonly options: RebuildOptions;
  private readonly removed: Buffer[] = [];
  /** A segment of our own that could not be read. */
  private failed: ArchiveError | undefined;
  private isAdoptedMissing = false;
  /** Where damaged records lie, and adopted files that are others now. */
  private readonly damaged = new Set<string>();
  private readonly changed = new Set<number>();

  constructor(core: ArchiveCore, options: RebuildOptions) {
    this.core = core;
    this.options = options;
  }

  async run(): Promise<RebuildReport> {
    const { core } = this;
    const own = this.ownSegments();
    // Where a capture is in both, that of our own segment counts.
    const files = [...own, ...this.adoptedFiles()];
    await loadForInputs(
      core.disk,
      files.map(([, input]) => input),
    );
    await this.enter(files, new Set(own.map(([, { name }]) => name)));
    if (this.failed !== undefined) throw this.failed;
    if (this.options.acceptLoss !== true) this.refuseLoss();
    // Revisits that we wrote may be all that has such a payload.
    core.drop(this.removed);
    core.complete();
    const { captures, contents } = core.catalogue.state;
    return { captures, contents, damaged: this.damaged.size + this.changed.size };
  }

  /** What is gone may come back from a copy; the old catalogue knows what that is, and the new one would not. */
  private refuseLoss(): void {
    const { core, isAdoptedMissing } = this;
    const { known } = core;
    if (known === undefined) return;
    // Without an adopted file fewer are to be expected, and that was told.
    const fewer = isAdoptedMissing
      ? 0
      : known.captures - this.countRemoved(known.journal) - core.catalogue.state.captures;
    const lost = Math.max(fewer, readable(() => this.countLost()) ?? 0);
    const shorter = [...known.ends].flatMap(([number, end]) => this.tellShorter(number, end));
    if (lost <= 0 && shorter.length === 0) return;
    const what = lost > 0 ? [`${lost} captures that the catalogue knows would not be found again`] : [];
    const advice = "everything stays as it was: bring the files back from a copy, or go on without with --accept-loss";
    const { folder } = core.paths;
    throw new ArchiveError("HT_CORRUPT", `${folder}: ${[...what, ...shorter.slice(0, 3)].join(", ")}; ${advice}`, {
      file: folder,
    });
  }

  /** Captures that were removed by entries of the journal after these. */
  private countRemoved(entries: number): number {
    const { disk, paths } = this.core;
    let count = 0;
    for (const entry of readJournal(disk, paths.journal, entries))
      if (entry.kind === "remove") count += entry.captures.length;
    return count;
  }

  /** Captures that the old catalogue has in damaged places, and the new one not at all. */
  private countLost(): number {
    const { catalogue: now, known } = this.core;
    if (this.damaged.size + this.changed.size === 0) return 0;
    let lost = 0;
    for (const { key, row } of known?.catalogue?.allCaptures() ?? []) {
      const { segment, offset } = row.place;
      if (!this.damaged.has(`${segment} ${offset}`) && !this.changed.has(segment)) continue;
      if (now.capture(key) === undefined) lost++;
    }
    return lost;
  }

  private tellDamage(number: number, { offset, uri }: RecordFacts, file: string, what: string): void {
    this.damaged.add(`${number} ${offset}`);
    // What was removed may be among it.
    this.core.catalogue.markLoose(number);
    const message = `${file}:${offset}: ${what}${uri === "" ? "" : `; it is a record of ${uri}`}`;
    this.options.onDamage?.(new ArchiveError("HT_CORRUPT", message, { file, offset }));
  }

  private tellShorter(number: number, end: number): string[] {
    const { disk, paths } = this.core;
    const path = segmentPath(paths.segments, number);
    const size = disk.stat(path)?.sizeBytes;
    if (size === undefined) return [`${path} is gone`];
    return size < end ? [`${path} has ${size} bytes of ${end}`] : [];
  }

  private ownSegments(): [number, Input][] {
    const { disk, paths, catalogue } = this.core;
    const inputs: [number, Input][] = [];
    for (const number of listSegments(disk, paths.segments)) {
      const path = segmentPath(paths.segments, number);
      using file = disk.open(path, "update");
      // What is read may not be durable yet, and the catalogue is about to rely on it.
      file.sync();
      if (file.size() > 0) inputs.push([number, segmentInput(path, file.size())]);
      else catalogue.putSegment(number, { end: 0 });
    }
    return inputs;
  }

  private adoptedFiles(): [number, Input][] {
    const { disk, catalogue } = this.core;
    const inputs: [number, Input][] = [];
    for (const { number, row } of catalogue.segments()) {
      if (row.adopted === undefined) continue;
      const { path, size } = row.adopted;
      const there = statAdopted(disk, path)?.sizeBytes;
      if (there === size) inputs.push([number, adoptedInput(disk, path, size)]);
      else if (there !== undefined) {
        this.isAdoptedMissing = true;
        this.changed.add(number);
        const message = `${path}: has ${there} bytes, and had ${size} when it was adopted`;
        this.options.onDamage?.(new ArchiveError("HT_CHANGED", message, { file: path }));
      } else {
        this.isAdoptedMissing = true;
        const error = new ArchiveError("HT_NOT_FOUND", `${path}: adopted, and not there any more`, { file: path });
        this.options.onSkip?.({ name: path, error });
      }
    }
    return inputs;
  }

  private async enter(files: readonly (readonly [number, Input])[], own: ReadonlySet<string>): Promise<void> {
    const { core, removed } = this;
    const numbers = new Map(files.map(([number, input]) => [input, number]));
    let end = 0;
    let entry: SegmentEntry | undefined;
    let broken: RecordFacts[] = [];
    let current: Input | undefined;
    const onSkip: TakeOptions["onSkip"] = (skip) => {
      if (!own.has(skip.name)) {
        this.isAdoptedMissing = true;
        return this.options.onSkip?.(skip);
      }
      const advice = "bring the segment back from a copy; or move it away, and go on without it with --accept-loss";
      const { code, message, place } = skip.error;
      this.failed ??= new ArchiveError(code, `${message}; everything stays as it was: ${advice}`, place, skip.error);
    };
    const inputs = [...numbers.keys()];
    await takeFacts(
      core,
      inputs,
      { ...this.options, onSkip },
      {
        begin: (input) => {
          const number = numbers.get(input)!;
          end = 0;
          broken = [];
          current = input;
          entry = own.has(input.name) ? core.segmentEntry(number) : core.adoptedEntry(number, false);
        },
        take: (facts) => {
          const { name } = current!;
          const isOther = !own.has(name) && this.isOther(numbers.get(current!)!, facts, name);
          entry!.take(isOther ? { ...facts, damaged: "cut" } : facts);
          if (facts.damaged !== undefined) broken.push(facts);
          else if (facts.length !== undefined) end = facts.offset + facts.length;
        },
        end: (input) => {
          const number = numbers.get(input)!;
          entry!.end();
          if (own.has(input.name)) this.tellBroken(number, broken, end, input.name);
          for (const digest of entry!.removedDigests) removed.push(digest);
          if (own.has(input.name)) this.endSegment(number, end, input.size!);
          else core.catalogue.putSegment(number, { ...core.catalogue.segment(number)!, end: input.size! });
        },
      },
    );
  }

  /** What a power cut tore was never acknowledged: it stands at the end of all, and the old catalogue does not know it. */
  private tellBroken(number: number, broken: readonly RecordFacts[], end: number, file: string): void {
    const { disk, paths, known } = this.core;
    const isLast = lastSegment(disk, paths.segments, isOddSegment(number)) === number;
    const sure = isLast ? Math.max(end, known?.ends.get(number) ?? 0) : Number.POSITIVE_INFINITY;
    for (const facts of broken) {
      const what = facts.damaged === "checksum" ? "a record fails its checksum" : "a record is damaged";
      if (facts.offset < sure) this.tellDamage(number, facts, file, what);
    }
  }

  /** Whether a record of an adopted file is not the one that the old catalogue knows there. */
  private isOther(number: number, facts: RecordFacts, file: string): boolean {
    const { uri, timeMs = 0, offset, inner = 0, capture } = facts;
    const { catalogue } = this.core.known ?? {};
    if (catalogue === undefined || capture === undefined || facts.damaged === "cut") return false;
    const isEntered = (readable(() => catalogue.segment(number)?.end) ?? 0) > 0;
    const found = isEntered ? readable(() => catalogue.at(archiveKey(uri), timeMs)) : undefined;
    if (found === undefined) return false;
    const before = found.find(
      ({ row: { place } }) => place.segment === number && place.offset === offset && place.inner === inner,
    );
    // Another record may have taken its place, or was there before; one that was removed has none.
    const isKnown = ({ key, row }: FoundCapture) => has(row, Flag.removed) || marksOf(facts).includes(markIn(key));
    if (before === undefined ? found.some(isKnown) : isKnown(before) && !hasOtherPayload(before.row, facts))
      return false;
    this.changed.add(number);
    this.tellDamage(number, facts, file, "not what was there when the file was adopted");
    return true;
  }

  /**
   * Nothing is cut off as long as the old catalogue counts, which may know what cannot be read now. Behind the end of all
   * the next writer will, so it is kept beside the segment.
   */
  private endSegment(number: number, end: number, size: number): void {
    const { core } = this;
    const isLast = lastSegment(core.disk, core.paths.segments, isOddSegment(number)) === number;
    if (isLast && end < size) saveTail(core.disk, core.paths.segments, number, end);
    core.catalogue.putSegment(number, isLast || end === size ? { end } : { end: size, closed: true });
  }
}

/** A 304 has none of its own, and of a segmented capture the record has a part. */
function hasOtherPayload(row: CaptureRow, { capture }: RecordFacts): boolean {
  const { sha256, status } = capture!;
  if (sha256 === undefined || status === 304 || row.payload === undefined || has(row, Flag.segmented)) return false;
  return row.payload.sha256.toString("hex") !== sha256;
}
