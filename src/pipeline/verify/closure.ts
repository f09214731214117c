/**
 * Closure: every revisit leads in one step to a record that holds the payload it claims. Records are sorted by what they
 * can be referred to by, revisits by what they refer to, and so they meet, whatever their number.
 */
import { type DigestAlgorithm, type ErrorCode, formatPlace, invariant, parseAlgorithm } from "../../base/index.ts";
import { captureKey } from "../../dedup/index.ts";
import type { Disk } from "../../disk/index.ts";
import { LineSorter, type LineSorterOptions } from "../line-sorter.ts";
import { formatColumn } from "../manifest-line.ts";
import type { GoneRecord } from "./difference.ts";
import { type CapturePlace, type HeldLine, parseCapture, type RevisitLine } from "./task.ts";

/** A record and the index of its file. */
export interface PlacedRecord extends CapturePlace {
  readonly file: number;
}

/** A record that holds a payload, with the size of that. */
export interface PlacedOriginal extends PlacedRecord {
  readonly size: number;
}

/** A revisit of ours and its original: what is left to prove by putting the record together again. */
export interface RebuildPair {
  readonly original: PlacedOriginal;
  /** More records of that URI and second that have what it claims, should the first be damaged. */
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

/** By what a revisit is led to its original. */
export type ReferenceKind = "capture" | "id" | "digest";

/** What stands under a key, in the order in which it must be seen. */
const HOLDS = "0";
/** A record of the originals that is here no more as itself. */
const GONE = "1";
const REVISIT = "2";
const REFERS = "3";

/** Captures of one URI in one second; more than these are not looked at. */
const HELD_MAX = 1024;
/** Those that a revisit is tried with, beside the first. */
const OTHERS_MAX = 7;

export class Closure implements Disposable {
  /** Digests that revisits claim in vain, and that were not computed for every payload. */
  readonly missing = new Set<DigestAlgorithm>();
  private readonly names: readonly string[];
  private readonly sorter: LineSorter;
  private held = 0;
  /** For how many payloads each digest was computed. */
  private readonly computed = new Map<DigestAlgorithm, number>();

  constructor(disk: Disk, names: readonly string[], options: LineSorterOptions) {
    this.names = names;
    this.sorter = new LineSorter(disk, options);
  }

  private put(key: string, kind: string, rest: string): void {
    this.sorter.add(`${formatColumn(key)}\t${kind}\t${rest}`);
  }

  /** A record that holds a payload, under the keys of one kind; that of captures is for all. `text` is its line. */
  addHeld(file: number, held: HeldLine, text: string, kind: ReferenceKind): void {
    if (kind === "capture") {
      this.held++;
      for (const digest of held.digests) {
        const algorithm = parseAlgorithm(digest)!;
        this.computed.set(algorithm, (this.computed.get(algorithm) ?? 0) + 1);
      }
    }
    for (const key of keysOf(held, kind)) this.put(key, HOLDS, `${file}\t${text}`);
  }

  /** A revisit as what others may refer to by mistake. */
  addRevisit(file: number, revisit: RevisitLine, kind: ReferenceKind): void {
    if (kind === "digest") return;
    for (const key of keysOf(revisit, kind)) this.put(key, REVISIT, `${file}:${revisit.offset}:${revisit.inner ?? ""}`);
  }

  /** A record of the originals that was replaced, or is lost. */
  addGone({ uri, date, id }: GoneRecord): void {
    if (uri !== undefined && date !== undefined) this.put(`c ${captureKey(uri, date)}`, GONE, "");
    if (id !== undefined) this.put(`i ${id}`, GONE, "");
  }

  /** A revisit as what refers to something. `text` is its line. */
  addReference(file: number, revisit: RevisitLine, text: string): void {
    this.put(referenceOf(revisit)?.key ?? "-", REFERS, `${file}\t${text}`);
  }

  /** Judges every revisit. May be called once. */
  judge(events: ClosureEvents): void {
    let group = new KeyGroup("");
    for (const line of this.sorter.sortedLines()) {
      const first = line.indexOf("\t");
      const key = line.slice(0, first);
      if (key !== group.key) group = new KeyGroup(key);
      const rest = line.slice(first + 3);
      switch (line[first + 1]) {
        case HOLDS:
          if (group.holds.length < HELD_MAX) group.holds.push(placed<HeldLine>(rest));
          break;
        case GONE:
          group.gone = true;
          break;
        case REVISIT:
          if (group.revisits.length < HELD_MAX) group.revisits.push(rest);
          break;
        default:
          this.judgeOne(placed<RevisitLine>(rest), group, events);
      }
    }
  }

  private judgeOne(revisit: Placed<RevisitLine>, group: KeyGroup, events: ClosureEvents): void {
    const say = (code: ErrorCode, message: string) => events.onFinding(revisit, code, message, group.gone);
    const reference = referenceOf(revisit);
    if (reference === undefined) return say("HT_REVISIT_ORPHAN", "it tells no original");
    if (group.holds.length === 0) {
      if (reference.kind === "digest") this.note(revisit.claim!);
      return say(...whyNone(revisit, group, reference));
    }
    const { id } = revisit.refersTo ?? {};
    const named = group.holds.filter((held) => id === undefined || held.id === undefined || held.id === id);
    if (named.length === 0) {
      const code = id === revisit.id ? "HT_REVISIT_SELF" : "HT_REVISIT_MISMATCH";
      return say(code, `it refers to the record ${id}, but the one of that URI and second is ${group.holds[0]!.id}`);
    }
    // One that has the very id comes before one that has none.
    const exact = named.filter((held) => held.id === id);
    const candidates = exact.length > 0 ? exact : named;
    const [original = candidates[0]!, ...others] = candidates.filter((held) => holdsClaim(held, revisit.claim));
    if (group.holds.some((held) => differ(held, original))) {
      say("HT_REVISIT_AMBIGUOUS", `different payloads have its URI and second; it means ${this.place(original)}`);
    }
    this.judgePayload(revisit, original, others, events, say);
  }

  private judgePayload(
    revisit: Placed<RevisitLine>,
    original: Placed<HeldLine>,
    others: readonly Placed<HeldLine>[],
    events: ClosureEvents,
    say: (code: ErrorCode, message: string) => void,
  ): void {
    const { claim, told } = revisit;
    const isProven = claim === undefined || holdsClaim(original, claim);
    const isTold = told === undefined || told === original.size;
    if (!isTold && told === original.told) {
      say("HT_HTTP_LENGTH", `Content-Length ${told} of a payload of ${original.size} bytes, as its original has it`);
    }
    const lie = isTold || told === original.told ? undefined : told;
    if (revisit.ours === true) {
      this.judgeReference(revisit, original, say);
      events.onPair({
        original: originalOf(original),
        ...(others.length === 0 ? {} : { others: others.slice(0, OTHERS_MAX).map(originalOf) }),
        revisit: placeOf(revisit),
        ...(isProven ? {} : { claim }),
        ...(lie === undefined ? {} : { told: lie }),
      });
      return;
    }
    if (!isProven) {
      this.note(claim);
      say("HT_REVISIT_MISMATCH", `it claims ${claim}, which is not the payload of ${this.place(original)}`);
    }
    if (lie !== undefined) say("HT_REVISIT_MISMATCH", lengthMessage(lie, original.size, this.place(original)));
  }

  /** What replay needs, which joins the header of a revisit with the body of its original. */
  private judgeReference(
    revisit: Placed<RevisitLine>,
    original: Placed<HeldLine>,
    say: (code: ErrorCode, message: string) => void,
  ): void {
    const { date } = revisit.refersTo ?? {};
    const place = this.place(original);
    if (wholeSecond(date) !== wholeSecond(original.date)) {
      say("HT_REVISIT_MISMATCH", `it refers to ${date}, but ${place} is of ${original.date}`);
    }
    if ((revisit.chunked === true) !== (original.stored !== undefined)) {
      say("HT_REVISIT_MISMATCH", `of it and ${place}, one was stored chunked and one was not`);
    }
    if (keysOf(revisit, "capture")[0] === referenceOf(revisit)?.key) {
      say("HT_REVISIT_SELF", `it has the URI and second of its original, ${place}, and would be taken for it`);
    }
  }

  /** A claim that was not found to hold: perhaps its digest was not computed where it does. */
  private note(claim: string): void {
    const algorithm = parseAlgorithm(claim)!;
    if (this.computed.get(algorithm) !== this.held) this.missing.add(algorithm);
  }

  private place({ file, offset }: PlacedRecord): string {
    return formatPlace({ file: this.names[file]!, offset });
  }

  [Symbol.dispose](): void {
    this.sorter[Symbol.dispose]();
  }
}

export function lengthMessage(told: number, size: number, original: string): string {
  return `its Content-Length is ${told}, but the payload of ${original} has ${size} bytes`;
}

type Placed<L> = L & PlacedRecord;

/** All that stands under one key. */
class KeyGroup {
  readonly key: string;
  readonly holds: Placed<HeldLine>[] = [];
  readonly revisits: string[] = [];
  gone = false;

  constructor(key: string) {
    this.key = key;
  }
}

function placed<L extends HeldLine | RevisitLine>(text: string): Placed<L> {
  const tab = text.indexOf("\t");
  return { ...parseCapture(text.slice(tab + 1)), file: Number(text.slice(0, tab)) } as unknown as Placed<L>;
}

function placeOf({ file, offset, length, inner, id }: PlacedRecord): PlacedRecord {
  return { file, offset, length, inner, id };
}

function originalOf(held: Placed<HeldLine>): PlacedOriginal {
  return { ...placeOf(held), size: held.size };
}

function keysOf(line: HeldLine | RevisitLine, kind: ReferenceKind): string[] {
  switch (kind) {
    case "capture":
      return line.uri === undefined || line.date === undefined ? [] : [`c ${captureKey(line.uri, line.date)}`];
    case "id":
      return line.id === undefined ? [] : [`i ${line.id}`];
    case "digest":
      invariant(line.kind === "held", "a revisit holds no payload");
      return [...new Set([...line.digests, ...(line.stored ?? [])])].map((digest) => `d ${digest}`);
  }
}

/** What a revisit is led by: URI and date as replay does, else the id, else the digest alone. */
export function referenceOf({ refersTo, claim }: RevisitLine): { kind: ReferenceKind; key: string } | undefined {
  const { uri, date, id } = refersTo ?? {};
  if (uri !== undefined && date !== undefined) return { kind: "capture", key: `c ${captureKey(uri, date)}` };
  if (id !== undefined) return { kind: "id", key: `i ${id}` };
  return claim === undefined ? undefined : { kind: "digest", key: `d ${claim}` };
}

/** Why a revisit leads to no original. */
function whyNone(
  revisit: Placed<RevisitLine>,
  group: KeyGroup,
  { kind, key }: { kind: ReferenceKind; key: string },
): [ErrorCode, string] {
  const own = `${revisit.file}:${revisit.offset}:${revisit.inner ?? ""}`;
  const target = key.slice(2);
  const others = group.revisits.filter((place) => place !== own);
  if (others.length === 0 && (group.revisits.length > 0 || isOwn(revisit, kind))) {
    return ["HT_REVISIT_SELF", `it refers to itself: ${target}`];
  }
  if (others.length > 0) return ["HT_REVISIT_CHAIN", `it refers to a revisit: ${target}`];
  return ["HT_REVISIT_ORPHAN", `its original is not among the files: ${target}`];
}

function isOwn({ id, refersTo }: RevisitLine, kind: ReferenceKind): boolean {
  return kind !== "digest" && id !== undefined && refersTo?.id === id;
}

/** Where only an index told of the original, the fraction is not known. */
function wholeSecond(date: string | undefined): string | undefined {
  return date?.replace(/\.\d+/, "");
}

function holdsClaim({ digests, stored }: HeldLine, claim: string | undefined): boolean {
  return claim === undefined || digests.includes(claim) || stored?.includes(claim) === true;
}

/** Two payloads that are not one. Digests of no common algorithm tell nothing. */
function differ(one: HeldLine, other: HeldLine): boolean {
  if (one.size !== other.size) return true;
  const algorithms = new Set(one.digests.map((digest) => parseAlgorithm(digest)));
  const common = other.digests.filter((digest) => algorithms.has(parseAlgorithm(digest)));
  return common.some((digest) => !one.digests.includes(digest));
}
