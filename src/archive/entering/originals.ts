/**
 * What revisits stand for, as far as the catalogue knows it by now: the payload that one leads to, whose status it has,
 * and what it waits for. The rule itself is in dedup/; here are the captures that it chooses from. Obeys docs/lifespans.md.
 */
import { createHasher, type Digest, formatDigest, parseDigest } from "../../base/index.ts";
import {
  chooseOriginal,
  confirmedState,
  type NamedReference,
  type OriginalCandidate,
  type RevisitReference,
} from "../../dedup/index.ts";
import { parseReplaced, restoredBlock } from "../../pipeline/index.ts";
import { payloadOf as entityOf, judgeDigest, scanRecord } from "../../warc/index.ts";
import {
  archiveKey,
  type CaptureKey,
  FIRST_MS,
  idMark,
  idMarkIn,
  LAST_MS,
  timeOf,
  urlKeyOf,
  waitForDigest,
  waitForId,
  waitForSecond,
} from "../catalogue/capture-key.ts";
import {
  type CaptureRow,
  DIGEST_HALF,
  EMPTY_PAYLOAD,
  Flag,
  has,
  isHolder,
  type OriginalRow,
  type Payload,
  type RecordPlace,
} from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { Table } from "../catalogue/catalogue-keys.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { contentIdentity } from "../catalogue/content.ts";
import { classOf, contentStatus, tellsStatus } from "../catalogue/visit-class.ts";
import { type RecordShelf, readable } from "../segments/segments.ts";

/** What is told of a capture by another one. */
export type ToldHeader = Pick<CaptureRow, "status" | "mime" | "location"> & { readonly isWholeRange: boolean };

export interface Resolution {
  readonly payload: Payload | undefined;
  /** Proven by its digest, or needed no proof. */
  readonly isByDigest: boolean;
  /** For one without a status of its own. */
  readonly header: ToldHeader | undefined;
  /** What would change this, if it came. */
  readonly waits: readonly string[];
}

/** A revisit that asks what it stands for. */
export interface Asking {
  readonly key: CaptureKey;
  readonly reference: RevisitReference;
  readonly isHeadless: boolean;
  /** It had its payload when it came: then a payload is enough of which all captures were removed. */
  readonly isOurs: boolean;
}

interface Candidate extends OriginalCandidate {
  readonly payload: Payload;
  readonly found?: FoundCapture | undefined;
}

/** The captures that a revisit names. */
interface Named {
  /** Those with the id that can be used, in the order of times and keys; of several, those of the second that is named. */
  readonly byId: (isUsable: (candidate: Candidate) => boolean) => Candidate[];
  /** Those of the URL and the second, in the order of times and keys. */
  readonly byCapture: readonly Candidate[];
}

const UNRESOLVED: Resolution = { payload: undefined, isByDigest: false, header: undefined, waits: [] };

export class Originals {
  private readonly catalogue: Catalogue;
  private readonly shelf: RecordShelf;
  private readonly statuses: StatusSources;

  constructor(catalogue: Catalogue, shelf: RecordShelf) {
    this.catalogue = catalogue;
    this.shelf = shelf;
    this.statuses = new StatusSources(catalogue);
  }

  /** To be called when a capture changes that tells a status. */
  forgetStatuses(): void {
    this.statuses.forget();
  }

  resolve(asking: Asking): Resolution {
    const { reference, isHeadless } = asking;
    if (reference.kind === "unread" || reference.kind === "silent") return UNRESOLVED;
    if (reference.kind === "empty") {
      const names: NamedReference = { ...reference, kind: "named" };
      const header = isHeadless ? this.headerOf(asking, EMPTY_PAYLOAD, names, this.named(names)) : undefined;
      return { payload: EMPTY_PAYLOAD, isByDigest: true, header, waits: waitsOf(names, true, isHeadless) };
    }
    const proven = reference.digest === undefined ? [] : this.payloadsOf(reference.digest, asking.isOurs);
    const isByDigest = proven.length === 1;
    const found = isByDigest && !isHeadless ? NONE : this.named(reference);
    const byDigest = proven.map((payload): Candidate => ({ ...NOWHERE, payload, content: contentOf(payload) }));
    const fits = (each: Candidate) =>
      proven.length > 0 ? byDigest.some(({ content }) => content === each.content) : this.fits(each, reference.digest);
    const isOriginal = (each: Candidate) => this.mayBe(asking, each.found!) && fits(each);
    const byId = isByDigest ? [] : found.byId(isOriginal);
    const byCapture = isByDigest || byId.length > 0 ? [] : found.byCapture.filter(isOriginal);
    const chosen = chooseOriginal(reference, { byDigest, byId, byCapture }, () => true);
    const payload = chosen?.payload;
    const header = isHeadless && payload !== undefined ? this.headerOf(asking, payload, reference, found) : undefined;
    return { payload, isByDigest, header, waits: waitsOf(reference, isByDigest, isHeadless) };
  }

  /** The payloads that a digest is proven to be of. */
  payloadsOf(claim: string, takesUnheld = false): Payload[] {
    const digest = parseDigest(claim);
    if (digest === undefined) return [];
    const bytes = Buffer.from(digest.hex, "hex");
    const halves =
      digest.algorithm === "sha256" ? [bytes.subarray(0, DIGEST_HALF)] : this.catalogue.claimed(formatDigest(digest));
    return halves.flatMap((half) => {
      const original = this.heldOriginal(half, takesUnheld);
      if (original === undefined) return [];
      const payload = payloadOf(half, original);
      const isIt =
        digest.algorithm === "sha256"
          ? payload.sha256.equals(bytes)
          : (digest.algorithm === "sha1" && original.sha1.equals(bytes)) || this.isTold(half, claim, takesUnheld);
      return isIt ? [payload] : [];
    });
  }

  private heldOriginal(half: Buffer, takesUnheld: boolean): OriginalRow | undefined {
    const [plain, chunked] = [this.catalogue.original(half, "plain"), this.catalogue.original(half, "chunked")];
    const isThere = takesUnheld || plain?.isHeld === true || chunked?.isHeld === true;
    return isThere ? (plain ?? chunked) : undefined;
  }

  /** Whether a capture with this payload has the digest in its header, which is true then. */
  private isTold(half: Buffer, claim: string, takesUnheld: boolean): boolean {
    if (takesUnheld) return true;
    for (const key of this.catalogue.seen(half)) {
      const row = this.catalogue.capture(key);
      if (row !== undefined && isHolder(row) && !has(row, Flag.lies) && row.claim === claim) return true;
    }
    return false;
  }

  /** Captures that are named by id, or by URI and date. */
  private named(reference: NamedReference): Named {
    const { id, capture } = reference;
    const urlKey = capture && archiveKey(capture.uri);
    const second = capture === undefined ? 0 : Math.floor(capture.timeMs / 1000) * 1000;
    const inSecond = urlKey === undefined ? [] : [...this.catalogue.captures(urlKey, second, second + 999)];
    const byCapture = candidatesOf(inSecond).filter(({ timeMs }) => timeMs !== undefined);
    if (id === undefined) return { byId: () => [], byCapture };
    const withId = (captures: Iterable<FoundCapture>, isUsable: (candidate: Candidate) => boolean) =>
      candidatesOf(captures).filter((each) => this.idOf(each.found!) === id && isUsable(each));
    const byId: Named["byId"] = (isUsable) => {
      const mark = idMark(id);
      // Of several, those of the second that is named count: then the others need not be looked for.
      const near = withId(
        inSecond.filter(({ key }) => idMarkIn(key) === mark),
        isUsable,
      );
      if (near.length > 0) return near;
      const all = urlKey === undefined ? this.listedById(id) : this.catalogue.withIdMark(urlKey, mark);
      return withId(all, isUsable).sort((one, other) => (one.timeMs ?? 0) - (other.timeMs ?? 0));
    };
    return { byId, byCapture };
  }

  private *listedById(id: string): Generator<FoundCapture> {
    for (const key of this.catalogue.listed(Table.byId, idMark(id))) {
      const row = key === "" ? undefined : this.catalogue.capture(key);
      if (row !== undefined && !has(row, Flag.removed)) yield { key, timeMs: timeOf(key), row };
    }
  }

  private idOf({ row }: FoundCapture): string | undefined {
    return readable(() => this.shelf.idOf(row.place));
  }

  /** Whether it may be the original of who asks. */
  private mayBe({ key }: Asking, { row, timeMs, key: own }: FoundCapture): boolean {
    if (own === key || has(row, Flag.silent)) return false;
    return isHolder(row) || has(row, Flag.byDigest) || (timeMs < timeOf(key) && !has(row, Flag.undated));
  }

  /** Whether the payload has this digest; where only its bytes could tell, they are asked. */
  private fits({ payload, found }: Candidate, claim: string | undefined): boolean {
    const wanted = claim === undefined ? undefined : parseDigest(claim);
    if (wanted === undefined || found?.row.claim === claim) return true;
    if (wanted.algorithm === "sha256") return payload.sha256.toString("hex") === wanted.hex;
    if (wanted.algorithm === "sha1" && payload.sha1.toString("hex") === wanted.hex) return true;
    const original = this.catalogue.anyOriginal(payload.sha256.subarray(0, DIGEST_HALF))?.place;
    const own = found !== undefined && isHolder(found.row) ? found.row : undefined;
    const place = own === undefined || own.kind === "replaced" ? original : own.place;
    if (place === undefined) return false;
    const { algorithm } = wanted;
    // A record may also be told by the digest of its body as it is stored.
    const isStored = own !== undefined && own.kind !== "replaced";
    const asked = { payload: [algorithm], ...(isStored ? { stored: [algorithm] } : {}) };
    const scan = readable(() => this.shelf.read(place, (record) => scanRecord(record, asked)));
    const verdict = scan && judgeDigest(formatDigest(wanted), isStored ? scan : { ...scan, storedDigests: [] });
    if (verdict === "transferred" || verdict === "stored") return true;
    return own?.kind === "replaced" && readable(() => this.isStoredAs(own.place, place, wanted)) === true;
  }

  /** Whether the digest is that of the body as it was stored in the record whose place a revisit took. */
  private isStoredAs(revisit: RecordPlace, original: RecordPlace, wanted: Digest): boolean {
    const replaced = this.shelf.read(revisit, (record) => parseReplaced(record.headers.text));
    if (replaced?.chunks === undefined) return false;
    const hasher = createHasher(wanted.algorithm);
    this.shelf.read(original, (record) => {
      const own = { text: "", http: Buffer.alloc(0), replaced };
      for (const piece of restoredBlock(own, entityOf(record).chunks)) hasher.update(piece);
    });
    return hasher.finish().hex === wanted.hex;
  }

  /** Of which capture a revisit has its status: one that it names, the last of its URL, or the first of all. */
  private headerOf(asking: Asking, payload: Payload, reference: NamedReference, named: Named): ToldHeader | undefined {
    const isSource = ({ key, row }: FoundCapture) =>
      key !== asking.key && tellsStatus(row) && row.payload?.sha256.equals(payload.sha256) === true;
    const isNamed = ({ found }: Candidate) => found !== undefined && isSource(found);
    const candidates = { byDigest: [], byId: named.byId(isNamed), byCapture: named.byCapture.filter(isNamed) };
    const chosen = chooseOriginal({ ...reference, digest: undefined }, candidates, () => true);
    if (chosen !== undefined) return told(chosen.found!.row);
    const own = this.statuses.lastOf(asking.key, payload);
    if (own !== undefined) return told(own.row);
    const first = payload.size === 0 ? undefined : this.statuses.firstOf(payload);
    return first && told(first.row);
  }

  /** The states of a URL, for silent 304s in the order of their times. */
  statesOf(urlKey: string): EarlierStates {
    return new EarlierStates((fromMs, toMs) => this.states(urlKey, fromMs, toMs));
  }

  /** The state that a silent 304 confirms; absent where there is none, or its payload is not known. */
  confirmed(
    key: CaptureKey,
    row: CaptureRow,
    earlier: EarlierStates,
  ): { readonly state: CaptureRow | undefined; readonly isFar: boolean } {
    const none = { state: undefined, isFar: false };
    if (has(row, Flag.undated)) return none;
    const states = earlier.upTo(timeOf(key));
    const first = states.next();
    if (first.done === true) return none;
    // Which of several is the last one cannot be said if one of them is not known.
    if (first.value.length > 1 && first.value.some((state) => !isKnown(state))) return none;
    const { etag, lastModified } = row;
    const state = confirmedState(withStatus(first.value, states), { etag, lastModified })?.row;
    return { state: state !== undefined && isKnown(state) ? state : undefined, isFar: state !== first.value[0] };
  }

  /** States with status 200, moment by moment, the last first. Of one moment those come first of which nothing is known. */
  private *states(urlKey: string, fromMs: number, toMs: number): Generator<CaptureRow[], undefined> {
    let [moment, rows]: [number, CaptureRow[]] = [0, []];
    const inOrder = () => rows.sort((one, other) => compare(lastness(other), lastness(one)));
    for (const { timeMs: time, row } of this.catalogue.visits(urlKey, fromMs, toMs, true)) {
      if (row.class !== "state" || contentStatus(row) !== 200) continue;
      if (rows.length > 0 && time !== moment) {
        yield inOrder();
        rows = [];
      }
      moment = time;
      rows.push(row);
    }
    if (rows.length > 0) yield inOrder();
  }
}

/** The captures that tell a status for a payload. Looked for once, until one of them changes: many may ask for the same. */
class StatusSources {
  private readonly catalogue: Catalogue;
  private readonly ofUrl = new Map<string, readonly FoundCapture[]>();
  private readonly first = new Map<string, FoundCapture | undefined>();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
  }

  forget(): void {
    this.ofUrl.clear();
    this.first.clear();
  }

  /** The last of the URL that is not later than the capture with this key, and by its own header a state. */
  lastOf(key: CaptureKey, payload: Payload): FoundCapture | undefined {
    const urlKey = urlKeyOf(key);
    const name = `${urlKey} ${contentOf(payload)}`;
    const isState = ({ row }: FoundCapture) =>
      tellsStatus(row) && isOf(row, payload) && classOf({ ...row, request: undefined }) === "state";
    const known =
      this.ofUrl.get(name) ?? [...this.catalogue.captures(urlKey, FIRST_MS, LAST_MS)].filter((found) => isState(found));
    if (this.ofUrl.size > REMEMBERED_MAX) this.ofUrl.clear();
    this.ofUrl.set(name, known);
    let [low, high] = [0, known.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (known[middle]!.timeMs <= timeOf(key)) low = middle + 1;
      else high = middle;
    }
    return known[low - 1];
  }

  /** The earliest of all; of one time, that with the first key. */
  firstOf(payload: Payload): FoundCapture | undefined {
    const name = contentOf(payload);
    if (this.first.has(name)) return this.first.get(name);
    let first: FoundCapture | undefined;
    for (const key of this.catalogue.seen(payload.sha256.subarray(0, DIGEST_HALF))) {
      const found = { key, timeMs: timeOf(key), row: this.catalogue.capture(key)! };
      const isEarlier = first === undefined || found.timeMs < first.timeMs;
      if (isEarlier && tellsStatus(found.row) && isOf(found.row, payload)) first = found;
    }
    if (this.first.size > REMEMBERED_MAX) this.first.clear();
    this.first.set(name, first);
    return first;
  }
}

/** URLs and payloads of late. */
const REMEMBERED_MAX = 1000;

function isOf({ payload }: CaptureRow, wanted: Payload): boolean {
  return payload?.sha256.equals(wanted.sha256) === true;
}

/** States that were looked for once: what asks for them next comes later, and needs only those in between. */
export class EarlierStates {
  private readonly find: (fromMs: number, toMs: number) => Generator<CaptureRow[], undefined>;
  /** Those that are known, the last first, and where the others come from. */
  private known: CaptureRow[][] = [];
  private others: Generator<CaptureRow[], undefined> | undefined;
  private untilMs = 0;

  constructor(find: (fromMs: number, toMs: number) => Generator<CaptureRow[], undefined>) {
    this.find = find;
  }

  /** Moment by moment, the last first. Times that are asked for must not go back. */
  *upTo(timeMs: number): Generator<CaptureRow[], undefined> {
    if (this.others === undefined) this.others = this.find(FIRST_MS, timeMs);
    else if (timeMs > this.untilMs) this.known = [...this.find(this.untilMs + 1, timeMs), ...this.known];
    this.untilMs = timeMs;
    yield* this.known;
    for (let next = this.others.next(); next.done !== true; next = this.others.next()) {
      this.known.push(next.value);
      yield next.value;
    }
  }
}

/** All states of moments, as the rule wants them. */
function* withStatus(first: readonly CaptureRow[], others: Iterable<readonly CaptureRow[]>) {
  for (const rows of [[first], others]) {
    for (const moment of rows)
      for (const row of moment) yield { row, status: 200, etag: row.etag, lastModified: row.lastModified };
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function isKnown(row: CaptureRow): boolean {
  return row.payload !== undefined && !has(row, Flag.removed);
}

function candidatesOf(captures: Iterable<FoundCapture>): Candidate[] {
  return [...captures].flatMap((found): Candidate[] => {
    const { payload, url: uri } = found.row;
    const timeMs = has(found.row, Flag.undated) ? undefined : found.timeMs;
    return payload === undefined ? [] : [{ content: contentOf(payload), uri, timeMs, id: undefined, payload, found }];
  });
}

const NONE: Named = { byId: () => [], byCapture: [] };
const NOWHERE = { uri: undefined, timeMs: undefined, id: undefined };

function contentOf({ sha256 }: Payload): string {
  return sha256.toString("latin1");
}

export function payloadOf(half: Buffer, { digestRest, sha1, payloadSize }: OriginalRow): Payload {
  return { sha256: Buffer.concat([half, digestRest]), sha1, size: payloadSize };
}

function told(row: CaptureRow): ToldHeader {
  const { status, mime, location } = row;
  return { status, mime, location, isWholeRange: has(row, Flag.wholeRange) };
}

/** Orders captures of one moment as the timeline does; what is not known is last. */
function lastness(row: CaptureRow): string {
  if (row.payload === undefined || has(row, Flag.removed)) return "\uffff";
  return contentIdentity(contentStatus(row), row.location, row.payload.sha256.toString("hex")).toString("latin1");
}

function waitsOf({ digest, id, capture }: NamedReference, isByDigest: boolean, isHeadless: boolean): string[] {
  const waits: string[] = [];
  if (digest !== undefined && !isByDigest) waits.push(waitForDigest(digest));
  if (isByDigest && !isHeadless) return waits;
  if (id !== undefined) waits.push(waitForId(idMark(id)));
  if (capture !== undefined) waits.push(waitForSecond(archiveKey(capture.uri), capture.timeMs));
  return waits;
}
