/**
 * Leads revisits to their originals, whatever the number of records. It only gathers what can be found under the keys of
 * each revisit; which of that is the original is decided by the rule in dedup/reference.ts. Two sorts do it: by key, where
 * revisits meet the records that they may mean, and by revisit, where everything that one of them met comes together.
 * Records that no revisit can mean are not sorted at all.
 */
import {
  CaptureSet,
  chooseOriginal,
  type FoundCandidates,
  keyOfMoment,
  keyOfUri,
  type OriginalCandidate,
  type RevisitReference,
  referenceOf,
  timeOfDate,
} from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import { type CaptureLine, type HeldLine, isRevisitText, parseCapture, type RevisitLine } from "./capture-line.ts";
import { BY_CAPTURE, BY_DIGEST, BY_ID, BY_STATE, GONE, HOLDS, KeyGroup, REFERS, REVISIT } from "./key-group.ts";
import { LineSorter, type LineSorterOptions } from "./line-sorter.ts";
import { formatColumn } from "./manifest-line.ts";
import { differ, mayHold } from "./payload-evidence.ts";

/** A line and the index of its file. */
export type Placed<L> = L & { readonly file: number };

/** The lines of all files, each with the index of its file. */
export type CaptureSource = () => Iterable<readonly [file: number, text: string]>;

export type FoundOriginal = Placed<HeldLine> & OriginalCandidate;

export interface JoinedRevisit {
  readonly revisit: Placed<RevisitLine>;
  readonly reference: RevisitReference;
  /** Absent where there is none, or none is needed. */
  readonly original: FoundOriginal | undefined;
  /** All that was found under its keys. */
  readonly found: FoundCandidates<FoundOriginal>;
  /** A revisit has the id, or the URL and second, that it refers to. */
  readonly leadsTo: "itself" | "revisit" | undefined;
  /** What it refers to was there once, see `addGone`. */
  readonly gone: boolean;
}

/** Whether it needs an original, and has none. */
export function isOrphan({ reference, original }: JoinedRevisit): boolean {
  return original === undefined && reference.kind !== "unread" && reference.kind !== "empty";
}

/** All records that were found, each once: the original first, then those that it names, then others with its digest. */
export function candidatesOf({ original, found }: JoinedRevisit): FoundOriginal[] {
  const all = [...(original === undefined ? [] : [original]), ...found.byId, ...found.byCapture, ...found.byDigest];
  const byPlace = new Map<string, FoundOriginal>();
  for (const one of all) if (!byPlace.has(placeOf(one))) byPlace.set(placeOf(one), one);
  return [...byPlace.values()];
}

/** Room for the keys of this many revisits; of more, records are sorted that need not be. */
const KEYS_MAX = 4_000_000;
const DIGITS = 16;
/** Makes times before 1970 sort, too. */
const TIME_BASE = 1e15;

export class ReferenceJoin implements Disposable {
  private readonly byKey: LineSorter;
  private readonly byRevisit: LineSorter;
  private keys: CaptureSet | undefined;
  private revisits = 0;
  /** There are silent revisits, so the states of URLs are of interest. */
  private isSilent = false;

  /** What is left of a folder `scratchParent` afterwards is the caller's to remove. */
  constructor(disk: Disk, options: LineSorterOptions = {}) {
    // Each sort clears up in its folder, so they do not share one.
    const sorting = (name: string) =>
      options.scratchParent === undefined ? options : { ...options, scratchParent: `${options.scratchParent}/${name}` };
    this.byKey = new LineSorter(disk, sorting("by-key"));
    this.byRevisit = new LineSorter(disk, sorting("by-revisit"));
  }

  /** Takes all lines; goes through them twice if there are revisits. `onLine` sees each line once. */
  fill(lines: CaptureSource, onLine?: (line: CaptureLine) => void): void {
    for (const [file, text] of lines()) {
      if (onLine === undefined && !isRevisitText(text)) continue;
      const line = parseCapture(text);
      onLine?.(line);
      if (line.kind === "revisit") this.addRevisit(file, line, text);
    }
    if (this.keys === undefined) return;
    for (const [file, text] of lines()) {
      const line = parseCapture(text);
      if (line.kind === "held") this.addHeld(file, line, text);
      else this.addTarget(file, line, text);
    }
  }

  private addRevisit(file: number, revisit: RevisitLine, text: string): void {
    const number = pad(this.revisits++);
    this.keys ??= new CaptureSet(KEYS_MAX, KEYS_MAX);
    this.byRevisit.add(`${number}\t \t${file}\t${text}`);
    const reference = referenceTo(revisit);
    if (reference.kind === "silent") {
      const timeMs = timeOfDate(revisit.date);
      if (revisit.uri === undefined || timeMs === undefined) return;
      this.isSilent = true;
      this.refer(BY_STATE + keyOfUri(revisit.uri), `${padTime(timeMs)}${REFERS}`, `${number}\t${text}`);
    } else if (reference.kind === "named") {
      const { digest, id, capture } = reference;
      if (digest !== undefined) this.refer(BY_DIGEST + digest, REFERS, number);
      if (id !== undefined) this.refer(BY_ID + id, REFERS, number);
      if (capture !== undefined) this.refer(BY_CAPTURE + keyOfMoment(capture.uri, capture.timeMs), REFERS, number);
    }
  }

  private refer(key: string, order: string, rest: string): void {
    this.keys!.add(key);
    this.byKey.add(`${formatColumn(key)}\t${order}\t${rest}`);
  }

  private put(key: string, order: string, rest: string): void {
    if (this.keys?.has(key) === true) this.byKey.add(`${formatColumn(key)}\t${order}\t${rest}`);
  }

  private addHeld(file: number, held: HeldLine, text: string): void {
    // Nobody's payload is in an answer that nothing has changed.
    if (held.status === 304) return;
    const rest = `${file}\t${text}`;
    for (const digest of held.digests) this.put(BY_DIGEST + digest, HOLDS, rest);
    for (const digest of held.stored ?? []) this.put(BY_DIGEST + digest, HOLDS, rest);
    for (const key of namesOf(held)) this.put(key, HOLDS, rest);
    if (held.status === 200) this.addState(held, held.digests[0], rest);
  }

  /** A revisit as what others refer to by mistake, and as a state of its URL. */
  private addTarget(file: number, revisit: RevisitLine, text: string): void {
    for (const key of namesOf(revisit)) this.put(key, REVISIT, placeOf({ ...revisit, file }));
    if (revisit.status === 200 && revisit.profile === undefined) {
      this.addState(revisit, revisit.claim, `${file}\t${text}`);
    }
  }

  /** States of one moment are put in the order of their digests, so that the order of the files does not matter. */
  private addState({ uri, date }: CaptureLine, digest: string | undefined, rest: string): void {
    if (!this.isSilent) return;
    const timeMs = timeOfDate(date);
    if (uri === undefined || timeMs === undefined) return;
    this.put(BY_STATE + keyOfUri(uri), `${padTime(timeMs)}${HOLDS}${digest}`, rest);
  }

  /** A record that was there once, and is no more as it was. To be called after `fill`. */
  addGone(record: Pick<CaptureLine, "uri" | "date" | "id">): void {
    for (const key of namesOf(record)) this.put(key, GONE, "");
  }

  /** Every revisit, in the order of the lines. May be called once. */
  *joined(): Generator<JoinedRevisit> {
    if (this.keys === undefined) return;
    this.meet();
    let group: string[][] = [];
    for (const line of this.byRevisit.sortedLines()) {
      const [number, by, file, text] = line.split("\t");
      if (by === " " && group.length > 0) {
        yield joinOne(group);
        group = [];
      }
      group.push([number!, by!, file!, text!]);
    }
    yield joinOne(group);
  }

  /** Brings what stands under one key together with the revisits that refer to it. */
  private meet(): void {
    let group = new KeyGroup("");
    for (const line of this.byKey.sortedLines()) {
      const [key, order, first, text] = line.split("\t");
      if (key !== group.key) group = new KeyGroup(key!);
      const kind = key!.startsWith(BY_STATE) ? order![DIGITS] : order;
      if (kind === HOLDS) group.hold(`${first}\t${text}`, parseCapture(text!));
      else if (kind === GONE) group.gone = true;
      else if (kind === REVISIT) group.revisits.add(first!);
      else for (const met of group.meet(text)) this.byRevisit.add(`${first}\t${met}`);
    }
  }

  [Symbol.dispose](): void {
    this.byKey[Symbol.dispose]();
    this.byRevisit[Symbol.dispose]();
  }
}

function referenceTo({ profile, claim, refersTo, status }: RevisitLine): RevisitReference {
  return referenceOf({ profile, claim, refersTo, status });
}

/** Where a record can be found by name. */
function namesOf({ uri, date, id }: Pick<CaptureLine, "uri" | "date" | "id">): string[] {
  const names = id === undefined ? [] : [BY_ID + id];
  const timeMs = timeOfDate(date);
  if (uri !== undefined && timeMs !== undefined) names.push(BY_CAPTURE + keyOfMoment(uri, timeMs));
  return names;
}

function placeOf({ file, offset, inner }: Placed<CaptureLine>): string {
  return `${file}:${offset}:${inner ?? ""}`;
}

function pad(number: number): string {
  return String(number).padStart(DIGITS, "0");
}

function padTime(timeMs: number): string {
  return pad(TIME_BASE + timeMs);
}

function placed<L extends CaptureLine>(file: string, text: string): Placed<L> {
  return { ...(parseCapture(text) as L), file: Number(file) };
}

/** Decides about one revisit, from all that it met; its own line comes first. */
function joinOne([own, ...met]: readonly string[][]): JoinedRevisit {
  const revisit = placed<RevisitLine>(own![2]!, own![3]!);
  const contents: HeldLine[] = [];
  const foundBy = (by: string) =>
    met
      .filter(([, kind]) => kind === by)
      .map(([, , file, text]): FoundOriginal => {
        const held = placed<HeldLine>(file!, text!);
        return {
          ...held,
          content: contentOf(held, contents),
          uri: held.uri,
          timeMs: timeOfDate(held.date),
          id: held.id,
        };
      });
  const found = { byDigest: foundBy(BY_DIGEST), byId: foundBy(BY_ID), byCapture: foundBy(BY_CAPTURE) };
  const reference = referenceTo(revisit);
  const places = met.filter(([, kind]) => kind === REVISIT).map(([, , place]) => place);
  const isItself = places.every((place) => place === placeOf(revisit));
  return {
    revisit,
    reference,
    original:
      reference.kind === "named"
        ? chooseOriginal(reference, found, (held) => mayHold(held, reference.digest))
        : foundBy(BY_STATE)[0],
    found,
    leadsTo: places.length === 0 ? undefined : isItself ? "itself" : "revisit",
    gone: met.some(([, kind]) => kind === GONE),
  };
}

/** The first that has this payload, as its name. */
function contentOf(held: HeldLine, contents: HeldLine[]): string {
  const known = contents.findIndex((one) => !differ(one, held));
  return String(known < 0 ? contents.push(held) - 1 : known);
}
