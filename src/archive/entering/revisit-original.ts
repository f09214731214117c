/** What revisits stand for: the payload that one leads to, as far as the catalogue knows it by now. Obeys docs/lifespans.md. */
import { formatDigest, parseDigest } from "../../base/index.ts";
import { timeOfDate } from "../../dedup/index.ts";
import type { CaptureFacts } from "../../pipeline/index.ts";
import { judgeDigest, scanRecord } from "../../warc/index.ts";
import { type CaptureKey, urlHash } from "../catalogue/capture-key.ts";
import {
  archiveKey,
  type CaptureRow,
  DIGEST_HALF,
  halfOf,
  hasSameId,
  type OriginalRow,
  recordMark,
} from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import type { JournalEntry } from "../journal/journal.ts";
import { JournalOrder, type Removal } from "../journal/journal-order.ts";
import { momentClaim, removalMark } from "../journal/removal-mark.ts";
import type { RecordShelf } from "../segments/segments.ts";
import { Arrival } from "./arrival.ts";

/** A revisit, and the capture that it is, once it is entered. */
export interface Asking {
  readonly capture: CaptureFacts;
  /** Of its own URL. */
  readonly key: string;
  readonly timeMs: number;
  readonly entered?: { readonly key: CaptureKey; readonly row: CaptureRow } | undefined;
}

/** A capture that was removed. */
interface Recalled {
  readonly timeMs: number;
  /** The first half of that of its payload. */
  readonly digest: Buffer;
  readonly source: number;
  readonly removal: Removal;
}

/** What a revisit leads to. */
export interface Resolved {
  readonly digest: Buffer;
  readonly original: OriginalRow;
}

/**
 * While everything is made anew records do not come in the order in which they came first. What a revisit of others means
 * may be still to come, and something else that fits be there. So it waits for less and less:
 * - `entering`: unless its digest tells what it means, until everything is there;
 * - `careful`: until those have their payloads that it may mean;
 * - `telling`: where it tells nothing, until those have theirs that do;
 * - `none`: not at all, as when records come in their order.
 */
export type Patience = "entering" | "careful" | "telling" | "none";

export class RevisitOriginals {
  patience: Patience;
  private readonly catalogue: Catalogue;
  private readonly shelf: RecordShelf;
  /** Captures that were removed, by the hashes of their URLs, the last first. */
  private readonly removed = new Map<string, Recalled[]>();
  private order: JournalOrder | undefined;

  constructor(catalogue: Catalogue, shelf: RecordShelf) {
    this.patience = catalogue.state.unfinished > 0 ? "entering" : "none";
    this.catalogue = catalogue;
    this.shelf = shelf;
  }

  /** Lets those be found that were there when who asks came, and have been removed since, of these URLs. */
  recall(urls: ReadonlySet<string>, journal: Iterable<JournalEntry>): void {
    this.order = new JournalOrder(journal, ({ url, date, sha256, source }, removal) => {
      const hashed = urlHash(archiveKey(url));
      if (!urls.has(hashed) || sha256 === null || source === undefined) return;
      const recalled = { timeMs: timeOfDate(date) ?? 0, digest: halfOf(sha256), source, removal };
      const there = this.removed.get(hashed);
      if (there === undefined) this.removed.set(hashed, [recalled]);
      else there.push(recalled);
    });
    for (const list of this.removed.values()) list.sort((one, other) => other.timeMs - one.timeMs);
  }

  /** Whether nothing but its digest can tell as yet what it leads to. */
  mustWait({ isOurs }: CaptureFacts): boolean {
    return this.patience === "entering" && isOurs !== true;
  }

  find(asking: Asking): Resolved | undefined {
    const { catalogue } = this;
    const { capture } = asking;
    const { claim, refersTo } = capture;
    if (this.mustWait(capture) && isHeadless(capture)) return undefined;
    const sha256 = claim === undefined ? undefined : parseDigest(claim);
    if (sha256?.algorithm === "sha256") {
      const found = this.resolved(Buffer.from(sha256.hex, "hex").subarray(0, DIGEST_HALF));
      if (found !== undefined) return found;
    }
    const claimed = claim === undefined ? undefined : catalogue.digestOf(claim);
    if (claimed !== undefined) return this.resolved(claimed);
    if (this.mustWait(capture)) return undefined;
    if (refersTo?.uri !== undefined && refersTo.date !== undefined) {
      const found = this.findByCapture(asking, refersTo.uri, refersTo.date);
      if (found !== undefined) return found;
    }
    return isSilent(capture) && this.patience !== "telling" ? this.findByUrl(asking) : undefined;
  }

  /** All that it says is that nothing has changed since the last time. What came later is meant only where nothing else is. */
  private findByUrl({ key, timeMs, entered }: Asking): Resolved | undefined {
    const url = urlHash(key);
    const arrival = this.arrivalOf(entered);
    const removed = this.removed.get(url)?.filter((each) => each.timeMs < timeMs) ?? [];
    const gone = removed.find(
      (each) => arrival.isFileBehind(each.source) && this.order?.isBefore(entered!.row.source, each.removal) === true,
    );
    const later: CaptureRow[] = [];
    for (const found of this.catalogue.capturesBefore(url, timeMs)) {
      if (gone !== undefined && gone.timeMs > found.timeMs) break;
      const { digest } = found.row;
      if (digest === undefined && this.patience === "careful") return undefined;
      if (digest === undefined) continue;
      if (arrival.isBehind(found.row)) return this.resolved(digest);
      later.push(found.row);
    }
    const digest = gone?.digest ?? this.firstLater(arrival, later, removed);
    return digest && this.resolved(digest);
  }

  /** What came first, of captures and of what was removed, where nothing was there. */
  private firstLater(arrival: Arrival, later: readonly CaptureRow[], removed: readonly Recalled[]): Buffer | undefined {
    let first: (Pick<Recalled, "source"> & { readonly digest: Buffer | undefined }) | undefined = arrival.first(later);
    for (const each of removed) {
      if (arrival.isFileBehind(each.source)) continue;
      if (first === undefined || arrival.compareFiles(each.source, first.source) < 0) first = each;
    }
    return first?.digest;
  }

  private arrivalOf(entered: Asking["entered"]): Arrival {
    return new Arrival(this.catalogue, entered?.row);
  }

  private resolved(digest: Buffer): Resolved | undefined {
    const original = this.catalogue.anyOriginal(digest);
    return original === undefined ? undefined : { digest, original };
  }

  private findByCapture(asking: Asking, uri: string, date: string): Resolved | undefined {
    const { capture } = asking;
    const timeMs = referredTime(capture, date);
    if (timeMs === undefined) return undefined;
    const { named, others } = this.referredTo(asking, archiveKey(uri), timeMs);
    let likely: Resolved | undefined;
    for (const [i, resolved] of [...named, ...others].entries()) {
      const fit = this.fitOf(resolved, capture.claim);
      if (fit === "proven") return resolved;
      // One of ours means the record with that id and no other, or one without an id: it may be still to come.
      const isAny = capture.isOurs !== true || (capture.refersTo?.id === undefined && this.patience !== "entering");
      const isMeant = i < named.length || isAny;
      if (fit === "possible" && isMeant) likely ??= resolved;
    }
    return likely;
  }

  /**
   * What was captured at a moment, or else in its second: under the id that is asked for, and the others. What came with a
   * later file than who asks is meant only where nothing else is, and then the first of it.
   */
  private referredTo({ capture, entered }: Asking, key: string, timeMs: number) {
    const { catalogue } = this;
    const id = capture.refersTo?.id;
    const url = urlHash(key);
    const second = Math.floor(timeMs / 1000) * 1000;
    const isAnother = (each: FoundCapture) => each.key !== entered?.key;
    const exact = catalogue.capturesAt(url, timeMs).filter(isAnother);
    const isExact = exact.length > 0;
    const found = isExact
      ? exact
      : [...catalogue.capturesBefore(url, second + 1000)].filter((each) => each.timeMs >= second && isAnother(each));
    if (this.patience === "careful" && found.some(({ row }) => row.digest === undefined))
      return { named: [], others: [] };
    const arrival = this.arrivalOf(entered);
    found.sort((one, other) => arrival.inTurn(one.row, other.row));
    const mark = recordMark(id, undefined);
    const isNamed = ({ row }: FoundCapture) => isExact && id !== undefined && hasSameId(row, mark);
    // What was removed may be kept for others.
    const removed = catalogue.removedDigests(removalMark(key, timeMs, id));
    const removedThen = catalogue.digestOf(momentClaim(key, timeMs));
    const resolve = (digests: readonly (Buffer | undefined)[]) =>
      digests.flatMap((digest) => (digest === undefined ? undefined : this.resolved(digest)) ?? []);
    return {
      named: resolve([...found.filter(isNamed).map(({ row }) => row.digest), ...removed]),
      others: resolve([removedThen, ...found.filter((each) => !isNamed(each)).map(({ row }) => row.digest)]),
    };
  }

  /** Whether the payload is the one with this digest; where only its bytes could tell, they are asked. */
  fitOf({ digest, original }: Resolved, claim: string | undefined): "proven" | "possible" | "none" {
    const wanted = claim === undefined ? undefined : parseDigest(claim);
    if (wanted === undefined) return "possible";
    if (wanted.algorithm === "sha256")
      return wanted.hex === Buffer.concat([digest, original.digestRest]).toString("hex") ? "proven" : "none";
    const { algorithm } = wanted;
    const { own, scan } = this.shelf.read(original.place, (record) => {
      const own = parseDigest(record.payloadDigest ?? "");
      return { own, scan: scanRecord(record, { payload: [algorithm], stored: [algorithm] }) };
    });
    const isTrue = (text: string) => ["transferred", "stored"].includes(judgeDigest(text, scan));
    if (isTrue(formatDigest(wanted))) return "proven";
    // One that says nothing, or nothing true, may have been told by another measure.
    return own?.algorithm === algorithm && isTrue(formatDigest(own)) ? "none" : "possible";
  }
}

/** What has a date that cannot be read is filed under 1970, and a revisit of ours may refer to it. */
export function referredTime({ isOurs }: CaptureFacts, date: string): number | undefined {
  return timeOfDate(date) ?? (isOurs === true ? 0 : undefined);
}

/** Tells nothing of status and location. One of ours has all that its record had. */
export function isHeadless({ status, profile, isOurs }: CaptureFacts): boolean {
  return isOurs !== true && (status === undefined || status === 304 || profile === "server-not-modified");
}

/** Says nothing but "not modified". */
function isSilent({ claim, refersTo, profile }: CaptureFacts): boolean {
  const tellsNothing = claim === undefined && refersTo?.uri === undefined && refersTo?.date === undefined;
  return profile === "server-not-modified" && tellsNothing;
}
