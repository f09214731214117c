/**
 * An archive as one who knows contents: by URL, by equivalent URL, by digest (sha256 and sha1). Its answers come from the
 * rows of the catalogue, and are there at once. `add` goes through it as well.
 *
 * An answer that has an original can be relied on for as long as the archive keeps the content. What was removed is not
 * known, and neither is what only a record holds that was cut off. Who lets a payload go has to `prove` first.
 */
import { formatDigest, parseDigest } from "../../base/index.ts";
import { type Certainty, type KnownCapture, type KnownQuestion } from "../../dedup/index.ts";
import type { RecordFacts } from "../../pipeline/index.ts";
import { equivalentUrl } from "../../url/index.ts";
import type { HttpHead } from "../../warc/index.ts";
import { type HeldPayloads, type KnownOriginal, OriginalReferences } from "../adding/original-references.ts";
import { archiveKey, FIRST_MS, LAST_MS } from "../catalogue/capture-key.ts";
import { DIGEST_HALF, Flag, has, isSamePlace, type RecordPlace } from "../catalogue/capture-row.ts";
import { FRAMINGS, type Framing, latin1, Table } from "../catalogue/catalogue-keys.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { isVisit } from "../catalogue/visit-class.ts";
import { type RecordShelf, readable } from "../segments/segments.ts";
import { ArchivedCapture, type CaptureSource, type Holder } from "./archived-capture.ts";
import { CaptureReader } from "./capture-reader.ts";
import type { Locator } from "./locator.ts";

type Question<By extends KnownQuestion["by"]> = Extract<KnownQuestion, { by: By }>;

/** So many captures are looked at for one answer. */
const LOOKED_MAX = 10_000;

interface KnownInArchiveParts {
  readonly catalogue: CatalogueView;
  readonly shelf: RecordShelf;
  readonly locator: Locator;
  /** Only the headers of originals are read: nothing is proven. */
  readonly isTrusted?: boolean | undefined;
  readonly onClose?: (() => void) | undefined;
}

export class KnownInArchive implements HeldPayloads, CaptureSource, Disposable {
  readonly answers: ReadonlySet<KnownQuestion["by"]> = new Set<KnownQuestion["by"]>(["url", "equivalent", "digest"]);
  private readonly parts: KnownInArchiveParts;
  private readonly references: OriginalReferences;
  private readonly reader: CaptureReader;
  private isClosed = false;

  constructor(parts: KnownInArchiveParts) {
    const { catalogue, shelf, locator, isTrusted = false } = parts;
    this.parts = parts;
    this.references = new OriginalReferences(shelf, isTrusted);
    this.reader = new CaptureReader(catalogue, shelf, locator);
  }

  private get catalogue(): CatalogueView {
    return this.parts.catalogue;
  }

  find(questions: readonly KnownQuestion[]): readonly (ArchivedCapture | undefined)[] {
    return questions.map((question) => this.answer(question));
  }

  private answer(question: KnownQuestion): ArchivedCapture | undefined {
    switch (question.by) {
      case "url":
        return this.newest(question);
      case "equivalent":
        return this.equivalent(question);
      case "digest": {
        const wanted = this.wantedIn(question.digests);
        const holder = wanted && this.usable(wanted, question.framing);
        return holder && new ArchivedCapture(this, question.uri, holder);
      }
    }
  }

  /** Absent also where the bytes cannot be read: an archive vouches for nothing that it cannot give out. */
  prove(known: KnownCapture): Certainty | undefined {
    const own = known instanceof ArchivedCapture ? known : this.answer({ ...known, by: "digest" });
    if (own?.holder === undefined) return undefined;
    const { place, payload, now } = own.holder;
    if (this.references.of(place, payload.sha256, now) === undefined) return undefined;
    return this.parts.isTrusted === true ? "held" : "proven";
  }

  payload({ digests, uri, framing = "plain" }: Question<"digest">): ArchivedCapture | undefined {
    const wanted = this.wantedIn(digests);
    if (wanted === undefined) return undefined;
    const holder = this.holder(wanted, framing) ?? this.holder(wanted, otherThan(framing));
    return holder && new ArchivedCapture(this, uri, holder);
  }

  learn(facts: RecordFacts, place: RecordPlace): void {
    this.references.learn(facts, place);
  }

  original({ place, now }: Holder): KnownOriginal | undefined {
    return this.references.named(place, now);
  }

  captureOf(holder: Holder, uri: string): FoundCapture | undefined {
    return this.ofUrl(holder, uri) ?? this.ofRecord(holder);
  }

  httpHead(found: FoundCapture): HttpHead | undefined {
    const { etag, lastModified } = found.row;
    // The row has their hashes, where the capture has a header of its own.
    if (etag === undefined && lastModified === undefined && !has(found.row, Flag.headless)) return undefined;
    return readable(() => {
      const place = this.reader.headerPlace(found);
      return place && (this.parts.shelf.httpHead(place) ?? this.reader.header(found)?.http);
    });
  }

  private newest({ uri }: Question<"url">): ArchivedCapture | undefined {
    let looked = 0;
    for (const found of this.catalogue.captures(archiveKey(uri), FIRST_MS, LAST_MS, true)) {
      if (looked++ === LOOKED_MAX) return undefined;
      if (found.row.url === uri && isVisit(found.row))
        return new ArchivedCapture(this, uri, this.holderOf(found), found);
    }
    return undefined;
  }

  private equivalent({ uri, digests }: Question<"equivalent">): ArchivedCapture | undefined {
    const key = equivalentUrl(uri);
    // Equivalent URLs have one host; what has none is equivalent to nothing.
    const host = key.slice(0, key.indexOf(")") + 1);
    const wanted = host === "" ? undefined : this.wantedIn(digests);
    const holder = wanted && this.usable(wanted);
    if (holder === undefined) return undefined;
    let last: FoundCapture | undefined;
    for (const found of this.withPayload(holder, host))
      if (equivalentUrl(found.row.url) === key && found.timeMs >= (last?.timeMs ?? FIRST_MS)) last = found;
    return last && new ArchivedCapture(this, uri, holder, last);
  }

  /** The record that holds the payload of a capture: its own, or the one that it leads to. */
  private holderOf({ row }: FoundCapture): Holder | undefined {
    const { sha256 } = row.payload!;
    const wanted = { half: sha256.subarray(0, DIGEST_HALF), sha256 };
    const own = FRAMINGS.map((each) => this.holder(wanted, each)).find((each) => isSamePlace(row.place, each?.place));
    return own?.isReferable === true ? own : this.usable(wanted);
  }

  /** One that is held, may be referred to, and is of a capture that was not removed; in this framing if there is one. */
  private usable(wanted: Wanted, framing: Framing = "plain"): Holder | undefined {
    const isUsable = (holder: OriginalHolder | undefined) =>
      holder?.isHeld === true && holder.isReferable && this.ofRecord(holder) !== undefined;
    return [framing, otherThan(framing)].map((each) => this.holder(wanted, each)).find(isUsable);
  }

  private holder({ half, sha256, sha1 }: Wanted, framing: Framing): OriginalHolder | undefined {
    const row = this.catalogue.original(half, framing);
    if (row === undefined) return undefined;
    const isIt = sha256 === undefined ? row.sha1.equals(sha1!) : row.digestRest.equals(sha256.subarray(DIGEST_HALF));
    if (!isIt) return undefined;
    const { place, isReferable, isHeld, payloadSize: size } = row;
    const payload = { sha256: sha256 ?? Buffer.concat([half, row.digestRest]), sha1: row.sha1, size };
    const now = () => this.parts.locator.holder(row, half, framing);
    return { payload, place, framing, isReferable, isHeld, now };
  }

  /** The payload that digests mean. Where a sha256 is among them, it alone decides. */
  private wantedIn(digests: readonly string[]): Wanted | undefined {
    let sha1: Buffer | undefined;
    for (const text of digests) {
      const digest = parseDigest(text);
      if (digest === undefined) continue;
      const bytes = Buffer.from(digest.hex, "hex");
      if (digest.algorithm === "sha256") return { half: bytes.subarray(0, DIGEST_HALF), sha256: bytes };
      if (digest.algorithm === "sha1") sha1 ??= bytes;
    }
    if (sha1 === undefined) return undefined;
    const claim = formatDigest({ algorithm: "sha1", hex: sha1.toString("hex") });
    const isOf = (half: Buffer) => FRAMINGS.some((each) => this.catalogue.original(half, each)?.sha1.equals(sha1));
    const halves = this.catalogue.claimed(claim).filter(isOf);
    // Contents that share their sha1 are made to be mistaken for each other.
    return halves.length === 1 ? { half: halves[0]!, sha1 } : undefined;
  }

  /** The last capture of this URL with the payload: as it is written, or else with the same key. */
  private ofUrl(holder: Holder, uri: string): FoundCapture | undefined {
    let like: FoundCapture | undefined;
    for (const found of this.withPayload(holder, `${archiveKey(uri)}\0`, true)) {
      if (found.row.url === uri) return found;
      like ??= found;
    }
    return like;
  }

  /** The capture whose record it is; absent where that was removed. */
  private ofRecord(holder: Holder): FoundCapture | undefined {
    const { uri } = this.original(holder) ?? {};
    if (uri === undefined) return undefined;
    for (const found of this.withPayload(holder, `${archiveKey(uri)}\0`))
      if (isSamePlace(holder.place, found.row.place)) return found;
    return undefined;
  }

  /** Captures with the payload whose keys begin like this, in the order of keys and times, or backwards. */
  private *withPayload({ payload }: Holder, keyStart: string, backwards = false): Generator<FoundCapture> {
    const half = latin1(payload.sha256.subarray(0, DIGEST_HALF));
    let looked = 0;
    for (const rest of this.catalogue.listed(Table.seen, half + keyStart, backwards)) {
      if (looked++ === LOOKED_MAX) return;
      const found = this.catalogue.found(keyStart + rest);
      if (found === undefined || has(found.row, Flag.removed | Flag.undated)) continue;
      if (found.row.payload?.sha256.equals(payload.sha256) === true) yield found;
    }
  }

  [Symbol.dispose](): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.parts.onClose?.();
  }
}

/** What digests lead to: the first half of a sha256, and one of these that has to be equal. */
interface Wanted {
  readonly half: Buffer;
  readonly sha256?: Buffer | undefined;
  readonly sha1?: Buffer | undefined;
}

interface OriginalHolder extends Holder {
  /** Whether a capture has the payload by itself. */
  readonly isHeld: boolean;
}

function otherThan(framing: Framing): Framing {
  return framing === "plain" ? "chunked" : "plain";
}
