/**
 * Files that become segments of an archive where they lie: nothing is copied, everything is entered. One that was adopted
 * and lies elsewhere now is recognised, and is the same segment in its new place.
 */
import { basename, resolve, sep } from "node:path";
import { ArchiveError, formatIso } from "../../base/index.ts";
import { type Input, isUrl, type RecordFacts, STANDARD_INPUT } from "../../pipeline/index.ts";
import { archiveKey } from "../catalogue/capture-key.ts";
import { Flag, has } from "../catalogue/capture-row.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import type { EntryCounts, SegmentEntry } from "../entering/segment-entry.ts";
import { statAdopted } from "../segments/segments.ts";
import { crawlIn } from "./crawl-name.ts";
import { type TakeOptions, takeFacts } from "./take-facts.ts";

export interface AdoptReport extends EntryCounts {
  readonly files: number;
  /** Files that were adopted before. */
  readonly adoptedBefore: number;
  /** Of these, those that lie in another place than they did. */
  readonly moved: number;
  readonly skipped: number;
}

export interface AdoptOptions extends TakeOptions {
  /** The crawl that all of them are part of; else each file says it, or its name. */
  readonly crawl?: string | undefined;
}

export async function adoptInputs(
  core: ArchiveCore,
  inputs: readonly Input[],
  options: AdoptOptions,
): Promise<AdoptReport> {
  const { catalogue, clock } = core;
  const known = new Map<string, { readonly size: number }>();
  for (const { row } of catalogue.segments()) if (row.adopted !== undefined) known.set(row.adopted.path, row.adopted);
  const unknown = inputs.filter((input) => isNew(core, input, known));
  const moves = new Moves(core);
  const moved = await moves.follow(unknown, options);
  const news = unknown.filter((input) => !moved.has(input));
  const total = { captures: 0, known: 0, removed: 0, damaged: 0 };
  const removed: Buffer[] = [];
  let entry: SegmentEntry | undefined;
  let adopted: { readonly number: number; readonly file: AdoptedFile } | undefined;
  const skipped = await takeFacts(core, news, options, {
    begin: (input) => {
      const file = fileOf(core, input);
      const number = moves.takeUnentered(input) ?? core.nextSegment();
      const crawl = options.crawl ?? crawlIn(core.disk, input);
      const told = crawl === undefined ? file : { ...file, crawl };
      core.commits.journal({ kind: "adopt", time: formatIso(clock.now()), segment: number, ...told });
      entry = core.adoptedEntry(number, true);
      adopted = { number, file };
      // Its number is taken from here on.
      core.commits.commit();
    },
    take: (facts) => entry!.take(facts),
    end: () => {
      entry!.end();
      catalogue.putSegment(adopted!.number, { adopted: adopted!.file, end: adopted!.file.size });
      for (const name of Object.keys(total) as (keyof EntryCounts)[]) total[name] += entry!.counts[name];
      for (const digest of entry!.removedDigests) removed.push(digest);
    },
  });
  // Payloads of what was removed before: they are entered for revisits of ours that need them.
  core.drop(removed);
  const adoptedBefore = inputs.length - news.length;
  return { ...total, files: news.length - skipped, adoptedBefore, moved: moved.size, skipped };
}

/** Adopted files that are not where they were, and files that may be they. */
class Moves {
  private readonly core: ArchiveCore;
  /** The segments that are gone, by the names and sizes of their files, and all of them. */
  private readonly byName = new Map<string, Set<number>>();
  private readonly gone = new Set<number>();

  constructor(core: ArchiveCore) {
    this.core = core;
    for (const { number, row } of core.catalogue.segments()) {
      const { adopted } = row;
      if (adopted === undefined || statAdopted(core.disk, adopted.path) !== undefined) continue;
      const name = nameOf(adopted);
      this.byName.set(name, (this.byName.get(name) ?? new Set()).add(number));
      this.gone.add(number);
    }
  }

  private segmentsLike(input: Input): Set<number> {
    return (this.gone.size === 0 ? undefined : this.byName.get(nameOf(fileOf(this.core, input)))) ?? new Set();
  }

  /** A segment that this file may be, and of which nothing is entered: it was gone when everything was made anew. */
  takeUnentered(input: Input): number | undefined {
    const segments = this.segmentsLike(input);
    for (const number of segments) {
      if (this.core.catalogue.segment(number)!.end > 0) continue;
      segments.delete(number);
      return number;
    }
    return undefined;
  }

  /** Those of the files that hold all captures of a segment that is gone, in their places, are that segment from now on. */
  async follow(inputs: readonly Input[], options: TakeOptions): Promise<ReadonlySet<Input>> {
    const { core } = this;
    const moved = new Set<Input>();
    const candidates = inputs.filter((input) => this.segmentsLike(input).size > 0);
    if (candidates.length === 0) return moved;
    const wanted = this.countCaptures();
    const found = new Map<number, number>();
    // One that cannot be read is told of when it is adopted.
    await takeFacts(
      core,
      candidates,
      { ...options, onSkip: undefined },
      {
        begin: () => found.clear(),
        take: (facts) => {
          const segment = this.segmentOf(facts);
          if (segment !== undefined) found.set(segment, (found.get(segment) ?? 0) + 1);
        },
        end: (input) => {
          const segments = this.segmentsLike(input);
          for (const number of segments) {
            // One without any captures of its own could be any.
            const isAll = (wanted.get(number) ?? 0) > 0 && found.get(number) === wanted.get(number);
            if (core.catalogue.segment(number)!.end === 0 || !isAll) continue;
            core.commits.journal({
              kind: "adopt",
              time: formatIso(core.clock.now()),
              segment: number,
              ...fileOf(core, input),
            });
            core.shelf.forget(number);
            segments.delete(number);
            moved.add(input);
            return;
          }
        },
      },
    );
    core.commits.commit();
    return moved;
  }

  /** Of each segment. */
  private countCaptures(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const { row } of this.core.catalogue.allCaptures()) {
      const { segment } = row.place;
      counts.set(segment, (counts.get(segment) ?? 0) + 1);
    }
    return counts;
  }

  /** The segment that is gone in which the catalogue has this very record in this place. */
  private segmentOf({ uri, timeMs, offset, inner = 0, capture }: RecordFacts): number | undefined {
    if (capture === undefined) return undefined;
    const { sha256 } = capture;
    for (const { row } of this.core.catalogue.at(archiveKey(uri), timeMs ?? 0)) {
      const { place, payload } = row;
      const isPlace = place.offset === offset && place.inner === inner && this.gone.has(place.segment);
      const isSame =
        sha256 === undefined ||
        payload === undefined ||
        has(row, Flag.segmented) ||
        sha256 === payload.sha256.toString("hex");
      if (isPlace && isSame) return place.segment;
    }
    return undefined;
  }
}

function nameOf({ path, size }: Pick<AdoptedFile, "path" | "size">): string {
  return `${basename(path)} ${size}`;
}

interface AdoptedFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
}

function fileOf({ disk }: ArchiveCore, input: Input): AdoptedFile {
  const path = [resolve(input.path), ...input.entries].join("!");
  const stat = disk.stat(input.path)!;
  return { path, size: stat.sizeBytes, modifiedMs: stat.modifiedMs };
}

/** Throws where a file cannot be adopted, or is not what it was when it was. */
function isNew(core: ArchiveCore, input: Input, known: ReadonlyMap<string, { readonly size: number }>): boolean {
  if (input.path === STANDARD_INPUT || isUrl(input.path)) {
    throw new ArchiveError("HT_UNSUPPORTED", `${input.name}: only files can be adopted`, { file: input.name });
  }
  const { path, size } = fileOf(core, input);
  if (path.startsWith(resolve(core.paths.folder) + sep)) {
    throw new ArchiveError("HT_USAGE", `${path}: is part of the archive`, { file: path });
  }
  const before = known.get(path);
  if (before === undefined) return true;
  if (before.size === size) return false;
  throw new ArchiveError("HT_CHANGED", `${path}: changed since it was adopted (see holotype doctor)`, { file: path });
}
