/**
 * Takes captures out of an archive as WARC or WACZ that stands by itself: nothing in it refers to a record that is not in
 * it, but for revisits whose originals the archive does not have either. The files get their names after they have been
 * read back.
 */
import { basename, resolve, sep } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { ArchiveError, type Clock, formatIso, systemClock, type Warning } from "../../base/index.ts";
import type { Disk, DurableOutput } from "../../disk/index.ts";
import { cdxEntryOf, isIndexed, LineSorter, splitName } from "../../pipeline/index.ts";
import { type ByteSource, formatCdxjLine } from "../../warc/index.ts";
import { Snapshot } from "../asking/snapshot.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { ExportCheck } from "./export-check.ts";
import { ExportFiles, filesInTheWay, numberedName, stemOf } from "./export-files.ts";
import { PAGES_HEADER, pageOf } from "./export-page.ts";
import { type ExportFate, RecordExport } from "./export-record.ts";
import { leaveOutDamaged } from "./export-salvage.ts";
import { type ExportSelection, SelectedCaptures } from "./export-selection.ts";
import { WarcSeries, type WarcTarget } from "./export-series.ts";
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
  /** Leaves out, and tells of, captures that are damaged; without it one is enough to fail the export. */
  readonly salvage?: boolean | undefined;
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
  /** Captures that are damaged. */
  readonly left: number;
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
  const names = { target: output, isNumbered: format === "warc" && sizeBytes !== undefined, hasIndex: cdxj };
  const earlier = filesInTheWay(disk, names);
  if (earlier.length > 0 && !replace && options.dryRun !== true) {
    throw new ArchiveError("HT_EXISTS", `${earlier[0]!}: there already (see --replace)`, { file: earlier[0]! });
  }
  using archive = await Snapshot.openSound(disk, folder);
  refuseOwn(disk, archive, folder, [output, ...earlier]);
  const run = new ExportRun(disk, archive, options);
  if (options.salvage === true) await run.salvage();
  if (options.dryRun === true) {
    await run.write({ begin: () => ({ write: () => {} }), end: () => {} });
    return run.report([]);
  }
  using files = new ExportFiles(disk, output);
  if (format === "warc") await run.toFiles(files);
  else await run.toWacz(files);
  return run.report(files.publish(replace ? "replace" : "refuse", earlier));
}

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
const CDXJ = { format: "cdxj", stripWww: true, fullPath: false } as const;

class ExportRun {
  private readonly disk: Disk;
  private readonly archive: Snapshot;
  private readonly options: ExportOptions;
  private readonly selected: SelectedCaptures;
  private readonly fates: Record<ExportFate, number> = { record: 0, revisit: 0, restored: 0, expanded: 0, orphan: 0 };
  private readonly nowMs: number;
  private captures = 0;
  private pages = 0;
  private bytes = 0;
  private pace = { stage: "writing" as ExportProgress["stage"], count: 0, bytes: 0, waiting: 0 };

  constructor(disk: Disk, archive: Snapshot, options: ExportOptions) {
    this.disk = disk;
    this.archive = archive;
    this.options = options;
    const onLeft = (found: FoundCapture, error: ArchiveError) => this.tellLeft(found, error);
    this.selected = new SelectedCaptures(archive, options.selection, options.salvage === true ? onLeft : undefined);
    this.nowMs = (options.clock ?? systemClock).now();
  }

  report(files: readonly string[]): ExportReport {
    return {
      captures: this.captures,
      left: this.selected.leftCount,
      ...this.fates,
      pages: this.pages,
      bytes: this.bytes,
      files,
    };
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

  async salvage(): Promise<void> {
    const { disk, archive, selected } = this;
    this.begin("looking");
    await leaveOutDamaged({ disk, archive, selected, pause: (bytes) => this.pause(bytes) });
    this.begin("writing");
  }

  private tellLeft({ timeMs, row }: FoundCapture, error: ArchiveError): void {
    const { segment, offset } = row.place;
    const message = `left out: the capture of ${formatIso(timeMs)} cannot be read (${error.message})`;
    this.options.onWarning?.({ code: error.code, message, file: this.archive.shelf.nameOf(segment), offset });
  }

  /** Writes the captures to WARC files. */
  async write(target: WarcTarget): Promise<readonly string[]> {
    const { disk, archive, options, selected, nowMs } = this;
    const { output, format, sizeBytes, software, description } = options;
    const stem = format === "wacz" ? "data" : stemOf(output);
    const whole = format === "wacz" ? "data.warc.gz" : basename(output);
    const nameOf = (number: number) => (sizeBytes === undefined ? whole : numberedName(stem, number));
    const archiveId = archive.settings.id;
    const series = new WarcSeries({ target, nameOf, sizeBytes, archiveId, software, description, nowMs });
    using records = new RecordExport(disk, archive, selected);
    for (const capture of selected) {
      series.makeRoom();
      const before = series.bytes;
      const fate = records.write(capture, series);
      this.captures++;
      this.fates[fate]++;
      if (fate === "orphan") this.warn(capture.row.place);
      await this.pause(series.bytes - before);
    }
    series.end();
    if (this.captures === 0) throw new ArchiveError("HT_NOT_FOUND", `nothing to export: ${description}`);
    this.bytes = series.bytes;
    return series.names;
  }

  private warn({ segment, offset }: { readonly segment: number; readonly offset: number }): void {
    const message = "a revisit whose original is not in the archive; exported as it is";
    this.options.onWarning?.({ code: "HT_REVISIT_ORPHAN", message, file: this.archive.shelf.nameOf(segment), offset });
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
    const names = await this.write({ begin: (name) => wacz.begin(inside(name)), end: () => wacz.end() });
    using index = new LineSorter(this.disk, { scratchParent: files.path });
    {
      using pages = files.scribble("pages.jsonl");
      pages.write(Buffer.from(`${JSON.stringify(PAGES_HEADER)}\n`));
      await this.check(names, (name) => wacz.open(inside(name)), index, pages);
      pages.commit();
    }
    wacz.add("indexes/index.cdxj", index.sorted());
    wacz.add("pages/pages.jsonl", piecesOf(files.open("pages.jsonl")));
    wacz.finish({ title: stemOf(path), description, software, createdMs: this.nowMs });
    output.commit();
    await closing(files.open(basename(path)), (source) => checkZip(source, (bytes) => this.pause(bytes)));
  }

  private async check(
    names: readonly string[],
    open: (name: string) => ByteSource,
    index?: LineSorter,
    pages?: DurableOutput,
  ): Promise<void> {
    this.begin("checking");
    const check = new ExportCheck({
      captures: this.selected[Symbol.iterator](),
      pause: (bytes) => this.pause(bytes),
      onRecord: (record, scan, start) => {
        if (index !== undefined && isIndexed(record)) index.add(formatCdxjLine(cdxEntryOf(record, scan, CDXJ)));
        const page = pages === undefined ? undefined : pageOf(record, scan, start);
        if (page === undefined) return;
        pages!.write(Buffer.from(`${JSON.stringify(page)}\n`));
        this.pages++;
      },
    });
    try {
      for (const name of names) await closing(open(name), (source) => check.file(source));
      check.end();
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code !== "HT_VERIFY") throw error;
      const advice = "the export was thrown away (--salvage leaves out what is damaged, doctor --scrub finds it)";
      throw new ArchiveError("HT_VERIFY", `${error.message}; ${advice}`, error.place, error);
    }
  }
}

async function closing(source: ByteSource, use: (source: ByteSource) => Promise<void>): Promise<void> {
  try {
    await use(source);
  } finally {
    source.close?.();
  }
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
