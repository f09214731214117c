/** Captures as records: their headers, their payloads, wherever those lie. Everything is read at once, and waits for the disk. */
import { ArchiveError, formatPlace } from "../../base/index.ts";
import { type HttpHead, parseHttpHead, type WarcRecord } from "../../warc/index.ts";
import { FIRST_MS, timeOf, urlKeyOf } from "../catalogue/capture-key.ts";
import { type CaptureRow, DIGEST_HALF, Flag, has, isHolder, type RecordPlace } from "../catalogue/capture-row.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { tellsStatus } from "../catalogue/visit-class.ts";
import { wholePayloadOf } from "../segments/continuations.ts";
import type { RecordShelf } from "../segments/segments.ts";
import type { Locator } from "./locator.ts";

export class CaptureReader {
  private readonly catalogue: CatalogueView;
  private readonly shelf: RecordShelf;
  private readonly locator: Locator;

  constructor(catalogue: CatalogueView, shelf: RecordShelf, locator: Locator) {
    this.catalogue = catalogue;
    this.shelf = shelf;
    this.locator = locator;
  }

  /** Hands the record of a capture to `use`; it is gone afterwards. */
  record<T>(found: FoundCapture, use: (record: WarcRecord) => T): T {
    return this.shelf.read(this.locator.capture(found).place, use);
  }

  /**
   * The record whose HTTP header a capture has: its own, or for a revisit without one (or a 304) that of a capture with the
   * same payload, status and media type; absent for one whose payload is not known.
   */
  headerPlace(found: FoundCapture): RecordPlace | undefined {
    const { row, key } = found;
    if (!has(row, Flag.headless)) return this.locator.capture(found).place;
    if (row.payload === undefined) return undefined;
    const half = row.payload.sha256.subarray(0, DIGEST_HALF);
    const isLike = (other: CaptureRow) =>
      tellsStatus(other) &&
      other.status === row.status &&
      other.mime === row.mime &&
      other.location === row.location &&
      other.payload?.sha256.equals(row.payload!.sha256) === true;
    for (const other of this.catalogue.captures(urlKeyOf(key), FIRST_MS, found.timeMs, true))
      if (isLike(other.row)) return this.locator.capture(other).place;
    for (const otherKey of this.catalogue.seen(half)) {
      const other = { key: otherKey, timeMs: timeOf(otherKey), row: this.catalogue.capture(otherKey)! };
      if (isLike(other.row)) return this.locator.capture(other).place;
    }
    return this.locator.original(half)?.place;
  }

  /** See `headerPlace`. */
  header(found: FoundCapture): { readonly http: HttpHead | undefined; readonly blockType: string } | undefined {
    const place = this.headerPlace(found);
    return place && this.shelf.read(place, (record) => ({ http: httpIn(record), blockType: record.blockType }));
  }

  /** Where the payload lies. HT_NOT_FOUND for a revisit whose original is not in the archive. */
  payloadPlace(found: FoundCapture): RecordPlace {
    const { row } = found;
    if (row.kind === "response" || row.kind === "resource") {
      // What a 304 stands for is another's.
      if (isHolder(row) || row.payload === undefined) return this.locator.capture(found).place;
    }
    const original = row.payload && this.locator.original(row.payload.sha256.subarray(0, DIGEST_HALF));
    if (original !== undefined) return original.place;
    const at = { file: this.shelf.nameOf(row.place.segment), offset: row.place.offset };
    throw new ArchiveError("HT_NOT_FOUND", `${formatPlace(at)}: a revisit whose original is not in the archive`, at);
  }

  /** Hands the payload to `use`, piece by piece. HT_NOT_FOUND for a revisit whose original is not in the archive. */
  payload<T>(found: FoundCapture, use: (chunks: Iterable<Uint8Array>) => T): T {
    // Of nothing there is no original.
    if (found.row.payload?.size === 0 && !isHolder(found.row)) return use([]);
    return this.shelf.read(this.payloadPlace(found), (record) =>
      use(wholePayloadOf(record, this.locator, this.shelf).chunks),
    );
  }
}

function httpIn(record: WarcRecord): HttpHead | undefined {
  if (!record.isHttp && record.type !== "revisit") return undefined;
  const whole = record.block !== undefined;
  const first = record.read() ?? new Uint8Array(0);
  return parseHttpHead(first, 0, first.length, whole);
}
