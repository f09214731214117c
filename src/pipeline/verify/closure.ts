/**
 * Closure: every revisit leads in one step to a record that holds the payload it claims. Which record that is follows from
 * the one rule for all commands; here it is judged whether the reference is as good as replay needs it.
 */
import { type DigestAlgorithm, type ErrorCode, formatPlace, parseAlgorithm } from "../../base/index.ts";
import { captureKey, type RevisitReference } from "../../dedup/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { CaptureLine, CapturePlace, RevisitLine } from "../capture-line.ts";
import type { LineSorterOptions } from "../line-sorter.ts";
import { describeReference } from "../orphans.ts";
import { holds, mayHold } from "../payload-evidence.ts";
import {
  type CaptureSource,
  candidatesOf,
  type FoundOriginal,
  isOrphan,
  type JoinedRevisit,
  type Placed,
  ReferenceJoin,
} from "../reference-join.ts";
import type { GoneRecord } from "./difference.ts";

/** A record and the index of its file. */
export type PlacedRecord = Placed<CapturePlace>;

/** A record that holds a payload, with the size of that. */
export interface PlacedOriginal extends PlacedRecord {
  readonly size: number;
}

/** A revisit of ours and its original: what is left to prove by putting the record together again. */
export interface RebuildPair {
  readonly original: PlacedOriginal;
  /** More records with the same payload, should the first be damaged. */
  readonly others?: readonly PlacedOriginal[] | undefined;
  readonly revisit: PlacedRecord;
  /** The payload digest that it claims, where that is not one of those that were computed for its original. */
  readonly claim?: string | undefined;
  /** A Content-Length that is neither the payload's nor the original's. */
  readonly told?: number | undefined;
}

export interface ClosureEvents {
  /** What is not as it should be with the revisit at this place. */
  onFinding(revisit: PlacedRecord, code: ErrorCode, message: string, fresh: boolean): void;
  /** A revisit of ours that leads to an original. */
  onPair(pair: RebuildPair): void;
}

type Say = (code: ErrorCode, message: string) => void;

/** Records that a revisit is tried with, beside the first. */
const OTHERS_MAX = 7;

export class Closure implements Disposable {
  /** Digests that revisits claim in vain, and that were not computed for every payload. */
  readonly missing = new Set<DigestAlgorithm>();
  readonly counts = { originals: 0, revisits: 0, written: 0 };
  private readonly names: readonly string[];
  private readonly join: ReferenceJoin;
  /** For how many payloads each digest was computed. */
  private readonly computed = new Map<DigestAlgorithm, number>();

  constructor(disk: Disk, names: readonly string[], options: LineSorterOptions) {
    this.names = names;
    this.join = new ReferenceJoin(disk, options);
  }

  fill(lines: CaptureSource): void {
    this.join.fill(lines, (line) => this.count(line));
  }

  private count(line: CaptureLine): void {
    const { counts, computed } = this;
    if (line.kind === "revisit") {
      counts.revisits++;
      if (line.ours === true) counts.written++;
      return;
    }
    counts.originals++;
    for (const digest of line.digests) {
      const algorithm = parseAlgorithm(digest)!;
      computed.set(algorithm, (computed.get(algorithm) ?? 0) + 1);
    }
  }

  /** A record of the originals that was replaced, or is lost. To be called after `fill`. */
  addGone(record: GoneRecord): void {
    this.join.addGone(record);
  }

  /** Judges every revisit. May be called once. */
  judge(events: ClosureEvents): void {
    for (const joined of this.join.joined()) this.judgeOne(joined, events);
  }

  private judgeOne(joined: JoinedRevisit, events: ClosureEvents): void {
    const { revisit, reference, original, found } = joined;
    const say: Say = (code, message) => events.onFinding(revisit, code, message, joined.gone);
    const isOurs = revisit.ours === true;
    if (isOurs && reference.kind !== "named") return say("HT_REVISIT_IRREVERSIBLE", "it stands for no payload");
    if (original === undefined && !isOrphan(joined)) return;
    this.noteMissing(joined);
    const named = [...found.byId, ...found.byCapture];
    const isChained = named.length === 0 && joined.leadsTo !== undefined;
    if (isChained) say(...chained(joined));
    const target = original ?? (isOurs ? named[0] : undefined);
    if (target === undefined) {
      if (!isChained) say(...this.whyNone(joined, named));
      return;
    }
    if (isOurs) {
      if (!isChained) this.judgeReference(revisit, target, say);
      this.pair(joined, target, events, say);
    } else this.judgeForeign(joined, target, say);
  }

  /** A claim that was not found to hold: perhaps its digest was not computed where it does. */
  private noteMissing({ revisit, reference, original, found }: JoinedRevisit): void {
    const digest = digestOf(reference);
    // Those of ours are proven by putting the record together.
    const isSettled = found.byDigest.length > 0 || (revisit.ours === true && original !== undefined);
    if (digest === undefined || isSettled) return;
    const algorithm = parseAlgorithm(digest)!;
    if (this.computed.get(algorithm) !== this.counts.originals) this.missing.add(algorithm);
  }

  /** Why a revisit leads to no original. */
  private whyNone(joined: JoinedRevisit, named: readonly FoundOriginal[]): [ErrorCode, string] {
    const { reference, found, revisit } = joined;
    const meant = describeReference(joined);
    const digest = digestOf(reference);
    if (digest !== undefined && named.length > 0 && !named.some((held) => mayHold(held, digest))) {
      return ["HT_REVISIT_MISMATCH", this.otherPayload(revisit, named[0]!)];
    }
    if (named.length + found.byDigest.length > 0) {
      return ["HT_REVISIT_ORPHAN", `records with different payloads may be its original: ${meant}`];
    }
    return ["HT_REVISIT_ORPHAN", `its original is not among the files: ${meant}`];
  }

  private otherPayload({ claim }: RevisitLine, held: FoundOriginal): string {
    return `it claims ${claim}, which is not the payload of ${this.place(held)}`;
  }

  /** A revisit that others wrote, and its original. Replay goes by URI and date alone. */
  private judgeForeign({ revisit, reference, found }: JoinedRevisit, original: FoundOriginal, say: Say): void {
    const digest = digestOf(reference);
    const others = found.byCapture.filter(({ content }) => content !== original.content);
    const isProven = digest === undefined || holds(original, digest);
    if (!isProven) say("HT_REVISIT_MISMATCH", this.otherPayload(revisit, original));
    else if (others.length > 0 && others.length === found.byCapture.length) {
      const message = `the capture of the URI and second that it refers to, ${this.place(others[0]!)}, has another payload`;
      say("HT_REVISIT_MISMATCH", `${message} than ${this.place(original)}, which it means`);
    } else if (others.length > 0) this.sayAmbiguous(original, say);
    const lie = this.judgeLength(revisit, original, say);
    if (lie !== undefined) say("HT_REVISIT_MISMATCH", lengthMessage(lie, original.size, this.place(original)));
  }

  private sayAmbiguous(original: FoundOriginal, say: Say): void {
    say("HT_REVISIT_AMBIGUOUS", `different payloads have its URI and second; it means ${this.place(original)}`);
  }

  /** A Content-Length that is neither the payload's nor the original's. */
  private judgeLength({ told }: RevisitLine, { size, told: toldBefore }: FoundOriginal, say: Say): number | undefined {
    if (told === undefined || told === size) return undefined;
    if (told !== toldBefore) return told;
    say("HT_HTTP_LENGTH", `Content-Length ${told} of a payload of ${size} bytes, as its original has it`);
    return undefined;
  }

  private pair(joined: JoinedRevisit, original: FoundOriginal, events: ClosureEvents, say: Say): void {
    const { revisit, found } = joined;
    const { claim } = revisit;
    if (found.byCapture.some(({ content }) => content !== original.content)) this.sayAmbiguous(original, say);
    const [, ...others] = candidatesOf({ ...joined, original }).filter(({ content }) => content === original.content);
    const told = this.judgeLength(revisit, original, say);
    events.onPair({
      original: originalOf(original),
      ...(others.length === 0 ? {} : { others: others.slice(0, OTHERS_MAX).map(originalOf) }),
      revisit: placeOf(revisit),
      ...(claim === undefined || holds(original, claim) ? {} : { claim }),
      ...(told === undefined ? {} : { told }),
    });
  }

  /** What replay needs of a revisit of ours: it joins the header of a revisit with the body of its original. */
  private judgeReference(revisit: Placed<RevisitLine>, original: FoundOriginal, say: Say): void {
    const { uri = original.uri, date = original.date, id } = revisit.refersTo ?? {};
    const place = this.place(original);
    if (uri !== original.uri || wholeSecond(date) !== wholeSecond(original.date)) {
      say("HT_REVISIT_MISMATCH", `it refers to ${uri} of ${date}, but its payload is at ${place}`);
    } else if (id !== undefined && original.id !== undefined && id !== original.id) {
      const code = id === revisit.id ? "HT_REVISIT_SELF" : "HT_REVISIT_MISMATCH";
      say(code, `it refers to the record ${id}, but the one with its payload is ${original.id}`);
    }
    if ((revisit.chunked === true) !== (original.stored !== undefined)) {
      say("HT_REVISIT_MISMATCH", `of it and ${place}, one was stored chunked and one was not`);
    }
    const hasName = revisit.uri !== undefined && revisit.date !== undefined && uri !== undefined && date !== undefined;
    if (hasName && captureKey(revisit.uri, revisit.date) === captureKey(uri, date)) {
      say("HT_REVISIT_SELF", `it has the URI and second of its original, ${place}, and would be taken for it`);
    }
  }

  private place({ file, offset }: PlacedRecord): string {
    return formatPlace({ file: this.names[file]!, offset });
  }

  [Symbol.dispose](): void {
    this.join[Symbol.dispose]();
  }
}

export function lengthMessage(told: number, size: number, original: string): string {
  return `its Content-Length is ${told}, but the payload of ${original} has ${size} bytes`;
}

function digestOf(reference: RevisitReference): string | undefined {
  return reference.kind === "named" ? reference.digest : undefined;
}

function chained(joined: JoinedRevisit): [ErrorCode, string] {
  const meant = describeReference(joined);
  if (joined.leadsTo === "itself") return ["HT_REVISIT_SELF", `it refers to itself: ${meant}`];
  return ["HT_REVISIT_CHAIN", `it refers to a revisit: ${meant}`];
}

function placeOf({ file, offset, length, inner, id }: PlacedRecord): PlacedRecord {
  return { file, offset, length, inner, id };
}

function originalOf(held: FoundOriginal): PlacedOriginal {
  return { ...placeOf(held), size: held.size };
}

/** Where only an index told of the original, the fraction is not known. */
function wholeSecond(date: string | undefined): string | undefined {
  return date?.replace(/\.\d+/, "");
}
