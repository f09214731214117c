/**
 * The plan: for each line of a manifest, whether its record is an original, a copy, or stays for some other reason. The
 * lines may come in any order and number; they are sorted on disk, unless they are in order and can be read twice. What
 * cannot be known before all lines have been seen (which records an existing revisit refers to, which captures share a
 * second) is kept in sets of fixed size.
 */
import { basename } from "node:path";
import { ArchiveError } from "../base/index.ts";
import { type Candidate, CaptureSet, captureKey, type Decision, OriginalChooser, type Policy } from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import { isUrl } from "./http-source.ts";
import { LineSorter, type LineSorterOptions } from "./line-sorter.ts";
import {
  algorithmOf,
  BY_DIGEST,
  BY_DIGEST_AND_URI,
  Column,
  flagValue,
  formatManifestLine,
  formatPlanColumns,
  fromSortable,
  type LineOrder,
  MANIFEST_WIDTH,
  type ManifestLine,
  parseColumns,
  parseManifestLine,
  splitLine,
  toSortable,
} from "./manifest-line.ts";
import { compareText, detach } from "./report/bounded.ts";

export interface PlannedLine {
  /** With copy number and original, where the decision gives them. */
  readonly line: ManifestLine;
  /** Absent for lines of revisits, which are as they are. */
  readonly decision: Decision<unknown> | undefined;
  /** As a line of the plan. */
  readonly text: string;
}

interface LineCandidate extends Candidate {
  readonly line: ManifestLine;
}

export interface PlannerOptions extends LineSorterOptions {
  /** About how many lines will come; without it, room is made for many. */
  readonly lines?: number | undefined;
}

/** Few captures are referred to or share a second; these sets may be smaller. */
const SMALL_SET_SIZE = 4_000_000;
const KNOWN_FLAG = "known";
/** Columns up to the hash extension. */
const RESOLVED_WIDTH = MANIFEST_WIDTH + 1;

export class Planner implements Disposable {
  private readonly sorter: LineSorter;
  private readonly byUri: boolean;
  private readonly order: LineOrder;
  private readonly chooser: OriginalChooser<LineCandidate>;
  private readonly referred: CaptureSet;
  private readonly captures: CaptureSet;
  private readonly contents: CaptureSet;
  private readonly ambiguous: CaptureSet;
  /** The files that are planned, and their base names. */
  private readonly files = new Set<string>();
  private readonly names = new Set<string>();
  private last: ManifestLine | undefined;
  private inOrder = true;
  /** Captures of earlier holdings that were not taken, because they lie in files that are planned. */
  passedOver = 0;

  constructor(disk: Disk, policy: Policy, options: PlannerOptions = {}) {
    const { lines = Number.POSITIVE_INFINITY } = options;
    this.sorter = new LineSorter(disk, options);
    this.captures = new CaptureSet(lines);
    this.contents = new CaptureSet(lines);
    this.referred = new CaptureSet(Math.min(lines, SMALL_SET_SIZE));
    this.ambiguous = new CaptureSet(Math.min(lines, SMALL_SET_SIZE));
    this.byUri = policy.sameUrl === true;
    this.order = { ...(this.byUri ? BY_DIGEST_AND_URI : BY_DIGEST), joinsUncompared: true };
    this.chooser = new OriginalChooser(policy);
  }

  /** A line of the manifest that is to be planned; `place` tells where it stands. */
  add(text: string, place: string): void {
    this.look(text, place);
    this.sort(text, place);
  }

  /** The same for a line that `planned` will be given again. */
  look(text: string, place: string): void {
    const line = parseManifestLine(text, place);
    this.inOrder &&= this.last === undefined || this.compare(this.last, line) <= 0;
    this.last = line;
    if (!this.files.has(line.file)) {
      const file = detach(line.file);
      this.files.add(file);
      for (const name of baseNames(file)) this.names.add(name);
    }
    this.note(line);
  }

  private sort(text: string, place: string): void {
    this.inOrder = false;
    this.sorter.add(toSortable(text, this.order, place));
  }

  /** As `order` has it, up to the bytes of what is not ASCII. */
  private compare(one: ManifestLine, other: ManifestLine): number {
    return (
      compareText(one.digest ?? "", other.digest ?? "") ||
      (one.extension ?? 0) - (other.extension ?? 0) ||
      (this.byUri ? compareText(one.uri ?? "", other.uri ?? "") : 0) ||
      compareText(one.date ?? "", other.date ?? "") ||
      compareText(one.file, other.file) ||
      one.offset - other.offset
    );
  }

  /**
   * A line of earlier holdings: its record may be referred to, and does not come out of the plan. To be called after all
   * others have been added: an index that tells of the same files would have records replaced by references to
   * themselves, where it writes their URIs in its own way.
   */
  addKnown(known: ManifestLine): void {
    if (known.flags.includes("revisit")) return;
    if (baseNames(known.file).some((name) => this.names.has(name))) {
      this.passedOver++;
      return;
    }
    const line = { ...known, flags: [...known.flags, KNOWN_FLAG] };
    this.note(line);
    this.sort(formatManifestLine(line), known.file);
  }

  /** The lines of an index of earlier holdings. One whose digests are all of another algorithm is a mistake. */
  addIndex(path: string, lines: Iterable<ManifestLine>, algorithm: string): void {
    let found: string | undefined;
    let fits = false;
    for (const line of lines) {
      found ??= algorithmOf(line);
      fits ||= algorithmOf(line) === algorithm;
      this.addKnown(line);
    }
    if (found === undefined || fits) return;
    const message = `${path}: its digests are ${found}, those of the manifest ${algorithm}; choose --digest ${found}`;
    throw new ArchiveError("HT_USAGE", message, { file: path });
  }

  private note(line: ManifestLine): void {
    const { uri, date } = line;
    if (line.flags.includes("revisit")) this.noteReferred(line);
    if (uri === undefined || date === undefined) return;
    const key = captureKey(uri, date);
    const seen = this.captures.add(key);
    // Replay joins a revisit's header with whatever it finds there, another revisit included: it has to be stored alike.
    const seenSame = this.contents.add(`${key} ${line.digest} ${line.extension ?? 0} ${line.framing}`);
    if (seen && !seenSame) this.ambiguous.add(key);
  }

  private noteReferred({ uri, original }: ManifestLine): void {
    if (original?.id !== undefined) this.referred.add(original.id);
    if (original?.uri !== undefined && original.date !== undefined) {
      this.referred.add(captureKey(original.uri, original.date));
      return;
    }
    // Old revisits tell a digest at most, in whatever algorithm: they mean some capture of their own URI.
    const meant = original?.uri ?? uri;
    if (meant !== undefined) this.referred.add(meant);
  }

  /**
   * All lines with what was decided, those of one payload together. `again` gives those that were only looked at. May be
   * called once.
   */
  *planned(again: Iterable<string> = []): Generator<PlannedLine> {
    let group = "";
    for (const text of this.inOrder ? again : this.sorted(again)) {
      const columns = splitLine(text, "(sorted)");
      const line = parseColumns(columns, "(sorted)");
      const key = this.groupOf(line);
      if (key !== group) this.chooser.begin();
      group = key;
      const planned = this.plan(line);
      if (planned === undefined) continue;
      // Most lines stay as they are, and get their columns behind those of `resolve`.
      const isLonger = columns.length === RESOLVED_WIDTH && planned.line.flags === line.flags;
      yield { ...planned, text: isLonger ? text + formatPlanColumns(planned.line) : formatManifestLine(planned.line) };
    }
  }

  private *sorted(again: Iterable<string>): Generator<string> {
    for (const text of again) this.sort(text, "(again)");
    for (const sortable of this.sorter.sortedLines()) yield fromSortable(sortable, this.order);
  }

  private groupOf(line: ManifestLine): string {
    const uri = this.byUri ? ` ${line.uri}` : "";
    return `${line.digest} ${line.extension ?? 0}${uri}`;
  }

  private plan(given: ManifestLine): Omit<PlannedLine, "text"> | undefined {
    if (given.flags.includes("revisit")) return { line: given, decision: undefined };
    const line = undecided(given);
    const candidate = this.candidateOf(line);
    const decision = this.chooser.decide(candidate);
    if (candidate.known === true) return undefined;
    return { line: withDecision(line, decision), decision };
  }

  private candidateOf(line: ManifestLine): LineCandidate {
    const { date, id, flags } = line;
    // One that had to be escaped is not what a revisit would have to say.
    const uri = flags.includes("escaped") ? undefined : line.uri;
    const key = uri === undefined || date === undefined ? undefined : captureKey(uri, date);
    const stored = flagValue(line, "stored-digest");
    return {
      line,
      uri,
      date,
      mime: line.mime,
      framing: stored === undefined ? line.framing : `${line.framing} ${stored}`,
      payloadSize: line.payloadSize,
      length: line.length,
      truncated: flags.includes("truncated"),
      segmented: flags.includes("segmented"),
      damaged: flags.includes("damaged"),
      empty: flags.includes("empty"),
      shared: line.length === undefined && !flags.includes(KNOWN_FLAG),
      irreversible: flags.includes("irreversible"),
      known: flags.includes(KNOWN_FLAG),
      // An ARC file has no revisits, and a WACZ cannot be changed in one place.
      fixed: flags.includes("arc") || line.file.includes("!") || isUrl(line.file),
      referred: [key, id, uri].some((name) => name !== undefined && this.referred.has(name)),
      ambiguous: key !== undefined && this.ambiguous.has(key),
    };
  }

  [Symbol.dispose](): void {
    this.sorter[Symbol.dispose]();
  }
}

/** A line as it was before any plan: what one decided under other rules does not hold any more. */
function undecided(line: ManifestLine): ManifestLine {
  const isPlanned = line.copy !== undefined || line.original !== undefined;
  const hasReason = line.flags.some(isReason);
  if (!isPlanned && !hasReason) return line;
  return { ...line, copy: undefined, original: undefined, flags: line.flags.filter((flag) => !isReason(flag)) };
}

function isReason(flag: string): boolean {
  return flag.startsWith("kept:");
}

function withDecision(line: ManifestLine, decision: Decision<LineCandidate>): ManifestLine {
  switch (decision.kind) {
    case "original":
      return { ...line, copy: 1 };
    case "duplicate": {
      const { line: original } = decision.original;
      const { uri, date, id } = original;
      const place = original.flags.includes(KNOWN_FLAG) ? {} : { file: original.file, offset: original.offset };
      return {
        ...line,
        copy: decision.copy,
        original: { uri, date, id, file: undefined, offset: undefined, ...place },
      };
    }
    case "kept":
      return { ...line, flags: [...line.flags, `kept:${decision.reason}`] };
  }
}

/** Of a file, and of the entries on the way into a ZIP file. */
function baseNames(file: string): string[] {
  return file.split("!").map((name) => basename(name));
}

/** The file and offset of a line, cheaply. */
export function placeOf(line: string): { file: string; offset: number } {
  const columns = line.split("\t", 2);
  return { file: columns[Column.file]!, offset: Number(columns[Column.offset]) };
}
