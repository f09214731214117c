/** The one who writes an archive: adds files to it, adopts them, takes captures out. */
import { ArchiveError } from "../base/index.ts";
import type { Policy } from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import { comparePackages, type Input, type RecordFacts, SeenPayloads, Spool } from "../pipeline/index.ts";
import { type AdoptOptions, type AdoptReport, adoptInputs } from "./adding/adopt.ts";
import { crawlName } from "./adding/crawl-name.ts";
import { Intake } from "./adding/intake.ts";
import type { IntakeCounts } from "./adding/intake-counts.ts";
import { type TakeOptions, takeFacts } from "./adding/take-facts.ts";
import { KnownInArchive } from "./asking/known-in-archive.ts";
import { Locator } from "./asking/locator.ts";
import { type CompactOptions, type CompactReport, compactArchive } from "./care/compact.ts";
import { type RebuildOptions, type RebuildReport, rebuildArchive } from "./care/rebuild.ts";
import { type RemoveOptions, type RemoveReport, removeCaptures, type Selection } from "./care/remove.ts";
import type { Catalogue } from "./catalogue/catalogue.ts";
import type { CatalogueState } from "./catalogue/catalogue-view.ts";
import { ArchiveCore, type WriterOptions } from "./core/archive-core.ts";
import { loadForInputs, loadForSegments } from "./segments/load-zstd.ts";

export interface AddOptions extends TakeOptions {
  readonly policy?: Policy | undefined;
  /** The crawl that all inputs are part of; else each says it (`isPartOf`), or its name. HT_USAGE where it is blank. */
  readonly crawl?: string | undefined;
  /** Takes back what was removed before. */
  readonly readmit?: boolean | undefined;
  /** Lets payloads go for originals without reading these once in a run. */
  readonly trustOriginals?: boolean | undefined;
}

export interface AddReport extends IntakeCounts {
  readonly tally: Intake["tally"];
  readonly files: number;
  readonly skipped: number;
  /** Revisits of the whole archive whose originals are not there. */
  readonly pending: number;
}

export class ArchiveWriter implements AsyncDisposable {
  private readonly core: ArchiveCore;

  /** HT_NOT_FOUND where there is none, HT_LOCKED where somebody else writes. */
  static open(disk: Disk, folder: string, options: WriterOptions = {}): ArchiveWriter {
    return new ArchiveWriter(ArchiveCore.open(disk, folder, options));
  }

  /** Makes everything anew that follows from the segments and the journal. */
  static rebuild(disk: Disk, folder: string, options: RebuildOptions = {}): Promise<RebuildReport> {
    return rebuildArchive(disk, folder, options);
  }

  private constructor(core: ArchiveCore) {
    this.core = core;
  }

  get state(): CatalogueState {
    return this.core.catalogue.state;
  }

  /**
   * Whether contents are known, and where, as of now: while an `add` is under way, that includes what it has taken and not
   * committed yet. To be closed.
   */
  async known(): Promise<KnownInArchive> {
    await loadForSegments(this.core.catalogue);
    return this.knownAs(false);
  }

  private knownAs(isTrusted: boolean): KnownInArchive {
    const { disk, paths, catalogue, shelf } = this.core;
    const locator = new Locator(disk, paths.folder, catalogue, shelf);
    return new KnownInArchive({ catalogue, shelf, locator, isTrusted, onClose: () => locator[Symbol.dispose]() });
  }

  /** Adds archive files. Resolves when everything that it counts is durable. */
  async add(inputs: readonly Input[], options: AddOptions = {}): Promise<AddReport> {
    const { core } = this;
    const { policy = {}, readmit = false, trustOriginals = false } = options;
    const { disk, catalogue, commits } = core;
    using known = this.knownAs(trustOriginals);
    using intake = new Intake(core, { known, policy, readmit, crawl: givenCrawl(options) });
    using spool = new Spool(disk, core.paths.folder);
    const readable = takeReadable(spool, inputs, options);
    comparePackages(disk, readable, core.onWarning);
    await loadForInputs(disk, readable);
    await loadForSegments(catalogue);
    const sink = {
      begin: (input: Input) => intake.begin(input),
      take: (facts: RecordFacts) => intake.take(facts),
      end: () => intake.end(),
    };
    const skipped = await takeFacts(core, readable, options, sink, payloadsIn(catalogue));
    commits.commit();
    const { pending } = catalogue.state;
    const unreadable = inputs.length - readable.length;
    return { ...intake.counts, tally: intake.tally, files: inputs.length, skipped: skipped + unreadable, pending };
  }

  /** Makes files part of the archive where they lie. They must not change any more. */
  async adopt(inputs: readonly Input[], options: AdoptOptions = {}): Promise<AdoptReport> {
    comparePackages(this.core.disk, inputs, this.core.onWarning);
    await loadForInputs(this.core.disk, inputs);
    await loadForSegments(this.core.catalogue);
    return await adoptInputs(this.core, inputs, { ...options, crawl: givenCrawl(options) });
  }

  /** Takes captures out of the archive; they do not come back with the files that they came from. */
  async remove(selection: Selection, options: RemoveOptions): Promise<RemoveReport> {
    await loadForSegments(this.core.catalogue);
    return removeCaptures(this.core, selection, options);
  }

  /** Gives back the space of what nothing leads to any more. */
  compact(options: CompactOptions = {}): CompactReport {
    return compactArchive(this.core, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.core[Symbol.dispose]();
    return Promise.resolve();
  }
}

function givenCrawl({ crawl }: { readonly crawl?: string | undefined }): string | undefined {
  if (crawl === undefined) return undefined;
  const name = crawlName(crawl);
  if (name === undefined) throw new ArchiveError("HT_USAGE", "a crawl needs a name");
  return name;
}

/** An input that cannot be copied to where it can be read twice is skipped; the others are taken. */
function takeReadable(spool: Spool, inputs: readonly Input[], { onSkip }: TakeOptions): Input[] {
  return inputs.flatMap((input) => {
    try {
      return [spool.take(input)];
    } catch (error) {
      // Not where the copy is to blame.
      const { file } = error instanceof ArchiveError ? error.place : {};
      if (!(error instanceof ArchiveError) || (file !== input.name && file !== input.path)) throw error;
      onSkip?.({ name: input.name, error });
      return [];
    }
  });
}

/** To tell the threads of so many payloads takes as long as it saves. */
const TOLD_MAX = 500_000;

/** The payloads that an archive has; where there are too many, any might be. */
function payloadsIn(catalogue: Catalogue): SeenPayloads {
  const seen = new SeenPayloads();
  if (catalogue.state.contents > TOLD_MAX) seen.addAll();
  else for (const { digest } of catalogue.allOriginals()) seen.add(digest.toString("hex"));
  return seen;
}
