/**
 * What the headers of an answer say before its body is read: has the document changed since it was captured? The four
 * schemes of the paper (section 4.4). Only ever of exactly the same URL.
 */
import { parseHttpDate } from "../base/index.ts";

/**
 * `datestamp`: Last-Modified. `etag`: the ETag. `both`: the two must agree on a change ("datestamp and Etag").
 * `either`: one that says change is enough ("datestamp or Etag").
 */
export const HEADER_SCHEMES = ["datestamp", "etag", "both", "either"] as const;
export type HeaderScheme = (typeof HEADER_SCHEMES)[number];

/** `missing`: there is nothing to compare. `unreadable`: there is a Last-Modified, and it is no date. */
export type Prediction = "change" | "non-change" | "missing" | "unreadable";

/** As the server wrote them. */
export interface HeaderValues {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** The same of a capture that is known, and when it was made. */
export interface KnownHeaders extends HeaderValues {
  readonly timeMs: number;
}

/**
 * What a Last-Modified is compared with. `stored`: with the Last-Modified that the index has; where it has none that can
 * be read, with the time of the capture. `captured`: always with that time, as the paper does.
 */
export type DateReference = "stored" | "captured";

/** What each of the headers says by itself. */
export interface HeaderSigns {
  readonly datestamp: Prediction;
  readonly etag: Exclude<Prediction, "unreadable">;
}

export function readSigns(headers: HeaderValues, known: KnownHeaders, reference: DateReference): HeaderSigns {
  return { datestamp: readDatestamp(headers, known, reference), etag: readEtag(headers, known) };
}

/** Times are compared: a page that went back to an older file has not changed, as far as its Last-Modified tells. */
function readDatestamp({ lastModified }: HeaderValues, known: KnownHeaders, reference: DateReference): Prediction {
  const text = valueOf(lastModified);
  if (text === undefined) return "missing";
  const time = parseHttpDate(text);
  if (time === undefined) return "unreadable";
  const stored = reference === "captured" ? undefined : valueOf(known.lastModified);
  const before = (stored === undefined ? undefined : parseHttpDate(stored)) ?? known.timeMs;
  return time > before ? "change" : "non-change";
}

function readEtag(headers: HeaderValues, known: KnownHeaders): HeaderSigns["etag"] {
  const [now, before] = [valueOf(headers.etag), valueOf(known.etag)];
  if (now === undefined || before === undefined) return "missing";
  return now === before ? "non-change" : "change";
}

function valueOf(text: string | undefined): string | undefined {
  const value = text?.trim();
  return value === "" ? undefined : value;
}

/** With two headers, one that is missing or unreadable says change, unless the other one says nothing either. */
export function predictionOf(scheme: HeaderScheme, { datestamp, etag }: HeaderSigns): Prediction {
  if (scheme === "datestamp") return datestamp;
  if (scheme === "etag") return etag;
  if (etag === "missing" && (datestamp === "missing" || datestamp === "unreadable")) return datestamp;
  const unchanged = Number(datestamp === "non-change") + Number(etag === "non-change");
  return unchanged > (scheme === "both" ? 0 : 1) ? "non-change" : "change";
}

export class HeaderPredictor {
  private readonly scheme: HeaderScheme;
  private readonly reference: DateReference;

  constructor(scheme: HeaderScheme, reference: DateReference = "stored") {
    this.scheme = scheme;
    this.reference = reference;
  }

  /** `known` is the newest capture of exactly the same URL. */
  predict(headers: HeaderValues, known: KnownHeaders): Prediction {
    return predictionOf(this.scheme, readSigns(headers, known, this.reference));
  }
}
