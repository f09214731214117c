/**
 * How revisits name the originals that they refer to. An original is read before a payload is let go for it: that its
 * checksum and digest hold is known once in a run. Those of late are remembered.
 */
import { formatDigest, parseDigest } from "../../base/index.ts";
import type { Certainty, KnownCapture, KnownContents, KnownQuestion } from "../../dedup/index.ts";
import type { RecordFacts } from "../../pipeline/index.ts";
import { type OriginalReference, scanRecord, unbracket, type WarcRecord } from "../../warc/index.ts";
import { isSamePlace, type RecordPlace } from "../catalogue/capture-row.ts";
import { type RecordShelf, readable } from "../segments/segments.ts";

const REMEMBERED_MAX = 25_000;

export interface KnownOriginal extends OriginalReference {
  /** The digest in its header, in our form. */
  readonly claim: string | undefined;
}

/** A payload that an archive has, as its writer sees it. */
export interface HeldPayload extends KnownCapture {
  /** Of the record that holds it. */
  readonly place: RecordPlace | undefined;
  /** Whether duplicates may refer to that record. */
  readonly isReferable: boolean;
  readonly original: KnownOriginal | undefined;
}

/** What an archive has, as its writer asks for it. All answers are there at once. */
export interface HeldPayloads extends KnownContents {
  /**
   * The payload with this digest, in the framing that is asked for or else in the other one: also where nobody may refer
   * to its record, or where all captures with it were removed.
   */
  payload(question: Extract<KnownQuestion, { by: "digest" }>): HeldPayload | undefined;
  prove(known: KnownCapture): Certainty | undefined;
  /** What a record that was just written holds needs no further proof. */
  learn(facts: RecordFacts, place: RecordPlace): void;
}

interface Remembered extends KnownOriginal {
  readonly isProven: boolean;
}

export class OriginalReferences {
  private readonly shelf: RecordShelf;
  private readonly isTrusted: boolean;
  private remembered = new Map<string, Remembered | "unfit">();
  /** The same, from before: the oldest go all at once. */
  private before = new Map<string, Remembered | "unfit">();

  /** With `isTrusted`, only the headers of originals are read. */
  constructor(shelf: RecordShelf, isTrusted: boolean) {
    this.shelf = shelf;
    this.isTrusted = isTrusted;
  }

  /**
   * Absent where the record cannot be read, holds another payload, or does not say enough to be referred to. `now` tells
   * where to look for a record that is not where it was.
   */
  of(place: RecordPlace, sha256: Buffer, now?: () => RecordPlace): KnownOriginal | undefined {
    const name = nameOf(place);
    const there = this.remembered.get(name) ?? this.before.get(name);
    if (there === "unfit") return undefined;
    if (there?.isProven === true) return there;
    const read = (at: RecordPlace) => (this.isTrusted ? this.head(at) : this.proven(at, sha256));
    return this.rememberFields(name, readWherever(place, now, read), true);
  }

  /** As the record's own header names it, without a look at its payload. */
  named(place: RecordPlace, now?: () => RecordPlace): KnownOriginal | undefined {
    const name = nameOf(place);
    const there = this.remembered.get(name) ?? this.before.get(name);
    if (there !== undefined) return there === "unfit" ? undefined : there;
    const fields = readWherever(place, now, (at) => this.head(at));
    return this.rememberFields(name, fields, false);
  }

  private rememberFields(name: string, fields: Fields | undefined, isProven: boolean): KnownOriginal | undefined {
    const { uri, date, id, payloadDigest } = fields ?? {};
    if (uri === undefined || date === undefined) {
      this.remember(name, "unfit");
      return undefined;
    }
    const claim = parseDigest(payloadDigest ?? "");
    const original = { uri, date, id, claim: claim && formatDigest(claim), isProven };
    this.remember(name, original);
    return original;
  }

  private proven(place: RecordPlace, sha256: Buffer) {
    return this.shelf.read(place, (record) => {
      const { payloadDigests } = scanRecord(record, { payload: ["sha256"] });
      return payloadDigests[0]!.hex === sha256.toString("hex") ? fieldsOf(record) : undefined;
    });
  }

  private head(place: RecordPlace) {
    const head = this.shelf.head(place);
    const field = (name: string) => head?.headers.get(name);
    const uri = unbracket(head?.headers.uri("warc-target-uri"));
    if (uri === undefined) return this.shelf.read(place, fieldsOf);
    const [date, payloadDigest] = [field("warc-date"), field("warc-payload-digest")];
    return { uri, date, id: unbracket(field("warc-record-id")), payloadDigest };
  }

  /** Of a record that was just written. */
  learn({ uri, date, id, capture }: RecordFacts, place: RecordPlace): void {
    if (uri === undefined || date === undefined) return;
    this.remember(nameOf(place), { uri, date, id, claim: capture?.claim, isProven: true });
  }

  private remember(name: string, reference: Remembered | "unfit"): void {
    this.remembered.set(name, reference);
    if (this.remembered.size < REMEMBERED_MAX) return;
    this.before = this.remembered;
    this.remembered = new Map();
  }
}

type Fields = ReturnType<typeof fieldsOf>;

function fieldsOf({ uri, dateText: date, id, payloadDigest }: WarcRecord) {
  return { uri, date, id, payloadDigest };
}

function readWherever<T>(
  place: RecordPlace,
  now: (() => RecordPlace) | undefined,
  read: (place: RecordPlace) => T | undefined,
): T | undefined {
  const there = readable(() => read(place));
  if (there !== undefined || now === undefined) return there;
  return readable(() => {
    const moved = now();
    return isSamePlace(moved, place) ? undefined : read(moved);
  });
}

function nameOf({ segment, offset, inner }: RecordPlace): string {
  return `${segment} ${offset} ${inner}`;
}
