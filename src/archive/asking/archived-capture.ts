/** A capture that an archive answers with where it is asked what is known. What is seldom asked for is read then only. */
import { formatDigest } from "../../base/index.ts";
import { type Certainty, timeOfDate } from "../../dedup/index.ts";
import type { HttpHead } from "../../warc/index.ts";
import type { HeldPayload, KnownOriginal } from "../adding/original-references.ts";
import type { Payload, RecordPlace } from "../catalogue/capture-row.ts";
import type { Framing } from "../catalogue/catalogue-keys.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { contentStatus } from "../catalogue/visit-class.ts";

/** The record that holds a payload. */
export interface Holder {
  readonly payload: Payload;
  readonly place: RecordPlace;
  readonly framing: Framing;
  readonly isReferable: boolean;
  /** Where it lies now: a compaction may have moved it. */
  readonly now: () => RecordPlace;
}

/** What an archive knows of its captures. */
export interface CaptureSource {
  /** The capture that stands for a payload, for who asks for it with this URL; absent where all were removed. */
  captureOf(holder: Holder, uri: string): FoundCapture | undefined;
  original(holder: Holder): KnownOriginal | undefined;
  httpHead(found: FoundCapture): HttpHead | undefined;
}

export class ArchivedCapture implements HeldPayload {
  readonly certainty: Certainty = "held";
  /** Absent where nothing holds its payload that could be referred to. */
  readonly holder: Holder | undefined;
  private readonly source: CaptureSource;
  private readonly asked: string;
  private readonly known: { found?: FoundCapture | undefined; http?: HttpHead | undefined } = {};

  /** `found` is looked for where it is not given: by the holder and the URL that was asked for. */
  constructor(source: CaptureSource, asked: string, holder: Holder | undefined, found?: FoundCapture) {
    this.source = source;
    this.asked = asked;
    this.holder = holder;
    if (found !== undefined) this.known.found = found;
  }

  private get found(): FoundCapture | undefined {
    const { known, holder } = this;
    if (!("found" in known)) known.found = holder && this.source.captureOf(holder, this.asked);
    return known.found;
  }

  private get http(): HttpHead | undefined {
    const { known, found } = this;
    if (!("http" in known)) known.http = found && this.source.httpHead(found);
    return known.http;
  }

  private get payload(): Payload | undefined {
    return this.holder?.payload ?? this.found?.row.payload;
  }

  get uri(): string {
    return this.found?.row.url ?? this.original?.uri ?? this.asked;
  }

  get timeMs(): number {
    return this.found?.timeMs ?? timeOfDate(this.original?.date) ?? 0;
  }

  get digests(): readonly string[] {
    const { payload } = this;
    if (payload === undefined) return [];
    const [sha256, sha1] = [payload.sha256.toString("hex"), payload.sha1.toString("hex")];
    return [`sha256:${sha256}`, formatDigest({ algorithm: "sha1", hex: sha1 })];
  }

  get payloadSize(): number | undefined {
    return this.payload?.size;
  }

  get framing(): Framing | undefined {
    return this.holder?.framing;
  }

  get status(): number | undefined {
    return this.found && contentStatus(this.found.row);
  }

  get mime(): string | undefined {
    return this.found?.row.mime;
  }

  get etag(): string | undefined {
    return this.http?.headers.get("etag");
  }

  get lastModified(): string | undefined {
    return this.http?.headers.get("last-modified");
  }

  get place(): RecordPlace | undefined {
    return this.holder?.place;
  }

  get isReferable(): boolean {
    return this.holder?.isReferable === true;
  }

  get original(): KnownOriginal | undefined {
    const { holder } = this;
    return holder?.isReferable === true ? this.source.original(holder) : undefined;
  }
}
