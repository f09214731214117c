/**
 * The plan: for each line of a manifest, whether its record is an original, a copy, or stays for some other reason. The
 * lines may come in any order and number. What cannot be known before all lines have been seen (which records an existing
 * revisit refers to, which captures share a second) is kept in sets that may err a little. After that it can be decided over the
 * lines of each digest by themselves: stretch by stretch, or over all of them, sorted on disk.
 */
import { basename } from "node:path";
import { ArchiveError } from "../base/index.ts";
import {
  type Candidate,
  CaptureSet,
  captureKey,
  type Decision,
  namesOf,
  namesReferredTo,
  OriginalChooser,
  type Policy,
  UrlsBefore,
} from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import { isUrl } from "./http-source.ts";
import { LineSorter, type LineSorterOptions } from "./line-sorter.ts";
import {
  AGAIN_FLAG,
  algorithmOf,
  BY_DIGEST,
  BY_DIGEST_AND_URI,
  flagValue,
  formatManifestLine,
  formatPlanColumns,
  fromSortable,
  type LineOrder,
  MANIFEST_WIDTH,
  type ManifestLine,
  parseColumns,
  splitLine,
  toSortable,
} from "./manifest-line.ts";
import { detach } from "./report/bounded.ts";

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
  /** About how many lines will come, so that room is made for them at once. */
  readonly lines?: number | undefined;
  /** Names of those inputs that are entries of ZIP files; without it, they are told by their names. */
  readonly packed?: ReadonlySet<string> | undefined;
}

/** Few captures are referred to or share a second; these sets may be smaller. */
const SMALL_SET_SIZE = 4_000_000;
/** Lines of a stretch, mostly. */
const SMALL_STRETCH = 100_000;
const KNOWN_FLAG = "known";
/** Before the name of an entry. Files may have exclamation marks of their own. */
const ENTRY_MARK = /(?<=\.(?:wacz|zip))!/i;
/** Columns up to the hash extension. */
const RESOLVED_WIDTH = MANIFEST_WIDTH + 1;

/** What to say where a planner is overfull. */
export const OVERFULL =
  "more than 300 million captures: some that are unique are taken for ambiguous, and stay as they are";

export class Planner implements Disposable {
  private readonly disk: Disk;
  private readonly options: PlannerOptions;
  private readonly sorter: LineSorter;
  private readonly byUri: boolean;
  private readonly order: LineOrder;
  private readonly chooser: OriginalChooser<LineCandidate>;
  private readonly urls = new UrlsBefore();
  private readonly referred: CaptureSet;
  private readonly captures: CaptureSet;
  private readonly contents: CaptureSet;
  private readonly ambiguous: CaptureSet;
  /** The files that are planned, and their base names. */
  private readonly files = new Set<string>();
  private readonly names = new Set<string>();
  /** The payload whose captures are at hand. */
  private group = "";
  /** Captures of earlier holdings that were not taken, because they lie in files that are planned. */
  passedOver = 0;

  constructor(disk: Disk, policy: Policy, options: PlannerOptions = {}) {
    this.disk = disk;
    this.options = options;
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

  /** Whether more captures came than can be told apart: then some that nothing is wrong with are called ambiguous. */
  get isOverfull(): boolean {
    return this.captures.isOverfull || this.contents.isOverfull;
  }

  /** A line of the manifest that is to be planned; `place` tells where it stands. */
  add(text: string, place: string): void {
    const columns = splitLine(text, place);
    this.look(columns, place);
    this.sorter.add(toSortable(text, columns, this.order));
  }

  /** A line that will come in a stretch, with or without its hash extension, as its columns. */
  look(columns: readonly string[], place: string): void {
    const line = parseColumns(columns, place);
    if (!this.files.has(line.file)) {
      const file = detach(line.file);
      this.files.add(file);
      for (const name of baseNames(file)) this.names.add(name);
    }
    this.note(line);
  }

  /**
   * A line of earlier holdings: its record may be referred to, and does not come out of the plan. To be called after all
   * others have been added: an index that tells of the same files would have records replaced by references to
   * themselves, where it writes their URIs in its own way.
   */
  addKnown(known: ManifestLine): void {
    // What a plan calls a copy is a revisit by now, or may be. What one refers to has to stay, and may be planned here.
    if (known.flags.includes("revisit") || (known.copy ?? 0) > 1) {
      this.note({ ...known, flags: ["revisit"] });
      return;
    }
    if (baseNames(known.file).some((name) => this.names.has(name))) {
      this.passedOver++;
      return;
    }
    const line = { ...known, flags: [...known.flags, KNOWN_FLAG] };
    this.note(line);
    const text = formatManifestLine(line);
    this.sorter.add(toSortable(text, splitLine(text, known.file), this.order));
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
    if (line.flags.includes("revisit")) for (const name of namesReferredTo(uri, line.original)) this.referred.add(name);
    if (uri === undefined || date === undefined) return;
    const key = captureKey(uri, date);
    const seen = this.captures.add(key);
    // Replay joins a revisit's header with whatever it finds there, another revisit included: it has to be stored alike.
    const seenSame = this.contents.add(`${key} ${line.digest} ${line.extension ?? 0} ${line.framing}`);
    if (seen && !seenSame) this.ambiguous.add(key);
  }

  /** The lines that were added with what was decided, those of one payload together. May be called once. */
  *planned(): Generator<PlannedLine> {
    yield* this.decideAll(this.sorter);
  }

  /**
   * The same for lines that were looked at: all that have the digests of these, with their hash extensions. `isOrdered`
   * says that they are in order and that no payload had the digest of another. All lines must have been looked at by then, and none of
   * earlier holdings been added.
   */
  *plannedStretch(lines: Iterable<string>, isOrdered: boolean): Generator<PlannedLine> {
    if (isOrdered && !this.byUri) {
      for (const text of lines) {
        const planned = this.decide(text);
        if (planned !== undefined) yield planned;
      }
      return;
    }
    using sorter = new LineSorter(this.disk, this.options);
    const twins = new ExtensionTwins(this.ambiguous);
    for (const text of lines) {
      const columns = splitLine(text, "(stretch)");
      twins.look(parseColumns(columns, "(stretch)"));
      sorter.add(toSortable(text, columns, this.order));
    }
    yield* this.decideAll(sorter);
  }

  private *decideAll(sorter: LineSorter): Generator<PlannedLine> {
    for (const sortable of sorter.sortedLines()) {
      const planned = this.decide(fromSortable(sortable, this.order));
      if (planned !== undefined) yield planned;
    }
  }

  /** Absent for a line of earlier holdings. */
  private decide(text: string): PlannedLine | undefined {
    const columns = splitLine(text, "(sorted)");
    const line = parseColumns(columns, "(sorted)");
    const key = this.groupOf(line);
    if (key !== this.group) {
      this.chooser.begin();
      this.urls.begin();
    }
    this.group = key;
    const planned = this.plan(line);
    if (planned === undefined) return undefined;
    // Most lines stay as they are, and get their columns behind those of `resolve`.
    const isLonger = columns.length === RESOLVED_WIDTH && planned.line.flags === line.flags;
    const own = isLonger ? text + formatPlanColumns(planned.line) : formatManifestLine(planned.line);
    return { line: planned.line, decision: planned.decision, text: own };
  }

  private groupOf(line: ManifestLine): string {
    const uri = this.byUri ? ` ${line.uri}` : "";
    return `${line.digest} ${line.extension ?? 0}${uri}`;
  }

  private plan(given: ManifestLine): Omit<PlannedLine, "text"> | undefined {
    const isAgain = this.urls.take(given.uri);
    if (given.flags.includes("revisit")) return { line: given, decision: undefined };
    const line = undecided(given);
    const candidate = this.candidateOf(line);
    const decision = this.chooser.decide(candidate);
    if (candidate.known === true) return undefined;
    return { line: withDecision(line, decision, isAgain), decision };
  }

  private isPacked(file: string): boolean {
    return this.options.packed?.has(file) ?? ENTRY_MARK.test(file);
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
      fixed: flags.includes("arc") || this.isPacked(line.file) || isUrl(line.file),
      referred: this.referred.size > 0 && namesOf({ uri, date, id }).some((name) => this.referred.has(name)),
      ambiguous: key !== undefined && this.ambiguous.has(key),
    };
  }

  [Symbol.dispose](): void {
    this.sorter[Symbol.dispose]();
  }
}

/**
 * Captures of one URI and second with one digest and several contents. They were the same when they were looked at before
 * their payloads had been compared.
 */
class ExtensionTwins {
  private readonly ambiguous: CaptureSet;
  private readonly digests = new CaptureSet(SMALL_STRETCH);
  private readonly contents = new CaptureSet(SMALL_STRETCH);

  constructor(ambiguous: CaptureSet) {
    this.ambiguous = ambiguous;
  }

  look({ uri, date, digest, extension }: ManifestLine): void {
    if (uri === undefined || date === undefined) return;
    const key = captureKey(uri, date);
    const seen = this.digests.add(`${key} ${digest}`);
    const seenSame = this.contents.add(`${key} ${digest} ${extension ?? 0}`);
    if (seen && !seenSame) this.ambiguous.add(key);
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
  return flag === AGAIN_FLAG || flag.startsWith("kept:");
}

function withDecision(line: ManifestLine, decision: Decision<LineCandidate>, isAgain: boolean): ManifestLine {
  switch (decision.kind) {
    case "original":
      return { ...line, copy: 1 };
    case "duplicate": {
      const { line: original } = decision.original;
      const { uri, date, id, file, offset } = original;
      const flags = isAgain && uri !== line.uri ? [...line.flags, AGAIN_FLAG] : line.flags;
      return { ...line, flags, copy: decision.copy, original: { uri, date, id, file, offset } };
    }
    case "kept":
      return { ...line, flags: [...line.flags, `kept:${decision.reason}`] };
  }
}

/** Of a file, and of the entries on the way into a ZIP file. */
function baseNames(file: string): string[] {
  return file.split(ENTRY_MARK).map((name) => basename(name));
}
