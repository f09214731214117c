/**
 * Taking captures out of an archive. They leave catalogue and timeline at once; the journal says what left, when and why.
 * Their records leave the disk with the next compaction, unless their payload is what others refer to.
 */
import { ArchiveError, formatIso } from "../../base/index.ts";
import { keyRange } from "../../url/index.ts";
import { CaptureReader } from "../asking/capture-reader.ts";
import { momentOf, timeOf, urlHash } from "../catalogue/capture-key.ts";
import { archiveKey, DIGEST_HALF } from "../catalogue/capture-row.ts";
import { type FoundCapture } from "../catalogue/catalogue-view.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import type { RemovedCapture, RemoveEntry } from "../journal/journal.ts";

/** Which captures: of a URL, a host and all below it, or a prefix; or those with a payload. The span holds for all. */
export interface Selection {
  readonly url?: string | undefined;
  readonly site?: string | undefined;
  readonly prefix?: string | undefined;
  readonly sha256?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export interface RemoveOptions {
  /** Stands in the journal. */
  readonly reason: string;
  /** Tells what would be removed, and removes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Is told of each capture; when it is gone, unless it only would be. */
  readonly onCapture?: ((capture: RemovedCapture) => void) | undefined;
}

export interface RemoveReport {
  readonly captures: number;
  /** Payloads that no capture has any more. */
  readonly contents: number;
}

const FIRST_MS = -(2 ** 51);
const LAST_MS = 2 ** 51 - 1;
const ENTRY_SIZE = 1000;
/** Rows of the catalogue that change with a capture, about. */
const ROWS_EACH = 10;

export function removeCaptures(core: ArchiveCore, selection: Selection, options: RemoveOptions): RemoveReport {
  requireOne(selection);
  const removal = new Removal(core, selection, options);
  return options.dryRun === true ? removal.tryOut() : removal.run();
}

interface Chosen {
  readonly found: FoundCapture;
  /** Of a site or a prefix: the key that it is filed under. */
  readonly key?: string | undefined;
}

class Removal {
  private readonly core: ArchiveCore;
  private readonly selection: Selection;
  private readonly options: RemoveOptions;
  private readonly reader: CaptureReader;

  constructor(core: ArchiveCore, selection: Selection, options: RemoveOptions) {
    this.core = core;
    this.selection = selection;
    this.options = options;
    this.reader = new CaptureReader(core.catalogue, core.shelf);
  }

  tryOut(): RemoveReport {
    const { catalogue } = this.core;
    const payloads = new Map<string, number>();
    let captures = 0;
    for (const { found } of select(this.core, this.selection)) {
      captures++;
      this.options.onCapture?.(this.describe(found));
      const payload = found.row.digest?.toString("hex");
      if (payload !== undefined) payloads.set(payload, (payloads.get(payload) ?? 0) + 1);
    }
    let contents = 0;
    for (const [payload, count] of payloads)
      if (countOf(catalogue.seen(Buffer.from(payload, "hex"))) === count) contents++;
    return { captures, contents };
  }

  /** In portions, each of which is durable: there may be more captures than there is memory. */
  run(): RemoveReport {
    const { catalogue, clock } = this.core;
    const before = { ...catalogue.state };
    const shared = {
      kind: "remove",
      time: formatIso(clock.now()),
      reason: this.options.reason,
      selection: inWords(this.selection),
      lastSource: catalogue.nextSource() - 1,
    } as const;
    for (let from: string | undefined; ; ) {
      const portion = this.next(from);
      if (portion.length === 0) break;
      this.take(portion, shared);
      from = portion.at(-1)!.key;
    }
    const { captures, contents } = catalogue.state;
    return { captures: before.captures - captures, contents: before.contents - contents };
  }

  private next(from: string | undefined): Chosen[] {
    const portion: Chosen[] = [];
    for (const chosen of select(this.core, this.selection, from)) {
      // Captures of one moment go together: where they have one payload, the timeline keeps all of them or none.
      const isFull = portion.length * ROWS_EACH >= this.core.commitChanges;
      if (isFull && momentOf(chosen.found.key) !== momentOf(portion.at(-1)!.found.key)) break;
      portion.push(chosen);
    }
    return portion;
  }

  private take(portion: readonly Chosen[], shared: Omit<RemoveEntry, "captures">): void {
    const { core } = this;
    const captures = portion.map(({ found }) => this.describe(found));
    const entries: RemoveEntry[] = [];
    for (let at = 0; at < captures.length; at += ENTRY_SIZE) {
      entries.push({ ...shared, captures: captures.slice(at, at + ENTRY_SIZE) });
    }
    core.forgetRemoved(core.journal(...entries));
    const stayed = portion.map(({ found }) => core.catalogue.capture(found.key) !== undefined);
    for (const [i, capture] of captures.entries()) if (!stayed[i]) this.options.onCapture?.(capture);
    const first = captures[stayed.indexOf(true)];
    if (first === undefined) return;
    throw new ArchiveError("HT_CORRUPT", `${first.url} of ${first.date} cannot be removed; see holotype doctor`);
  }

  private describe(found: FoundCapture): RemovedCapture {
    const { digest } = found.row;
    const { url, date, id } = this.reader.details(found);
    const rest = digest === undefined ? undefined : this.core.catalogue.anyOriginal(digest)?.digestRest;
    const sha256 = digest === undefined || rest === undefined ? null : Buffer.concat([digest, rest]).toString("hex");
    const { source, mark } = found.row;
    const told = { url, date: date ?? formatIso(found.timeMs), sha256, id: id ?? null };
    return { ...told, source, mark: mark.toString("hex") };
  }
}

function countOf(all: Iterable<unknown>): number {
  let count = 0;
  for (const _ of all) count++;
  return count;
}

function inWords({ url, site, prefix, sha256, fromMs, toMs }: Selection): string {
  const where =
    url ?? (site === undefined ? undefined : `site ${site}`) ?? (prefix === undefined ? undefined : `${prefix}*`);
  const words = [where ?? `sha256:${sha256!}`];
  if (fromMs !== undefined) words.push(`from ${formatIso(fromMs)}`);
  if (toMs !== undefined) words.push(`to ${formatIso(toMs)}`);
  return words.join(" ");
}

function requireOne({ url, site, prefix, sha256 }: Selection): void {
  if ([url, site, prefix, sha256].filter((each) => each !== undefined).length !== 1) {
    throw new ArchiveError("HT_USAGE", "one of URL, site, prefix or digest says what is removed");
  }
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256)) {
    throw new ArchiveError("HT_USAGE", `not a sha256: ${sha256}`);
  }
}

/** Of a site or a prefix, from a key on. */
function* select(core: ArchiveCore, selection: Selection, fromKey?: string): Generator<Chosen> {
  const { url, site, prefix, sha256, fromMs = FIRST_MS, toMs = LAST_MS } = selection;
  const { catalogue } = core;
  if (sha256 !== undefined) {
    for (const key of catalogue.seen(Buffer.from(sha256, "hex").subarray(0, DIGEST_HALF))) {
      const row = catalogue.capture(key);
      const timeMs = timeOf(key);
      if (row !== undefined && timeMs >= fromMs && timeMs <= toMs) yield { found: { key, timeMs, row } };
    }
    return;
  }
  if (url !== undefined) {
    for (const found of catalogue.captures(urlHash(archiveKey(url)), fromMs, toMs)) yield { found };
    return;
  }
  const range = site === undefined ? keyRange(prefix!, "prefix") : keyRange(site, "domain");
  using snapshot = core.timeline.snapshot();
  let last: string | undefined;
  for (const { key } of snapshot.span(FIRST_MS, LAST_MS, { ...range, from: fromKey ?? range.from })) {
    if (key === last) continue;
    last = key;
    for (const found of catalogue.captures(urlHash(key), fromMs, toMs)) {
      if (found.row.digest !== undefined) yield { found, key };
    }
  }
  for (const found of pendingIn(core, range, fromMs, toMs)) yield { found, key: fromKey ?? last };
}

/** Revisits whose originals are not known are in no timeline. */
function* pendingIn(
  core: ArchiveCore,
  range: { readonly from: string; readonly to: string },
  fromMs: number,
  toMs: number,
): Generator<FoundCapture> {
  const { catalogue, shelf } = core;
  if (catalogue.state.pending === 0) return;
  for (const found of catalogue.allCaptures()) {
    if (found.row.digest !== undefined || found.timeMs < fromMs || found.timeMs > toMs) continue;
    const key = archiveKey(shelf.read(found.row.place, ({ uri }) => uri));
    if (key >= range.from && key < range.to) yield found;
  }
}
