/** Captures as records: their headers, their payloads, wherever those lie. */
import { ArchiveError, formatPlace } from "../../base/index.ts";
import { arcId } from "../../pipeline/index.ts";
import { type HttpHead, parseHttpHead, payloadOf, refersToOf, unbracket, type WarcRecord } from "../../warc/index.ts";
import { TIME_BIAS, urlOf } from "../catalogue/capture-key.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { headerPlace } from "../entering/revisit-header.ts";
import type { RecordShelf } from "../segments/segments.ts";
import { OwnWhereabouts, originalOf, type Whereabouts } from "./whereabouts.ts";

/** What the record of a capture says. */
export interface CaptureDetails {
  readonly url: string;
  /** As the record has it. */
  readonly date: string | undefined;
  readonly id: string | undefined;
  /** Of a revisit without one, that of what it stands for. */
  readonly http: HttpHead | undefined;
  /** The file that the record lies in, and where. */
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

export class CaptureReader {
  private readonly shelf: RecordShelf;

  readonly whereabouts: Whereabouts;

  constructor(catalogue: CatalogueView, shelf: RecordShelf, whereabouts: Whereabouts = new OwnWhereabouts(catalogue)) {
    this.shelf = shelf;
    this.whereabouts = whereabouts;
  }

  /** Where the record lies; it is not looked at. */
  place({ row }: FoundCapture): { readonly file: string; readonly offset: number } {
    return { file: this.shelf.nameOf(row.place.segment), offset: row.place.offset };
  }

  /** Hands the record of a capture to `use`; it is gone afterwards. */
  record<T>(found: FoundCapture, use: (record: WarcRecord) => T): T {
    return this.shelf.read(this.whereabouts.capture(found).place, use);
  }

  details(found: FoundCapture): CaptureDetails {
    const row = this.whereabouts.capture(found);
    const { place } = row;
    const file = this.shelf.nameOf(place.segment);
    const own = this.shelf.read(place, (record) => ({
      url: record.uri ?? "",
      date: record.dateText,
      // As it was when it was entered.
      id: record.arc === undefined ? record.id : unbracket(arcId(file.replace(/^.*[/!]/, ""), record, place)),
      refersTo: refersToOf(record),
      http: httpOf(record),
    }));
    const isSilent =
      row.digest !== undefined && row.kind === "revisit" && (own.http === undefined || own.http.status === 304);
    const http = isSilent ? (this.header(found, own.refersTo)?.http ?? own.http) : own.http;
    const { url, date, id } = own;
    return { url, date, id, http, file, offset: place.offset, length: place.length };
  }

  /** What a revisit without a header of its own has instead; absent where its original is not in the archive. */
  header(
    { key, timeMs, row }: FoundCapture,
    refersTo: ReturnType<typeof refersToOf>,
  ): { readonly http: HttpHead | undefined; readonly blockType: string } | undefined {
    if (row.digest === undefined) return undefined;
    const { digest } = row;
    const found = this.whereabouts.find((catalogue) => {
      const before = catalogue.captures(urlOf(key), -TIME_BIAS, timeMs - 1, true);
      const place = headerPlace(catalogue, { digest, row, refersTo }, before);
      return place && { place };
    });
    return found && this.shelf.read(found.place, (record) => ({ http: httpOf(record), blockType: record.blockType }));
  }

  /** Hands the payload to `use`, piece by piece. HT_NOT_FOUND for a revisit whose original is not in the archive. */
  payload<T>(found: FoundCapture, use: (chunks: Iterable<Uint8Array>) => T): T {
    const { row } = found;
    const place = isRevisit(row.kind) ? this.originalOf(row) : this.whereabouts.capture(found).place;
    return this.shelf.read(place, (record) => use(payloadOf(record).chunks));
  }

  private originalOf({ place, digest }: FoundCapture["row"]): FoundCapture["row"]["place"] {
    const original = digest && originalOf(this.whereabouts, digest);
    if (original !== undefined) return original.place;
    const at = { file: this.shelf.nameOf(place.segment), offset: place.offset };
    throw new ArchiveError("HT_NOT_FOUND", `${formatPlace(at)}: a revisit whose original is not in the archive`, at);
  }

  /** The payload as one buffer; for those known to be small. */
  payloadBytes(capture: FoundCapture): Buffer {
    return this.payload(capture, (chunks) => {
      const pieces: Buffer[] = [];
      for (const chunk of chunks) pieces.push(Buffer.from(chunk));
      return Buffer.concat(pieces);
    });
  }
}

function isRevisit(kind: FoundCapture["row"]["kind"]): boolean {
  return kind === "revisit" || kind === "replaced";
}

function httpOf(record: WarcRecord): HttpHead | undefined {
  if (!record.isHttp && record.type !== "revisit") return undefined;
  const whole = record.block !== undefined;
  const first = record.read() ?? new Uint8Array(0);
  return parseHttpHead(first, 0, first.length, whole);
}
