/**
 * Which records of one file a subset takes: those that the filter names, those that were captured together with one of
 * them, and every warcinfo; and which of their references lead out of it. Records are told apart by their number in the
 * file. Ids are joined by sorting on disk, so that the number of records does not matter.
 */
import type { Disk } from "../../disk/index.ts";
import { type ByteSource, WarcReader, type WarcRecord } from "../../warc/index.ts";
import { LineSorter } from "../line-sorter.ts";
import type { RecordFilter } from "./filter.ts";

/** What was decided of a record, beyond what the filter says. */
export interface Decision {
  readonly number: number;
  /** It goes along with another. */
  readonly taken: boolean;
  /** Ids that it refers to and that the subset does not have. */
  readonly dropped: ReadonlySet<string>;
}

export interface Selection extends Disposable {
  /** Records that the filter names. */
  readonly count: number;
  /** Decisions in order of their records; most records have none. May be called once. */
  decisions(): Generator<Decision>;
}

/** Fields whose values are ids of records. What a revisit refers to is not among them: it goes when it is expanded. */
const REFERENCES = {
  "warc-concurrent-to": "concurrent",
  "warc-warcinfo-id": "warcinfo",
  "warc-refers-to": "refers",
  "warc-segment-origin-id": "segment",
} as const;

type ReferenceKind = (typeof REFERENCES)[keyof typeof REFERENCES];

const HOLDS = "0";
const REFERS = "1";
const NAMED = "n";
const WARCINFO = "w";
const OTHER = "-";
const TAKE = "take";
const DROP = "drop";
const NUMBER_DIGITS = 16;
/** Records of one id; there should be one. */
const HOLDERS_MAX = 16;

export function selectRecords(disk: Disk, source: ByteSource, filter: RecordFilter, scratchParent: string): Selection {
  const byId = new LineSorter(disk, { scratchParent });
  const byNumber = new LineSorter(disk, { scratchParent });
  let count = 0;
  const reader = new WarcReader(source);
  try {
    for (let record = reader.next(), number = 0; record !== undefined; record = reader.next(), number++) {
      const named = isNamed(record, filter);
      if (named) count++;
      for (const line of linesOf(record, number, named)) byId.add(line);
    }
  } finally {
    reader.close();
  }
  if (count > 0) joinById(byId, byNumber);
  return {
    count,
    decisions: () => readDecisions(byNumber),
    [Symbol.dispose]: () => {
      byId[Symbol.dispose]();
      byNumber[Symbol.dispose]();
    },
  };
}

/** The record is one of those that were asked for. */
export function isNamed(record: WarcRecord, filter: RecordFilter): boolean {
  return record.type !== "warcinfo" && filter(record.uri, record.timeMs);
}

function* linesOf(record: WarcRecord, number: number, named: boolean): Generator<string> {
  const state = named ? NAMED : record.type === "warcinfo" ? WARCINFO : OTHER;
  if (record.id !== undefined) yield `${JSON.stringify(record.id)}\t${HOLDS}\t${number}\t${state}`;
  for (const [kind, id] of referencesOf(record)) {
    yield `${JSON.stringify(id)}\t${REFERS}\t${number}\t${state}\t${kind}`;
  }
}

function* referencesOf(record: WarcRecord): Generator<[kind: ReferenceKind, id: string]> {
  for (const [name, value] of record.headers) {
    const kind = REFERENCES[name.toLowerCase() as keyof typeof REFERENCES] as ReferenceKind | undefined;
    if (kind === undefined || (kind === "refers" && record.type === "revisit")) continue;
    yield [kind, unbracket(value)];
  }
}

/** The field refers to a record that the subset does not have. */
export function isDropped(lowerName: string, value: string, dropped: ReadonlySet<string>): boolean {
  return lowerName in REFERENCES && dropped.has(unbracket(value));
}

function unbracket(value: string): string {
  return value.replace(/^<(.*)>$/s, "$1");
}

interface Holder {
  readonly number: number;
  readonly state: string;
}

/** Records of an id come before those that refer to it. */
function joinById(byId: LineSorter, byNumber: LineSorter): void {
  let id = "";
  let holders: Holder[] = [];
  const tell = (number: number, what: string) =>
    byNumber.add(`${String(number).padStart(NUMBER_DIGITS, "0")}\t${what}`);
  for (const line of byId.sortedLines()) {
    const [own, role, digits, state, kind] = line.split("\t") as [string, string, string, string, ReferenceKind];
    if (own !== id) {
      id = own;
      holders = [];
    }
    const number = Number(digits);
    if (role === HOLDS) {
      if (holders.length < HOLDERS_MAX) holders.push({ number, state });
      continue;
    }
    const leads = judge(holders, kind, state === NAMED);
    if (leads === "in") {
      if (state !== NAMED && kind !== "warcinfo") tell(number, TAKE);
    } else if (leads === "takes") for (const holder of holders) tell(holder.number, TAKE);
    else tell(number, `${DROP}\t${own}`);
  }
}

/** Whether a reference leads into the subset, takes what it leads to along, or leads out of it. */
function judge(holders: readonly Holder[], kind: ReferenceKind, named: boolean): "in" | "takes" | "out" {
  const wanted = kind === "warcinfo" ? WARCINFO : NAMED;
  if (holders.some(({ state }) => state === wanted)) return "in";
  return named && kind === "concurrent" && holders.length > 0 ? "takes" : "out";
}

function* readDecisions(byNumber: LineSorter): Generator<Decision> {
  let at: { number: number; taken: boolean; dropped: Set<string> } | undefined;
  for (const line of byNumber.sortedLines()) {
    const [digits, what, id] = line.split("\t");
    const number = Number(digits);
    if (at?.number !== number) {
      if (at !== undefined) yield at;
      at = { number, taken: false, dropped: new Set() };
    }
    if (what === TAKE) at.taken = true;
    else at.dropped.add(JSON.parse(id!) as string);
  }
  if (at !== undefined) yield at;
}
