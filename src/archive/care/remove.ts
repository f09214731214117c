/**
 * Taking captures out of an archive. They leave catalogue and timeline at once; the journal says what left, when and why.
 * Their records leave the disk with the next compaction, unless their payload is what others refer to.
 */
import { ArchiveError, formatIso } from "../../base/index.ts";
import { timeOfDate } from "../../dedup/index.ts";
import { keyRange } from "../../url/index.ts";
import { archiveKey, FIRST_MS, LAST_MS, markIn, timeOf } from "../catalogue/capture-key.ts";
import { type CaptureRow, DIGEST_HALF, Flag, halfOf, has, isHolder } from "../catalogue/capture-row.ts";
import { latin1, Table } from "../catalogue/catalogue-keys.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { factsLeft } from "../catalogue/removed-row.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import type { RemovedCapture, RemoveEntry } from "../journal/journal.ts";
import { readable } from "../segments/segments.ts";

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

const ENTRY_SIZE = 1000;
/** Rows of the catalogue that change with a capture, about. */
const ROWS_EACH = 10;

export function removeCaptures(core: ArchiveCore, selection: Selection, options: RemoveOptions): RemoveReport {
  requireOne(selection);
  const removal = new Removal(core, selection, options);
  return options.dryRun === true ? removal.tryOut() : removal.run();
}

class Removal {
  private readonly core: ArchiveCore;
  private readonly selection: Selection;
  private readonly options: RemoveOptions;

  constructor(core: ArchiveCore, selection: Selection, options: RemoveOptions) {
    this.core = core;
    this.selection = selection;
    this.options = options;
  }

  tryOut(): RemoveReport {
    const { catalogue } = this.core;
    const payloads = new Map<string, number>();
    let captures = 0;
    for (const found of select(this.core, this.selection)) {
      captures++;
      this.options.onCapture?.(this.describe(found, new Set()));
      const payload = isHolder(found.row) ? halfText(found.row) : undefined;
      if (payload !== undefined) payloads.set(payload, (payloads.get(payload) ?? 0) + 1);
    }
    let contents = 0;
    for (const [payload, count] of payloads) {
      let holders = 0;
      for (const key of catalogue.listed(Table.seen, payload)) if (isHolder(catalogue.capture(key)!)) holders++;
      if (holders === count) contents++;
    }
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
    for (const turn of this.selection.sha256 === undefined ? [undefined] : TURNS) {
      for (let from: string | undefined; ; ) {
        const portion = this.next(from, turn);
        if (portion.length === 0) break;
        this.take(portion, shared);
        from = portion.at(-1)!.key;
      }
    }
    const { captures, contents } = catalogue.state;
    return { captures: before.captures - captures, contents: before.contents - contents };
  }

  private next(from: string | undefined, turn: Turn | undefined): FoundCapture[] {
    const size = Math.max(1, Math.ceil(this.core.commits.changesMax / ROWS_EACH));
    const all = select(this.core, this.selection, from);
    if (turn === "by name") {
      // Each leads to an earlier one, if to any of them.
      const named = [...all].filter(({ row }) => turnOf(row) === turn);
      return named.sort((one, other) => other.timeMs - one.timeMs).slice(0, size);
    }
    const portion: FoundCapture[] = [];
    for (const found of all) {
      if (turn !== undefined && turnOf(found.row) !== turn) continue;
      if (portion.length === size) break;
      portion.push(found);
    }
    return portion;
  }

  private take(portion: readonly FoundCapture[], shared: Omit<RemoveEntry, "captures">): void {
    const { core } = this;
    const last = this.lastOf(portion);
    const captures = portion.map((found) => this.describe(found, last));
    const entries: RemoveEntry[] = [];
    for (let at = 0; at < captures.length; at += ENTRY_SIZE) {
      entries.push({ ...shared, captures: captures.slice(at, at + ENTRY_SIZE) });
    }
    core.commits.journal(...entries);
    core.commits.commit();
    const stayed = portion.find(({ key }) => !has(core.catalogue.capture(key)!, Flag.removed));
    if (stayed !== undefined)
      throw new ArchiveError("HT_CORRUPT", `${stayed.row.url} cannot be removed; see holotype doctor`);
    for (const capture of captures) this.options.onCapture?.(capture);
  }

  /** The payloads that no capture has behind these. */
  private lastOf(portion: readonly FoundCapture[]): ReadonlySet<string> {
    const { catalogue } = this.core;
    const going = new Set(portion.map(({ key }) => key));
    const last = new Set<string>();
    for (const { row } of portion) {
      const half = isHolder(row) ? halfText(row) : undefined;
      if (half === undefined || last.has(half)) continue;
      let isHeld = false;
      for (const key of catalogue.listed(Table.seen, half)) {
        if (going.has(key) || !isHolder(catalogue.capture(key)!)) continue;
        isHeld = true;
        break;
      }
      if (!isHeld) last.add(half);
    }
    return last;
  }

  private describe({ key, timeMs, row }: FoundCapture, last: ReadonlySet<string>): RemovedCapture {
    const half = halfText(row);
    return {
      url: row.url,
      date: formatIso(timeMs),
      ...(timeOfDate(formatIso(timeMs)) === timeMs ? {} : { timeMs }),
      sha256: row.payload?.sha256.toString("hex") ?? null,
      id: readable(() => this.core.shelf.idOf(row.place)) ?? null,
      source: row.source,
      mark: Buffer.from(markIn(key), "latin1").toString("hex"),
      visit: factsLeft(row),
      ...(half !== undefined && last.has(half) ? { isLast: true } : {}),
    };
  }
}

/**
 * The order in which captures of a payload go: first those that have it by others. Cut off in between, the removal selects
 * the rest when it is done again.
 */
const TURNS = ["silent", "by name", "by digest", "by itself"] as const;
type Turn = (typeof TURNS)[number];

function turnOf(row: CaptureRow): Turn {
  if (has(row, Flag.silent)) return "silent";
  if (isHolder(row)) return "by itself";
  return has(row, Flag.byDigest) ? "by digest" : "by name";
}

/** The first half of the digest of its payload. */
function halfText({ payload }: CaptureRow): string | undefined {
  return payload && latin1(payload.sha256.subarray(0, DIGEST_HALF));
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

/** Behind a key, where one is given. */
function* select(core: ArchiveCore, selection: Selection, behindKey = ""): Generator<FoundCapture> {
  const { url, site, prefix, sha256, fromMs = FIRST_MS, toMs = LAST_MS } = selection;
  const { catalogue } = core;
  const isInSpan = ({ timeMs, row }: FoundCapture) => {
    if (fromMs === FIRST_MS && toMs === LAST_MS) return true;
    return timeMs >= fromMs && timeMs <= toMs && !has(row, Flag.undated);
  };
  if (sha256 !== undefined) {
    for (const key of catalogue.seen(halfOf(sha256))) {
      const found = { key, timeMs: timeOf(key), row: catalogue.capture(key)! };
      if (found.row.payload?.sha256.toString("hex") === sha256 && isInSpan(found)) yield found;
    }
    return;
  }
  const ofUrl = () => {
    const key = archiveKey(url);
    return { from: `${key}\0`, to: `${key}\x01` };
  };
  const range =
    url !== undefined ? ofUrl() : site === undefined ? keyRange(prefix!, "prefix") : keyRange(site, "domain");
  const from = behindKey === "" ? range.from : `${behindKey}\0`;
  for (const found of catalogue.rowsIn(from, range.to)) if (isInSpan(found)) yield found;
}
