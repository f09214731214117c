/**
 * Taking captures out of an archive. They leave catalogue and timeline at once; the journal says what left, when and why.
 * Their records leave the disk with the next compaction, unless their payload is what others refer to.
 */
import { ArchiveError, formatIso } from "../../base/index.ts";
import { timeOfDate } from "../../dedup/index.ts";
import { unbracket } from "../../warc/index.ts";
import {
  archiveKey,
  type CaptureKey,
  FIRST_MS,
  idMark,
  idMarkIn,
  LAST_MS,
  timeOf,
  urlKeyOf,
} from "../catalogue/capture-key.ts";
import { type CaptureRow, DIGEST_HALF, Flag, halfOf, has, isHolder } from "../catalogue/capture-row.ts";
import { latin1, Table } from "../catalogue/catalogue-keys.ts";
import type { FoundCapture, FoundNote } from "../catalogue/catalogue-view.ts";
import { factsLeft } from "../catalogue/removed-row.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import { Going, isOfLiving, isOfRemoved, namesLiving, notesBeside } from "../entering/removed-notes.ts";
import { toldCapture, toldNote, toldRecord } from "../entering/told.ts";
import type { RemovedCapture, RemovedNote, RemoveEntry } from "../journal/journal.ts";
import { isNamedWith, type Named } from "../segments/companions.ts";
import { readable } from "../segments/segments.ts";
import { firstOf } from "./heirs.ts";
import { rangesOf } from "./removed-range.ts";

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
  /** Requests, metadata and other records that went too, and did not stand beside their captures. */
  readonly notes: number;
  /** Revisits of others that name a removed capture as their original. They stay as they came. */
  readonly revisits: number;
  /** Adopted files in which some of it lies. They keep their bytes. */
  readonly adopted: readonly string[];
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
  private readonly adopted = new Set<string>();
  private notes = 0;
  private revisits = 0;

  constructor(core: ArchiveCore, selection: Selection, options: RemoveOptions) {
    this.core = core;
    this.selection = selection;
    this.options = options;
  }

  tryOut(): RemoveReport {
    const { catalogue } = this.core;
    const payloads = new Map<string, number>();
    const going = new Set<CaptureKey>();
    let captures = 0;
    for (const found of select(this.core, this.selection)) {
      captures++;
      going.add(found.key);
      this.options.onCapture?.(this.describe(found, new Set()));
      this.seeAdopted(found.row.place.segment);
      const payload = isHolder(found.row) ? halfText(found.row) : undefined;
      if (payload !== undefined) payloads.set(payload, (payloads.get(payload) ?? 0) + 1);
    }
    let contents = 0;
    for (const [payload, count] of payloads) {
      let holders = 0;
      for (const key of catalogue.listed(Table.seen, payload)) if (isHolder(catalogue.capture(key)!)) holders++;
      if (holders === count) contents++;
    }
    const notes = new Set<string>();
    const leaving = new Going(catalogue, going);
    const urls = new Set<string>();
    for (const key of going)
      for (const { key: own } of this.notesOf(catalogue.found(key)!, leaving, urls)) notes.add(own);
    for (const { key } of this.strayNotes(going)) notes.add(key);
    this.revisits = this.countRevisits([...payloads.keys()], (found) => going.has(found.key));
    return this.report(captures, contents, notes.size);
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
        from = portion.at(-1)!.under ?? portion.at(-1)!.key;
      }
    }
    for (;;) {
      const notes = firstOf(this.strayNotes(new Set()), ENTRY_SIZE);
      if (notes.length === 0) break;
      this.core.commits.journal({ ...shared, captures: [], notes: notes.map((found) => this.describeNote(found)) });
      this.core.commits.commit();
    }
    const { captures, contents } = catalogue.state;
    return this.report(before.captures - captures, before.contents - contents, this.notes);
  }

  private report(captures: number, contents: number, notes: number): RemoveReport {
    return { captures, contents, notes, revisits: this.revisits, adopted: [...this.adopted].sort() };
  }

  private next(from: string | undefined, turn: Turn | undefined): FoundCapture[] {
    const size = Math.max(1, Math.ceil(this.core.commits.changesMax / ROWS_EACH));
    const all = select(this.core, this.selection, from);
    if (turn === "by name") {
      // Each leads to an earlier one, if to any of them.
      const named = [...all].filter(({ row }) => turnOf(row) === turn);
      return named.sort((one, other) => other.timeMs - one.timeMs).slice(0, size);
    }
    return firstOf(
      filtered(all, ({ row }) => turn === undefined || turnOf(row) === turn),
      size,
    );
  }

  private take(portion: readonly FoundCapture[], shared: Omit<RemoveEntry, "captures">): void {
    const { core } = this;
    const last = this.lastOf(portion);
    const going = new Set(portion.map(({ key }) => key));
    const leaving = new Going(core.catalogue, going);
    const [told, urls] = [new Set<string>(), new Set<string>()];
    const captures = portion.map((found) => this.describe(found, last));
    const entries: RemoveEntry[] = [];
    for (let at = 0; at < captures.length; at += ENTRY_SIZE) {
      // What belongs to a capture goes by the same line of the journal, which is there or not.
      const notes: RemovedNote[] = [];
      for (const found of portion.slice(at, at + ENTRY_SIZE)) {
        for (const note of this.besides(found)) notes.push(note);
        for (const note of this.notesOf(found, leaving, urls)) {
          if (told.has(note.key)) continue;
          told.add(note.key);
          notes.push(this.describeNote(note));
        }
      }
      const entry = { ...shared, captures: captures.slice(at, at + ENTRY_SIZE) };
      entries.push(notes.length === 0 ? entry : { ...entry, notes });
    }
    core.commits.journal(...entries);
    core.commits.commit();
    const stayed = portion.find(({ key }) => !has(core.catalogue.capture(key)!, Flag.removed));
    if (stayed !== undefined)
      throw new ArchiveError("HT_CORRUPT", `${stayed.row.url} cannot be removed; see holotype doctor`);
    for (const { row } of portion) this.seeAdopted(row.place.segment);
    const payloads = new Set(portion.flatMap(({ row }) => halfText(row) ?? []));
    this.revisits += this.countRevisits(payloads, (found) => going.has(found.key));
    for (const capture of captures) this.options.onCapture?.(capture);
  }

  private seeAdopted(segment: number): void {
    if (this.core.catalogue.segment(segment)?.adopted !== undefined) this.adopted.add(this.core.shelf.nameOf(segment));
  }

  /** Notes that belong to a capture that goes and do not stand beside it; those of its URL once, for all that go. */
  private *notesOf(found: FoundCapture, going: Going, urls: Set<string>): Generator<FoundNote> {
    const { catalogue } = this.core;
    if (catalogue.state.apart === 0) return;
    const urlKey = urlKeyOf(found.key);
    if (!urls.has(urlKey)) {
      urls.add(urlKey);
      for (const each of catalogue.apartIn(`${urlKey}\0`, `${urlKey}\x01`))
        if (isOfRemoved(catalogue, each.note, going)) yield each;
    }
    // They may be of another URL, where one names the other.
    const own = this.headOf(found.row);
    for (const mark of new Set([idMarkIn(found.key), ...own.with.map(idMark)])) {
      for (const each of catalogue.apartById(mark)) {
        if (isNamedWith(each.note, own) && !namesLiving(catalogue, each.note, going)) yield each;
      }
    }
  }

  /** Of a record that cannot be read nothing is known. */
  private headOf({ place }: CaptureRow): Named & { readonly with: readonly string[] } {
    const head = readable(() => this.core.shelf.head(place));
    const ids = head?.headers.all("warc-concurrent-to") ?? [];
    const names = ids.flatMap((id) => unbracket(id) ?? []);
    return { id: unbracket(head?.headers.get("warc-record-id")), with: names };
  }

  /** Notes of what is removed that belong to no capture: of a request nobody answered, of a crawl that was cut off. */
  private *strayNotes(keys: ReadonlySet<CaptureKey>): Generator<FoundNote> {
    const { catalogue } = this.core;
    if (this.selection.sha256 !== undefined) return;
    const going = new Going(catalogue, keys);
    const { fromMs = FIRST_MS, toMs = LAST_MS } = this.selection;
    const isAlways = fromMs === FIRST_MS && toMs === LAST_MS;
    for (const { from, to, isMeant } of rangesOf(this.selection)) {
      for (const found of catalogue.apartIn(from, to)) {
        const { timeMs, uri } = found.note;
        const isInSpan = isAlways || (timeMs !== undefined && timeMs >= fromMs && timeMs <= toMs);
        if (isInSpan && isMeant(uri ?? "") && !isOfLiving(catalogue, found.note, going)) yield found;
      }
    }
  }

  private describeNote({ mark, note }: FoundNote): RemovedNote {
    this.notes++;
    this.seeAdopted(note.place.segment);
    return toldNote(note, mark, note.place);
  }

  /** What stands beside a capture: it does not come back with that, or with others, unless it is asked for. */
  private *besides({ row }: FoundCapture): Generator<RemovedNote> {
    const isAdopted = this.core.catalogue.segment(row.place.segment)?.adopted !== undefined;
    for (const facts of notesBeside(this.core.shelf, row, isAdopted)) yield toldRecord(facts);
  }

  /** Revisits that others wrote, that stay, and that name one of those that go. */
  private countRevisits(payloads: Iterable<string>, isGoing: (found: FoundCapture) => boolean): number {
    const { catalogue, shelf } = this.core;
    let count = 0;
    for (const half of payloads) {
      for (const key of catalogue.listed(Table.seen, half)) {
        const row = catalogue.capture(key);
        if (row?.kind !== "revisit" || isGoing({ key, timeMs: timeOf(key), row })) continue;
        const head = readable(() => shelf.head(row.place));
        const field = (name: string) => unbracket(head?.headers.get(name));
        const uri = field("warc-refers-to-target-uri");
        const timeMs = timeOfDate(field("warc-refers-to-date") ?? "");
        const named = uri === undefined || timeMs === undefined ? [] : catalogue.at(archiveKey(uri), timeMs);
        if (named.length > 0 && named.every((found) => has(found.row, Flag.removed) || isGoing(found))) count++;
      }
    }
    return count;
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

  private describe(found: FoundCapture, last: ReadonlySet<string>): RemovedCapture {
    const { row } = found;
    const half = halfText(row);
    const { place, ...told } = toldCapture(found);
    return {
      ...told,
      id: readable(() => this.core.shelf.idOf(row.place)) ?? null,
      source: row.source,
      visit: factsLeft(row),
      ...(half !== undefined && last.has(half) ? { isLast: true } : {}),
      place,
    };
  }
}

function* filtered<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Generator<T> {
  for (const item of items) if (isWanted(item)) yield item;
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
  const { sha256, fromMs = FIRST_MS, toMs = LAST_MS } = selection;
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
  for (const { from, to, isMeant } of rangesOf(selection)) {
    const start = behindKey < from ? from : `${behindKey}\0`;
    // What another method found is listed under the key of that as well, and may be asked for by it.
    for (const found of start < to ? catalogue.capturesIn(start, to) : []) {
      const isTwice = found.under !== undefined && found.key >= from && found.key < to;
      if (!isTwice && isMeant(found.row.url) && isInSpan(found)) yield found;
    }
  }
}
