/**
 * Everything that follows from the segments and the journal, made anew beside the old catalogue and timeline, which answer
 * until it is complete. Whatever stops it, they still do; so a segment of our own that cannot be read stops it, and so do
 * captures of our own segments that the old catalogue knows and that are not there any more.
 */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { Input } from "../../pipeline/index.ts";
import { type TakeOptions, takeFacts } from "../adding/take-facts.ts";
import { ArchiveCore, type WriterOptions } from "../core/archive-core.ts";
import { isEntered, type SegmentEntry } from "../entering/segment-entry.ts";
import { loadForInputs } from "../segments/load-zstd.ts";
import {
  adoptedInput,
  isOddSegment,
  lastSegment,
  listSegments,
  saveTail,
  segmentInput,
  segmentPath,
  statAdopted,
} from "../segments/segments.ts";

export interface RebuildOptions extends WriterOptions, TakeOptions {
  /** Goes on without captures that the old catalogue knows and the segments do not have any more. */
  readonly acceptLoss?: boolean | undefined;
}

export async function rebuildArchive(
  disk: Disk,
  folder: string,
  options: RebuildOptions,
): Promise<{ readonly captures: number; readonly contents: number }> {
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

  constructor(core: ArchiveCore, options: RebuildOptions) {
    this.core = core;
    this.options = options;
  }

  async run(): Promise<{ readonly captures: number; readonly contents: number }> {
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
    return { captures, contents };
  }

  /** What is gone may come back from a copy; the old catalogue knows what that is, and the new one would not. */
  private refuseLoss(): void {
    const { core, isAdoptedMissing } = this;
    const { known } = core;
    if (known === undefined) return;
    // Without an adopted file fewer are to be expected, and that was told.
    const lost = isAdoptedMissing ? 0 : known.captures - core.catalogue.state.captures;
    const shorter = [...known.ends].flatMap(([number, end]) => this.tellShorter(number, end));
    if (lost <= 0 && shorter.length === 0) return;
    const what = lost > 0 ? [`${lost} captures that the catalogue knows would not be found again`] : [];
    const advice = "everything stays as it was: bring the files back from a copy, or go on without with --accept-loss";
    const { folder } = core.paths;
    throw new ArchiveError("HT_CORRUPT", `${folder}: ${[...what, ...shorter.slice(0, 3)].join(", ")}; ${advice}`, {
      file: folder,
    });
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
      if (statAdopted(disk, path) !== undefined) inputs.push([number, adoptedInput(disk, path, size)]);
      else {
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
          entry = own.has(input.name) ? core.segmentEntry(number) : core.adoptedEntry(number);
        },
        take: (facts) => {
          entry!.take(facts);
          if (isEntered(facts)) end = facts.offset + facts.length!;
        },
        end: (input) => {
          const number = numbers.get(input)!;
          entry!.end();
          for (const digest of entry!.removedDigests) removed.push(digest);
          if (own.has(input.name)) this.endSegment(number, end, input.size!);
          else core.catalogue.putSegment(number, { ...core.catalogue.segment(number)!, end: input.size! });
        },
      },
    );
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
