/**
 * Takes captures out of an archive as WARC or WACZ that stands by itself: nothing in it refers to a record that is not in
 * it, but for revisits whose originals the archive does not have either. The files get their names after they have been
 * read back.
 */
import { basename, resolve, sep } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { ArchiveError, type Clock, type ErrorCode, systemClock, type Warning } from "../../base/index.ts";
import type { Access, Disk, DurableOutput } from "../../disk/index.ts";
import { cdxEntryOf, isIndexed, LineSorter, splitName } from "../../pipeline/index.ts";
import { type ByteSource, formatCdxjLine } from "../../warc/index.ts";
import { Snapshot } from "../asking/snapshot.ts";
import { Flag, has, type RecordPlace } from "../catalogue/capture-row.ts";
import { noteType } from "../catalogue/catalogue-view.ts";
import { ExportCheck } from "./export-check.ts";
import { ExportFiles, filesInTheWay, numberedName, oddStem, stemOf } from "./export-files.ts";
import { capturesOfKind, isOddPlace, mayHaveOdd } from "./export-oddity.ts";
import { pageOf } from "./export-page.ts";
import { ExportPages } from "./export-pages.ts";
import { type ExportFate, RecordExport } from "./export-record.ts";
import { describeDamage, isFaultOfCapture, leaveOutDamaged, type SalvageParts } from "./export-salvage.ts";
import { type ExportSelection, type Mending, type SelectedCapture, SelectedCaptures } from "./export-selection.ts";
import { WarcSeries, type WarcTarget } from "./export-series.ts";
import { UnlinkedRecords } from "./export-unlinked.ts";
import { checkZip, WaczOutput } from "./export-wacz.ts";

export type ExportFormat = "warc" | "wacz";

export interface ExportProgress {
  readonly stage: "looking" | "writing" | "checking";
  readonly captures: number;
  /** Written or read so far. */
  readonly bytes: number;
}

export interface ExportOptions {
  readonly selection: ExportSelection;
  /** What is asked for in words, for people. */
  readonly description: string;
  readonly output: string;
  readonly format: ExportFormat;
  /** Closes a WARC file when it has become so large, and begins another: `x-00001.warc.gz`. */
  readonly sizeBytes?: number | undefined;
  /** Writes an index beside the WARC files. */
  readonly cdxj?: boolean | undefined;
  /** Replaces files of an earlier export. */
  readonly replace?: boolean | undefined;
  /** Tells what would be written, and writes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Name and version of the program. */
  readonly software: string;
  readonly clock?: Clock | undefined;
  /** Aborted, it leaves nothing. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ExportProgress) => void) | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
}

export interface ExportReport extends Readonly<Record<ExportFate, number>> {
  readonly captures: number;
  /** Captures and other records that are damaged: those that were left out, and those that could be read all the same. */
  readonly left: number;
  readonly mended: number;
  /** Segmented captures of which a segment is missing. */
  readonly incomplete: number;
  /** Records that belong to no capture, by their types: those that went out, and those that the selection leaves out. */
  readonly unlinked: Readonly<Record<string, number>>;
  readonly unselected: Readonly<Record<string, number>>;
  /** Captures and records of no capture at which other readers stop: they are in files of their own. */
  readonly odd: number;
  /** HTML captures, in the list of pages of a WACZ. */
  readonly pages: number;
  /** Of the WARC files. */
  readonly bytes: number;
  readonly files: readonly string[];
}

/** HT_EXISTS where a file is in the way, HT_NOT_FOUND where nothing was selected, HT_VERIFY where it cannot be proven. */
export async function exportArchive(disk: Disk, folder: string, options: ExportOptions): Promise<ExportReport> {
  const { output, format, replace = false, cdxj = false, sizeBytes } = options;
  if (format === "wacz" && cdxj) throw new ArchiveError("HT_USAGE", "a WACZ has its index in it");
  const isWacz = format === "wacz";
  const names = { target: output, isNumbered: !isWacz && sizeBytes !== undefined, isWacz, hasIndex: cdxj };
  const earlier = filesInTheWay(disk, names);
  if (earlier.length > 0 && !replace && options.dryRun !== true) {
    throw new ArchiveError("HT_EXISTS", `${earlier[0]!}: there already (see --replace)`, { file: earlier[0]! });
  }
  using archive = await Snapshot.openSound(disk, folder);
  refuseOwn(disk, archive, folder, [output, ...earlier]);
  const publish = (files: ExportFiles) => files.publish(replace ? "replace" : "refuse", earlier);
  const selected = new SelectedCaptures(archive, options.selection);
  const told = new Set<string>();
  const begin = () => new ExportRun(disk, archive, options, selected, told);
  try {
    return await exportOnce(begin(), publish);
  } catch (error) {
    if (!isFaultOfCapture(error)) throw error;
  }
  // Something is damaged. What that is takes longer to find, and then everything else goes out.
  await begin().leaveOut();
  return await exportOnce(begin(), publish);
}

async function exportOnce(run: ExportRun, publish: (files: ExportFiles) => string[]): Promise<ExportReport> {
  const { disk, options } = run;
  if (options.dryRun === true) {
    await run.write({ begin: () => ({ write: () => {} }), end: () => {} });
    return run.report([]);
  }
  using files = new ExportFiles(disk, options.output, run.access);
  if (options.format === "warc") await run.toFiles(files);
  else await run.toWacz(files);
  return run.report(publish(files));
}

const MENDED: Readonly<Record<Mending, string>> = {
  anew: "exported as far as it can be read",
  alone: "exported without its request and metadata",
};

/** What the archive reads from is not written to. */
function refuseOwn(disk: Disk, archive: Snapshot, folder: string, paths: readonly string[]): void {
  const adopted = new Set(
    [...archive.catalogue.segments()].flatMap(({ row }) => (row.adopted ? splitName(disk, row.adopted.path)[0] : [])),
  );
  for (const path of paths.map((each) => resolve(each))) {
    if (!path.startsWith(resolve(folder) + sep) && !adopted.has(path)) continue;
    throw new ArchiveError("HT_USAGE", `${path}: is part of the archive`, { file: path });
  }
}

const TURN_CAPTURES = 32;
const TURN_BYTES = 4 << 20;
/** Behind so many, somebody may be warned of a record twice. */
const TOLD_MAX = 100_000;
const CDXJ = { format: "cdxj", stripWww: true, fullPath: false } as const;

class ExportRun {
  readonly disk: Disk;
  readonly options: ExportOptions;
  private readonly archive: Snapshot;
  private readonly selected: SelectedCaptures;
  private readonly fates: Record<ExportFate, number> = { record: 0, revisit: 0, restored: 0, expanded: 0, orphan: 0 };
  private readonly nowMs: number;
  private readonly told: Set<string>;
  private readonly unlinked: Record<string, number> = {};
  private captures = 0;
  private segments = 0;
  private incomplete = 0;
  private left = 0;
  private mended = 0;
  private odd = 0;
  private pages = 0;
  private bytes = 0;
  private pace = { stage: "writing" as ExportProgress["stage"], count: 0, bytes: 0, waiting: 0 };

  /** `told` are the places of records that somebody was warned of already. */
  constructor(disk: Disk, archive: Snapshot, options: ExportOptions, selected: SelectedCaptures, told: Set<string>) {
    this.told = told;
    this.disk = disk;
    this.archive = archive;
    this.options = options;
    this.selected = selected;
    this.nowMs = (options.clock ?? systemClock).now();
  }

  /** Who may read the output, at most. */
  get access(): Access | undefined {
    return this.archive.access();
  }

  report(files: readonly string[]): ExportReport {
    return {
      captures: this.captures,
      left: this.selected.leftCount + this.left,
      mended: this.selected.mendedCount + this.mended,
      ...this.fates,
      incomplete: this.incomplete,
      unlinked: this.unlinked,
      unselected: this.selected.isAll ? {} : this.unselected(),
      odd: this.odd,
      pages: this.pages,
      bytes: this.bytes,
      files,
    };
  }

  private unselected(): Record<string, number> {
    const { continuation = 0, ...others } = this.archive.catalogue.countNotes();
    return continuation > this.segments ? { ...others, continuation: continuation - this.segments } : others;
  }

  /** Lets others have their turn now and then: who wants to interrupt, for one. */
  private async pause(bytes: number): Promise<void> {
    const { pace, options } = this;
    pace.count++;
    pace.bytes += bytes;
    pace.waiting += bytes;
    if (pace.count % TURN_CAPTURES !== 0 && pace.waiting < TURN_BYTES) return;
    pace.waiting = 0;
    await turn();
    if (options.signal?.aborted === true) throw new ArchiveError("HT_INTERRUPTED", "interrupted; nothing was written");
    options.onProgress?.({ stage: pace.stage, captures: pace.count, bytes: pace.bytes });
  }

  private begin(stage: ExportProgress["stage"]): void {
    this.pace = { stage, count: 0, bytes: 0, waiting: 0 };
  }

  /** Leaves out the captures that cannot be taken whole. */
  async leaveOut(): Promise<void> {
    const { disk, archive, selected } = this;
    this.begin("looking");
    const onDamage: SalvageParts["onDamage"] = (capture, error, mending) =>
      this.warn(
        capture.row.place,
        error.code,
        `${describeDamage(capture, error)}; ${mending === undefined ? "skipped" : MENDED[mending]}`,
      );
    await leaveOutDamaged({ disk, archive, selected, pause: (bytes) => this.pause(bytes), onDamage });
  }

  /** Writes the captures to WARC files; those at which other readers stop come last, in files of their own. */
  async write(target: WarcTarget, pages?: ExportPages): Promise<readonly string[]> {
    const { disk, archive, selected } = this;
    using records = new RecordExport(disk, archive, selected);
    const names: string[] = [];
    for (const isOdd of this.kinds) {
      const series = this.seriesOf(target, isOdd);
      for (const capture of capturesOfKind(archive, selected, isOdd)) {
        series.makeRoom();
        const before = series.bytes;
        const fate = records.write(capture, series);
        this.captures++;
        this.fates[fate]++;
        if (isOdd) this.odd++;
        this.tellOf(capture, fate);
        await this.pause(series.bytes - before);
      }
      if (selected.isAll) await this.writeUnlinked(records, series, isOdd, isOdd ? undefined : pages);
      series.end();
      this.bytes += series.bytes;
      names.push(...series.names);
    }
    this.segments = records.segmentCount;
    if (names.length === 0) throw this.nothing();
    return names;
  }

  /** Ordinary records, and odd ones behind them. */
  private get kinds(): readonly boolean[] {
    return mayHaveOdd(this.archive) ? [false, true] : [false];
  }

  private seriesOf(target: WarcTarget, isOdd: boolean): WarcSeries {
    const { archive, options, nowMs } = this;
    const { output, format, sizeBytes, software, description } = options;
    const plainStem = format === "wacz" ? "data" : stemOf(output);
    const stem = isOdd ? oddStem(plainStem) : plainStem;
    const whole = format === "wacz" || isOdd ? `${stem}.warc.gz` : basename(output);
    const nameOf = (number: number) => (sizeBytes === undefined ? whole : numberedName(stem, number));
    const archiveId = archive.settings.id;
    return new WarcSeries({ target, nameOf, sizeBytes, archiveId, software, description, nowMs });
  }

  private nothing(): ArchiveError {
    const { description } = this.options;
    return this.selected.leftCount === 0
      ? new ArchiveError("HT_NOT_FOUND", `nothing to export: ${description}`)
      : new ArchiveError("HT_CORRUPT", `nothing can be exported: ${description}; all captures are damaged`);
  }

  /** Behind the captures: a `warcinfo` says something about what follows it. */
  private async writeUnlinked(
    records: RecordExport,
    series: WarcSeries,
    isOdd: boolean,
    pages?: ExportPages,
  ): Promise<void> {
    const { archive, unlinked } = this;
    const onUnreadable = (segment: number, { code, message }: ArchiveError) =>
      this.warn({ segment, offset: 0, length: 0, inner: 0 }, code, message);
    const all = new UnlinkedRecords(archive, { pause: (bytes) => this.pause(bytes), onUnreadable });
    for await (const { type, place, damage, page } of all) {
      if (isOddPlace(archive, place) !== isOdd) continue;
      if (page !== undefined && this.options.format === "wacz") {
        pages?.addLine(page.line, page.source.slice(0, Math.max(0, page.source.lastIndexOf("!"))));
        continue;
      }
      if (page?.goesWithCapture === true) continue;
      series.makeRoom();
      try {
        if (damage !== undefined) throw new ArchiveError(damage.code, damage.message);
        if (!records.writeUnlinked(place, series)) {
          this.mended++;
          this.warn(place, "HT_CORRUPT", `a ${type} record is damaged; exported as far as it can be read`);
        }
      } catch (error) {
        if (!isFaultOfCapture(error)) throw error;
        this.left++;
        this.warn(place, error.code, `skipped: a ${type} record that cannot be read (${error.message})`);
        continue;
      }
      if (isOdd) this.odd++;
      const name = noteType(type);
      unlinked[name] = (unlinked[name] ?? 0) + 1;
    }
  }

  private tellOf({ row }: SelectedCapture, fate: ExportFate): void {
    if (fate === "orphan")
      this.warn(row.place, "HT_REVISIT_ORPHAN", "a revisit whose original is not in the archive; exported as it is");
    if (!has(row, Flag.segmented) || !has(row, Flag.cutOff)) return;
    this.incomplete++;
    this.warn(
      row.place,
      "HT_RECORD_TRUNCATED",
      "segments of this capture are not in the archive; exported without them",
    );
  }

  private warn({ segment, offset, inner }: RecordPlace, code: ErrorCode, message: string): void {
    const place = `${segment} ${offset} ${inner}`;
    if (this.told.has(place)) return;
    if (this.told.size < TOLD_MAX) this.told.add(place);
    this.options.onWarning?.({ code, message, file: this.archive.shelf.nameOf(segment), offset });
  }

  async toFiles(files: ExportFiles): Promise<void> {
    let open: DurableOutput | undefined;
    try {
      const names = await this.write({
        begin: (name) => {
          open = files.begin(name);
          return open;
        },
        end: () => open?.commit(),
      });
      using index = new LineSorter(this.disk, { scratchParent: files.path });
      const wantsIndex = this.options.cdxj === true;
      await this.check(names, (name) => files.open(name), wantsIndex ? index : undefined);
      if (!wantsIndex) return;
      using output = files.begin(`${stemOf(this.options.output)}.cdxj`);
      for (const chunk of index.sorted()) output.write(chunk);
      output.commit();
    } finally {
      open?.abort();
    }
  }

  async toWacz(files: ExportFiles): Promise<void> {
    const { output: path, description, software } = this.options;
    using output = files.begin(basename(path));
    const wacz = new WaczOutput(output, this.nowMs);
    const inside = (name: string) => `archive/${name}`;
    using pages = new ExportPages(this.archive, files);
    if (this.selected.isAll) pages.addAdopted(this.disk);
    const names = await this.write({ begin: (name) => wacz.begin(inside(name)), end: () => wacz.end() }, pages);
    using index = new LineSorter(this.disk, { scratchParent: files.path });
    await this.check(names, (name) => wacz.open(inside(name)), index, pages);
    this.pages = pages.count;
    wacz.add("indexes/index.cdxj", index.sorted());
    for (const { name, header, isEmpty } of pages.finish())
      wacz.add(`pages/${name}`, isEmpty ? [header] : headed(header, piecesOf(files.open(name))));
    wacz.finish({ title: stemOf(path), description, software, createdMs: this.nowMs });
    output.commit();
    await closing(files.open(basename(path)), (source) => checkZip(source, (bytes) => this.pause(bytes)));
  }

  /** The captures as they are written. */
  private *inOrder(): Generator<SelectedCapture> {
    for (const isOdd of this.kinds) yield* capturesOfKind(this.archive, this.selected, isOdd);
  }

  private async check(
    names: readonly string[],
    open: (name: string) => ByteSource,
    index?: LineSorter,
    pages?: ExportPages,
  ): Promise<void> {
    this.begin("checking");
    const check = new ExportCheck({
      captures: this.inOrder(),
      pause: (bytes) => this.pause(bytes),
      onRecord: (record, scan, start, capture) => {
        if (index !== undefined && isIndexed(record)) index.add(formatCdxjLine(cdxEntryOf(record, scan, CDXJ)));
        const page = pages === undefined || capture === undefined ? undefined : pageOf(record, scan, start);
        if (page !== undefined) pages!.addPage(page, capture!.row.source);
      },
    });
    for (const name of names) await closing(open(name), (source) => check.file(source));
    check.end();
  }
}

async function closing(source: ByteSource, use: (source: ByteSource) => Promise<void>): Promise<void> {
  try {
    await use(source);
  } finally {
    source.close?.();
  }
}

function* headed(header: Uint8Array, pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield header;
  yield* pieces;
}

const PIECE_SIZE = 1 << 18;

/** The bytes of a source, which is closed behind them. Pieces are valid until the next one is asked for. */
function* piecesOf(source: ByteSource): Generator<Uint8Array> {
  try {
    const buffer = Buffer.allocUnsafe(PIECE_SIZE);
    for (let at = 0, count = source.read(buffer, 0); count > 0; count = source.read(buffer, at)) {
      yield buffer.subarray(0, count);
      at += count;
    }
  } finally {
    source.close?.();
  }
}
