/**
 * How revisits name the originals that they refer to. An original is read before a payload is let go for it: that its
 * checksum and digest hold is known once in a run. Those of late are remembered.
 */
import { formatDigest, parseDigest } from "../../base/index.ts";
import type { RecordFacts } from "../../pipeline/index.ts";
import { type OriginalReference, scanRecord, unbracket, type WarcRecord } from "../../warc/index.ts";
import type { RecordPlace } from "../catalogue/capture-row.ts";
import { type RecordShelf, readable } from "../segments/segments.ts";

const REMEMBERED_MAX = 25_000;

export interface KnownOriginal extends OriginalReference {
  /** The digest in its header, in our form. */
  readonly claim: string | undefined;
}

export class OriginalReferences {
  private readonly shelf: RecordShelf;
  private readonly isTrusted: boolean;
  private remembered = new Map<string, KnownOriginal>();
  /** The same, from before: the oldest go all at once. */
  private before = new Map<string, KnownOriginal>();

  /** With `isTrusted`, only the headers of originals are read. */
  constructor(shelf: RecordShelf, isTrusted: boolean) {
    this.shelf = shelf;
    this.isTrusted = isTrusted;
  }

  /** Absent where the record cannot be read, holds another payload, or does not say enough to be referred to. */
  of(place: RecordPlace, sha256: Buffer): KnownOriginal | undefined {
    const there = this.remembered.get(nameOf(place)) ?? this.before.get(nameOf(place));
    if (there !== undefined) return there;
    const fields = readable(() => (this.isTrusted ? this.head(place) : this.proven(place, sha256)));
    const { uri, date, id, payloadDigest } = fields ?? {};
    if (uri === undefined || date === undefined) return undefined;
    const claim = parseDigest(payloadDigest ?? "");
    return this.remember(place, { uri, date, id, claim: claim && formatDigest(claim) });
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
    if (uri !== undefined && date !== undefined) this.remember(place, { uri, date, id, claim: capture?.claim });
  }

  private remember(place: RecordPlace, reference: KnownOriginal): KnownOriginal {
    this.remembered.set(nameOf(place), reference);
    if (this.remembered.size >= REMEMBERED_MAX) {
      this.before = this.remembered;
      this.remembered = new Map();
    }
    return reference;
  }
}

function fieldsOf({ uri, dateText: date, id, payloadDigest }: WarcRecord) {
  return { uri, date, id, payloadDigest };
}

function nameOf({ segment, offset, inner }: RecordPlace): string {
  return `${segment} ${offset} ${inner}`;
}
