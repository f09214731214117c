/**
 * A job that fetches a list of URLs into a folder. Killed at any moment and run again it goes on: what its crawl.log tells
 * of is done, what was in flight is fetched again.
 */
import { join } from "node:path";
import { ArchiveError, type Clock, type Random, type Warning } from "../base/index.ts";
import { JoinedContents, type KnownContents } from "../dedup/index.ts";
import { DigestIndex } from "../digests/index.ts";
import type { Disk } from "../disk/index.ts";
import { FAILURES, type HttpClient } from "../http/index.ts";
import { ArchiveFeed } from "./archive-feed.ts";
import { CaptureWriter } from "./capture-writer.ts";
import { ConditionalFetcher } from "./conditional-fetcher.ts";
import { CrawlLog } from "./crawl-log.ts";
import { type FetchReport, fetchReport, writeFetchReport } from "./fetch-report.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { HostQueues } from "./host-queues.ts";
import { type JobIdentity, openJobFolder, urlsIdentity } from "./job-folder.ts";
import { OwnCaptures } from "./own-captures.ts";
import { PastRetrievals } from "./past-retrievals.ts";
import { hostnameOf, parseTarget } from "./redirect.ts";
import { capturesIn, learnable } from "./relearn.ts";
import type { Assignment, Retrieval } from "./retrieval.ts";
import type { RetrievalTally } from "./retrieval-tally.ts";
import { isOfJob, recoverSeries } from "./series-recovery.ts";
import { listSeries, WarcSeries } from "./warc-series.ts";
import { SpoolPool } from "./wire-spool.ts";

export interface FetchJobOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly folder: string;
  /** As they were given, in their order. */
  readonly urls: readonly string[];
  /** The settings by which this job is told from others; see `JobIdentity`. */
  readonly identity: JobIdentity["settings"];
  readonly settings: FetchSettings;
  readonly client: HttpClient;
  /** What is known from before. */
  readonly known: readonly KnownContents[];
  /** How these are called in the report. */
  readonly against?: string | undefined;
  /** An archive that takes the captures, and is asked first. */
  readonly archive?: string | undefined;
  /** How long a host rests between two requests. */
  readonly delayMs: number;
  /** How many hosts are asked at the same time. */
  readonly parallel: number;
  readonly prefix: string;
  readonly fileSizeMaxBytes?: number | undefined;
  /** Aborted, the job ends at once, and can be gone on with. */
  readonly signal?: AbortSignal | undefined;
  /** What it tells is durable. Of a job that goes on, only what this run did. */
  readonly onRetrieval?: ((retrieval: Retrieval, progress: FetchProgress) => void) | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
}

export interface FetchProgress {
  readonly done: number;
  /** Grows with each redirect. */
  readonly total: number;
}

export interface FetchResult {
  readonly tally: RetrievalTally;
  readonly isInterrupted: boolean;
  /** URLs that are not done, of those that were given or led to by redirects. */
  readonly left: number;
  /** Of the whole job, what earlier runs did included. It is in the folder as well. */
  readonly report: FetchReport;
}

/** The files of a job that feeds an archive are small, so that what was captured is soon in it. */
const FEED_SIZE = 64 << 20;
const FEED_AFTER_MS = 20_000;
/** So much of what is not a URL is told of it. */
const UNFETCHABLE_SIZE_MAX = 1000;

export async function runFetchJob(options: FetchJobOptions): Promise<FetchResult> {
  const { disk, folder, urls, identity, archive, onWarning = () => {} } = options;
  using job = openJobFolder(disk, folder, { settings: identity, urls: urlsIdentity(urls) }, options);
  await using feed = archive === undefined ? undefined : await ArchiveFeed.open({ disk, archive, folder, onWarning });
  const past = new PastRetrievals();
  const logPath = join(folder, "crawl.log");
  using log = CrawlLog.open(
    disk,
    logPath,
    (retrieval) => past.add(retrieval),
    (line) => onWarning({ code: "HT_CORRUPT", message: `line ${line} cannot be read`, file: logPath, offset: 0 }),
  );
  const isOwn = (name: string) => isOwnFile(options, job.id, name);
  recoverSeries(disk, folder, (name) => past.offsets.get(name) ?? 0, isOwn);
  const run = new FetchRun(options, job.id, log, past, feed);
  return await run.run();
}

/** Files that somebody else has put into the folder are left alone, and named. */
function isOwnFile({ disk, folder, prefix, onWarning }: FetchJobOptions, job: string, name: string): boolean {
  const path = join(folder, name);
  const isOwn = isOfJob(disk, path, job) ?? name.startsWith(`${prefix}-`);
  if (!isOwn)
    onWarning?.({ code: "HT_CHANGED", message: "not a file of this job; it is left alone", file: path, offset: 0 });
  return isOwn;
}

class FetchRun {
  private readonly options: FetchJobOptions;
  private readonly id: string;
  private readonly log: CrawlLog;
  private readonly past: PastRetrievals;
  private readonly feed: ArchiveFeed | undefined;
  private readonly queues: HostQueues<Assignment>;
  /** URLs that are done, under way or waiting. */
  private readonly seen = new Set<string>();
  /** Captured before a crash, and not told of: these are fetched again. */
  private readonly captured = new Set<string>();
  private readonly stop = new AbortController();
  private done = 0;
  private failure: { readonly error: unknown } | undefined;
  private fileBeganMs = 0;

  constructor(
    options: FetchJobOptions,
    id: string,
    log: CrawlLog,
    past: PastRetrievals,
    feed: ArchiveFeed | undefined,
  ) {
    this.options = options;
    this.id = id;
    this.log = log;
    this.past = past;
    this.feed = feed;
    this.queues = new HostQueues(options.delayMs);
  }

  async run(): Promise<FetchResult> {
    const { disk, folder } = this.options;
    const index = this.options.settings.deduplicates ? this.openIndex() : undefined;
    try {
      await this.work(index);
    } catch (error) {
      // What stopped the job is what counts, and an index is whole however it is closed.
      await index?.close().catch(() => {});
      throw error;
    }
    await index?.close();
    const { tally } = this.past;
    const { against = "", settings, signal } = this.options;
    const left = this.seen.size - this.done;
    const report = fetchReport(tally, settings, { left, added: this.feed?.captures ?? 0, against });
    writeFetchReport(disk, folder, report);
    return { tally, isInterrupted: signal?.aborted === true, left, report };
  }

  private openIndex(): DigestIndex {
    const { disk, folder, settings } = this.options;
    const equivalent = settings.indexesEquivalent;
    const learning = { settings: { url: true, digest: true, equivalent, validators: true } };
    return DigestIndex.open(disk, join(folder, "digests"), { learning });
  }

  private async work(index: DigestIndex | undefined): Promise<void> {
    const { disk, folder, signal, client } = this.options;
    using series = this.openSeries();
    const own = index && new OwnCaptures(index, (name) => series.files.has(name));
    if (index !== undefined && own !== undefined) await this.relearn(index, own);
    if (this.feed !== undefined) {
      for (const { name, isOpen } of listSeries(disk, folder)) {
        if (!isOpen && isOwnFile(this.options, this.id, name)) this.feed.add(name);
      }
    }
    const writer = this.openWriter(series, own);
    const interrupt = () => this.end();
    signal?.addEventListener("abort", interrupt);
    if (signal?.aborted === true) this.end();
    try {
      await this.fetchAll(writer, own);
    } finally {
      signal?.removeEventListener("abort", interrupt);
      client.close();
    }
    await writer.finish();
    if (this.failure !== undefined) throw this.failure.error;
    series.seal();
    await this.feed?.finish();
  }

  private openSeries(): WarcSeries {
    const { disk, folder, prefix, clock, random, fileSizeMaxBytes, settings } = this.options;
    const info = [
      ["isPartOf", this.id],
      ...settings.headers
        .filter(([name]) => name === "User-Agent")
        .map(([, value]) => ["http-header-user-agent", value]),
    ] as [string, string][];
    const sizeMaxBytes = fileSizeMaxBytes ?? (this.feed === undefined ? undefined : FEED_SIZE);
    const onSealed = (name: string) => this.feed?.add(name);
    return new WarcSeries({ disk, folder, prefix, clock, random, sizeMaxBytes, info, onSealed });
  }

  /** Has the index learn what is in the files and not in it: after a crash, or where somebody has lost the index. */
  private async relearn(index: DigestIndex, own: OwnCaptures): Promise<void> {
    const { disk, folder, settings, onWarning, known } = this.options;
    const isOwn = (name: string) => isOwnFile(this.options, this.id, name);
    // An archive that takes the files knows what they held.
    const isLost = this.feed === undefined && index.info().entries < this.past.learned;
    if (isLost) {
      const message = "entries are missing; they are made again from the WARC files of the job";
      onWarning?.({ code: "HT_CORRUPT", message, file: join(folder, "digests"), offset: 0 });
    }
    const captures = capturesIn(disk, folder, isOwn, isLost ? undefined : this.past.last);
    for await (const entry of learnable(captures, new JoinedContents(known), settings.origin)) {
      if (!this.past.isDone(entry.uri)) this.captured.add(entry.uri);
      await own.learn([entry]);
    }
  }

  private openWriter(series: WarcSeries, own: OwnCaptures | undefined): CaptureWriter {
    const { clock, random } = this.options;
    return new CaptureWriter({
      series,
      own,
      log: this.log,
      clock,
      random,
      onPublished: (retrieval) => this.publish(retrieval),
      ...(this.feed === undefined ? {} : { onGroup: () => this.feedArchive(series) }),
    });
  }

  private publish(retrieval: Retrieval): void {
    this.done++;
    this.past.tally.add(retrieval);
    this.options.onRetrieval?.(retrieval, { done: this.done, total: this.seen.size });
  }

  /** Has the archive take what was captured, from time to time. */
  private feedArchive(series: WarcSeries): void {
    const nowMs = performance.now();
    if (series.openSize === 0) this.fileBeganMs = nowMs;
    else if (series.openSize >= FEED_SIZE || nowMs - this.fileBeganMs >= FEED_AFTER_MS) {
      series.seal();
      this.fileBeganMs = nowMs;
    }
  }

  private async fetchAll(writer: CaptureWriter, own: OwnCaptures | undefined): Promise<void> {
    const { disk, folder, urls, known, client, settings, parallel, clock } = this.options;
    this.fileBeganMs = performance.now();
    const sources = [own, this.feed, ...known].filter((source) => source !== undefined);
    using spools = new SpoolPool({ disk, folder });
    const fetcher = new ConditionalFetcher({
      client,
      known: new JoinedContents(sources),
      writer,
      spools,
      settings,
      clock,
      isAgain: (uri) => this.captured.has(uri),
    });
    for (const text of urls) {
      const uri = parseTarget(text);
      if (uri === undefined) await this.noteUnfetchable(writer, text);
      else this.enqueue({ uri, hops: "" });
    }
    for (const target of this.past.redirects) this.enqueue(target);
    const work = async () => {
      for (let turn = await this.queues.next(); turn !== undefined; turn = await this.queues.next()) {
        try {
          const target = await fetcher.fetch(turn.item, this.stop.signal);
          if (target !== undefined) this.enqueue(target);
        } catch (error) {
          if (!(error instanceof ArchiveError) || error.code !== "HT_INTERRUPTED") this.failure ??= { error };
          this.end();
        } finally {
          turn.end();
        }
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
  }

  private async noteUnfetchable(writer: CaptureWriter, text: string): Promise<void> {
    // As it will be found in the log.
    const uri = text.slice(0, UNFETCHABLE_SIZE_MAX).replace(/[\s\p{Cc}]/gu, encodeURIComponent);
    if (this.isSeen(uri)) return;
    const { status } = FAILURES.url;
    const startMs = this.options.clock.now();
    await writer.note({ uri, hops: "", startMs, durationMs: 0, status, outcome: "failed", failure: "url" });
  }

  private isSeen(uri: string): boolean {
    if (this.seen.has(uri)) return true;
    this.seen.add(uri);
    if (!this.past.isDone(uri)) return false;
    this.done++;
    return true;
  }

  private enqueue(assignment: Assignment): void {
    if (!this.isSeen(assignment.uri)) this.queues.add(hostnameOf(assignment.uri), assignment);
  }

  /** Takes nothing more, and lets go of what is in flight. */
  private end(): void {
    this.queues.close();
    this.stop.abort();
  }
}
