/** How revisits name the originals that they refer to. Those of late are remembered. */
import { ArchiveError, formatDigest, parseDigest } from "../../base/index.ts";
import type { RecordFacts } from "../../pipeline/index.ts";
import { type OriginalReference, unbracket } from "../../warc/index.ts";
import type { RecordPlace } from "../catalogue/capture-row.ts";
import type { RecordShelf } from "../segments/segments.ts";

const REMEMBERED_MAX = 25_000;

export interface KnownOriginal extends OriginalReference {
  /** The digest in its header, in our form. */
  readonly claim: string | undefined;
}

export class OriginalReferences {
  private readonly shelf: RecordShelf;
  private remembered = new Map<string, KnownOriginal>();
  /** The same, from before: the oldest go all at once. */
  private before = new Map<string, KnownOriginal>();

  constructor(shelf: RecordShelf) {
    this.shelf = shelf;
  }

  /** Absent where the record cannot be read, or does not say enough. */
  of(place: RecordPlace): KnownOriginal | undefined {
    const there = this.remembered.get(nameOf(place)) ?? this.before.get(nameOf(place));
    if (there !== undefined) return there;
    try {
      const { uri, date, id, payloadDigest } = this.read(place);
      if (uri === undefined || date === undefined) return undefined;
      const claim = parseDigest(payloadDigest ?? "");
      return this.remember(place, { uri, date, id, claim: claim && formatDigest(claim) });
    } catch (error) {
      // A duplicate is then kept as it is, which loses nothing; `doctor` finds what is wrong.
      if (error instanceof ArchiveError) return undefined;
      throw error;
    }
  }

  private read(place: RecordPlace) {
    const head = this.shelf.head(place);
    const field = (name: string) => head?.headers.get(name);
    const uri = unbracket(head?.headers.uri("warc-target-uri"));
    if (uri !== undefined) {
      const [date, payloadDigest] = [field("warc-date"), field("warc-payload-digest")];
      return { uri, date, id: unbracket(field("warc-record-id")), payloadDigest };
    }
    return this.shelf.read(place, (record) => {
      const { dateText: date, id, payloadDigest } = record;
      return { uri: record.uri, date, id, payloadDigest };
    });
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

function nameOf({ segment, offset, inner }: RecordPlace): string {
  return `${segment} ${offset} ${inner}`;
}
