/**
 * Looks whether everything in an archive fits together: segments, catalogue, timeline, and that every capture leads to its
 * payload. With `scrub` every byte is read, and every digest computed again.
 */
import { ArchiveError, type ErrorCode } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { damageOf, type RecordFacts, runTask } from "../../pipeline/index.ts";
import { FactsFeed } from "../adding/facts-feed.ts";
import { finish } from "../asking/pause.ts";
import { type ArchiveOptions, Snapshot } from "../asking/snapshot.ts";
import { type ArchiveTotals, archiveTotals } from "../asking/stats.ts";
import { archiveKey, markIn, urlKeyOf } from "../catalogue/capture-key.ts";
import { DIGEST_HALF, Flag, has } from "../catalogue/capture-row.ts";
import { Table } from "../catalogue/catalogue-keys.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { isPending } from "../catalogue/visit-class.ts";
import { markOf } from "../entering/own-row.ts";
import { visitIdentity } from "../entering/visit-changes.ts";
import { describeDamage, leaveOutDamaged } from "../export/export-salvage.ts";
import { SelectedCaptures } from "../export/export-selection.ts";
import { archivePaths } from "../segments/archive-folder.ts";
import { adoptedInput, readable, segmentInput, segmentPath, statAdopted } from "../segments/segments.ts";

export interface DoctorFinding {
  readonly code: ErrorCode;
  readonly message: string;
  readonly file?: string | undefined;
  readonly offset?: number | undefined;
  /** How many captures it concerns, where that can be told. */
  readonly captures?: number | undefined;
}

export interface DoctorOptions extends ArchiveOptions {
  readonly scrub?: boolean | undefined;
  readonly threads?: number | undefined;
  /** What the archive holds by its catalogue, at the end; absent where that cannot be read. */
  readonly onTotals?: ((totals: ArchiveTotals | undefined) => void) | undefined;
  readonly onProgress?: ((stage: string, done: number, total: number) => void) | undefined;
}

export async function* examineArchive(
  disk: Disk,
  folder: string,
  options: DoctorOptions = {},
): AsyncGenerator<DoctorFinding> {
  const scrubbed = new Set<number>();
  {
    using archive = await Snapshot.open(disk, folder, options);
    const doctor = new Doctor(disk, folder, archive, options);
    // One part that cannot be read keeps nothing from being said of the others.
    yield* guarded(() => doctor.journal());
    yield* guarded(() => doctor.segments());
    yield* guarded(() => doctor.captures());
    yield* guarded(() => doctor.timeline());
    yield* guarded(() => doctor.scrub(scrubbed));
    yield* guarded(() => doctor.openable());
    options.onTotals?.(readable(() => finish(archiveTotals(archive))));
    if (!doctor.isOvertaken) return;
  }
  // What a compaction carried elsewhere meanwhile is read there.
  for (let isOvertaken = options.scrub === true; isOvertaken; ) {
    using archive = await Snapshot.open(disk, folder, options);
    const doctor = new Doctor(disk, folder, archive, options);
    yield* doctor.scrub(scrubbed);
    ({ isOvertaken } = doctor);
  }
}

/** What cannot be read is a finding, where it lies. */
async function* guarded(
  look: () => Iterable<DoctorFinding> | AsyncIterable<DoctorFinding>,
): AsyncGenerator<DoctorFinding> {
  try {
    yield* look();
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.code !== "HT_CORRUPT") throw error;
    const { code, message, place } = error;
    yield { code, message, ...place };
  }
}

class Doctor {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly archive: Snapshot;
  private readonly options: DoctorOptions;
  /** Segments that are missing, have changed or are not entered: nothing more is said about what lies in them. */
  private readonly gone = new Set<number>();
  /** Adopted files that were written to, or at least touched: what is in them is looked at in any case. */
  private readonly suspects = new Set<number>();
  /** Segments that a compaction has taken away since this commit. */
  private readonly taken = new Set<number>();

  constructor(disk: Disk, folder: string, archive: Snapshot, options: DoctorOptions) {
    this.disk = disk;
    this.folder = folder;
    this.archive = archive;
    this.options = options;
  }

  get isOvertaken(): boolean {
    return this.taken.size > 0;
  }

  /** Whether a segment is not there because a compaction was: then what was in it is elsewhere, and nothing is wrong. */
  private isTaken(number: number): boolean {
    if (!this.taken.has(number) && this.archive.locator.isTaken(number)) this.taken.add(number);
    return this.taken.has(number);
  }

  private get paths() {
    return archivePaths(this.folder);
  }

  journal(): readonly DoctorFinding[] {
    this.archive.checkJournal();
    return [];
  }

  /** Every file is there, as long as it has to be, and an adopted one is what it was. */
  *segments(): Generator<DoctorFinding> {
    const { catalogue } = this.archive;
    for (const { number, row } of catalogue.segments()) {
      const { adopted } = row;
      const path = adopted?.path ?? segmentPath(this.paths.segments, number);
      const stat = adopted === undefined ? this.disk.stat(path) : statAdopted(this.disk, path);
      const size = adopted?.size ?? row.end;
      const isChanged = stat !== undefined && (adopted === undefined ? stat.sizeBytes < size : stat.sizeBytes !== size);
      if (adopted !== undefined && stat !== undefined && stat.modifiedMs !== adopted.modifiedMs)
        this.suspects.add(number);
      if (stat !== undefined && !isChanged) {
        if (adopted !== undefined && row.end < adopted.size) {
          const message = `${path} is adopted, but not entered yet: whoever writes next does that, or rebuild`;
          // Then every record in it is one that the catalogue does not have.
          this.gone.add(number);
          yield { code: "HT_LOST", message, file: path };
        }
        continue;
      }
      if (stat === undefined && adopted === undefined && this.isTaken(number)) continue;
      this.gone.add(number);
      let captures = 0;
      for (const each of catalogue.allCaptures()) if (each.row.place.segment === number) captures++;
      const [code, what] =
        stat === undefined
          ? (["HT_LOST", adopted === undefined ? "is gone" : "is gone; adopt it where it lies now"] as const)
          : adopted === undefined
            ? (["HT_CORRUPT", "is shorter than it was"] as const)
            : (["HT_CHANGED", "changed since it was adopted"] as const);
      yield { code, message: `${path} ${what}; it holds ${captures} captures`, file: path, captures };
    }
  }

  /** Every capture lies in a segment, and leads to a payload. */
  *captures(): Generator<DoctorFinding> {
    const { catalogue } = this.archive;
    const { state } = catalogue;
    let [count, pending] = [0, 0];
    for (const { key, row, timeMs } of catalogue.allCaptures()) {
      if (++count % 10_000 === 0) this.options.onProgress?.("captures", count, state.captures);
      const { place, payload, before, after } = row;
      const at = { file: this.nameOf(place.segment), offset: place.offset };
      const segment = catalogue.segment(place.segment);
      const end = place.offset + place.length;
      // In an entry of a ZIP file places are those of its content, which may be larger than the file.
      const segmentEnd = segment?.adopted === undefined ? segment?.end : Number.POSITIVE_INFINITY;
      if (segmentEnd === undefined || end > segmentEnd) {
        yield { code: "HT_CORRUPT", message: `${at.file}:${at.offset}: a capture of ${timeMs} behind the end`, ...at };
      } else if (before > place.offset || end + after > segmentEnd) {
        const message =
          "what belongs to this capture would lie outside of its segment; `holotype rebuild` puts it right";
        yield { code: "HT_CORRUPT", message: `${at.file}:${at.offset}: ${message}`, ...at };
      }
      if (isPending(row)) pending++;
      if (payload === undefined || payload.size === 0) continue;
      const half = payload.sha256.subarray(0, DIGEST_HALF);
      if (catalogue.anyOriginal(half) === undefined) {
        yield { code: "HT_LOST", message: `${at.file}:${at.offset}: nothing holds the payload of this capture`, ...at };
      } else if (!catalogue.isListed(Table.seen, half.toString("latin1"), key)) {
        yield { code: "HT_CORRUPT", message: `${at.file}:${at.offset}: not listed under its payload`, ...at };
      }
    }
    if (count !== state.captures) {
      yield { code: "HT_CORRUPT", message: `the catalogue has ${count} captures, and counts ${state.captures}` };
    }
    if (pending !== state.pending) {
      yield { code: "HT_CORRUPT", message: `${pending} revisits wait for originals, and ${state.pending} are counted` };
    }
    let contents = 0;
    let last: Buffer | undefined;
    // Of one payload there may be an original of each framing.
    for (const { digest } of catalogue.allOriginals()) {
      if (last?.equals(digest) !== true) contents++;
      last = digest;
    }
    if (contents !== state.contents) {
      yield { code: "HT_CORRUPT", message: `the catalogue has ${contents} payloads, and counts ${state.contents}` };
    }
  }

  private nameOf(segment: number): string {
    return this.archive.catalogue.segment(segment)?.adopted?.path ?? segmentPath(this.paths.segments, segment);
  }

  /** The timeline has the visits that the captures are, and no others. */
  *timeline(): Generator<DoctorFinding> {
    const { catalogue, timeline } = this.archive;
    for (const finding of timeline.check()) yield { code: "HT_CORRUPT", message: `timeline: ${finding.message}` };
    let visits = 0;
    for (const [urlKey, wanted] of visitsOf(catalogue)) {
      visits += wanted.size;
      for (const { time, digest } of timeline.visits(urlKey)) {
        if (digest !== undefined && !wanted.delete(`${time} ${digest}`))
          yield {
            code: "HT_CORRUPT",
            message: `the timeline has a visit of ${urlKey} at ${time}, the catalogue does not`,
          };
      }
      if (wanted.size > 0) {
        const message = `the timeline lacks ${wanted.size} visits of ${urlKey}; \`holotype rebuild\` makes it again`;
        yield { code: "HT_CORRUPT", message };
      }
    }
    const told = timeline.info.visits;
    if (told !== visits)
      yield { code: "HT_CORRUPT", message: `the timeline has ${told} visits, the catalogue ${visits}` };
  }

  /** Reads everything, or what may have changed: each record is what the catalogue says. Not what was read before. */
  async *scrub(scrubbed: Set<number>): AsyncGenerator<DoctorFinding> {
    const isWanted = (number: number) =>
      (this.options.scrub === true || this.suspects.has(number)) &&
      !(this.gone.has(number) || this.taken.has(number) || scrubbed.has(number));
    const { catalogue } = this.archive;
    const findings: DoctorFinding[] = [];
    const rows = [...catalogue.segments()].filter(({ number }) => isWanted(number));
    if (rows.length === 0) return;
    const inputs = rows.map(({ number, row: { adopted, end } }) => {
      const name = this.nameOf(number);
      return adopted === undefined ? segmentInput(name, end) : adoptedInput(this.disk, name, adopted.size);
    });
    for (const { number } of rows) scrubbed.add(number);
    const rowOf = new Map(inputs.map(({ name }, i) => [name, rows[i]!]));
    // What is added meanwhile is behind the end that the catalogue knows.
    const isBehind = (file: string, offset: number) => {
      const row = rowOf.get(file)?.row;
      return row !== undefined && row.adopted === undefined && offset >= row.end;
    };
    let at = -1;
    const feed = new FactsFeed(inputs, {
      // Of a file in which nothing can be read nothing begins.
      begin: (input) => {
        at = inputs.indexOf(input);
      },
      take: (facts) => {
        const { name } = inputs[at]!;
        const finding = isBehind(name, facts.offset) ? undefined : this.judge(rows[at]!.number, facts, name);
        if (finding !== undefined) findings.push(finding);
      },
      end: () => {},
    });
    await runTask(
      this.disk,
      inputs,
      { kind: "facts", options: {} },
      {
        threads: this.options.threads ?? 1,
        onText: (text) => feed.text(text),
        onInputDone: (input) => feed.done(input),
        onWarning: (warning) => {
          const { code, message, file, offset } = warning;
          // Records are kept as they came, with their oddities.
          if (damageOf([warning]) !== undefined && !isBehind(file, offset))
            findings.push({ code, message: `${file}:${offset}: ${message}`, file, offset });
        },
        onSkip: ({ name, error }) => {
          const { number, row } = rowOf.get(name)!;
          if (error.code === "HT_NOT_FOUND" && row.adopted === undefined && this.isTaken(number)) return;
          findings.push({ code: error.code, message: error.message, file: name });
        },
        onProgress: ({ bytesDone, bytesTotal }) => this.options.onProgress?.("scrub", bytesDone, bytesTotal),
      },
    );
    yield* findings;
  }

  /** With `scrub`: captures that need more than their own record can be put together, as for an export. */
  async *openable(): AsyncGenerator<DoctorFinding> {
    if (this.options.scrub !== true) return;
    const { disk, archive } = this;
    const findings: DoctorFinding[] = [];
    await leaveOutDamaged({
      disk,
      archive,
      selected: new SelectedCaptures(archive, {}),
      isTried: ({ row }) =>
        !this.gone.has(row.place.segment) &&
        (row.kind === "revisit" || row.kind === "replaced" || has(row, Flag.segmented)),
      onDamage: (capture, error) => {
        const { segment, offset } = capture.row.place;
        const message = describeDamage(capture, error);
        findings.push({ code: error.code, message, file: this.nameOf(segment), offset });
      },
      pause: () => Promise.resolve(),
    });
    yield* findings;
  }

  private judge(segment: number, facts: RecordFacts, file: string): DoctorFinding | undefined {
    const { catalogue } = this.archive;
    const { capture, offset } = facts;
    if (capture === undefined) return undefined;
    const wrong = (code: ErrorCode, message: string) => ({
      code,
      message: `${file}:${offset}: ${message}`,
      file,
      offset,
    });
    if (facts.damaged !== undefined) return wrong("HT_CORRUPT", "a record that is damaged");
    const mark = markOf(facts);
    const there = catalogue.at(archiveKey(facts.uri), facts.timeMs ?? 0);
    const found = there.filter(({ key }) => markIn(key) === mark);
    const isHere = ({ row }: FoundCapture) => row.place.segment === segment && row.place.offset === offset;
    // What a capture is known by may be its payload: then it is another one now.
    if (found.length === 0 && there.some(isHere)) return wrong("HT_CORRUPT", "its payload is not what it was");
    if (found.length === 0) return wrong("HT_LOST", `${facts.uri} is not in the catalogue`);
    const here = found.find(isHere)?.row.payload;
    // That of a segmented capture is in several records; see `openable`.
    if (capture.segmented === true) return undefined;
    if (here === undefined || capture.sha256 === undefined || capture.status === 304) return undefined;
    return here.sha256.toString("hex") === capture.sha256
      ? undefined
      : wrong("HT_CORRUPT", "its payload is not what it was");
  }
}

/** The visits that the captures of each URL are, by time and what the timeline knows them as. */
function* visitsOf(catalogue: CatalogueView): Generator<[urlKey: string, visits: Set<string>]> {
  let [urlKey, visits]: [string, Set<string>] = ["", new Set()];
  for (const { key, timeMs, row } of catalogue.allCaptures()) {
    const own = urlKeyOf(key);
    if (own !== urlKey) {
      if (visits.size > 0) yield [urlKey, visits];
      [urlKey, visits] = [own, new Set()];
    }
    const identity = visitIdentity(row);
    if (identity !== undefined) visits.add(`${timeMs} ${identity}`);
  }
  if (visits.size > 0) yield [urlKey, visits];
}
