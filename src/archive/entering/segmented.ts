/**
 * Captures whose records were split over several. What such a capture holds is known when its continuation records are
 * there: it is joined and digested again whenever one comes, once for each commit.
 */
import { createHasher, type Digest, type DigestAlgorithm, formatDigest, parseDigest } from "../../base/index.ts";
import { factsOf, type RecordFacts } from "../../pipeline/index.ts";
import type { WarcRecord } from "../../warc/index.ts";
import {
  archiveKey,
  type CaptureKey,
  FIRST_MS,
  idMark,
  idMarkIn,
  LAST_MS,
  noteMark,
} from "../catalogue/capture-key.ts";
import { type CaptureRow, Flag, has, type RecordPlace } from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { classOf } from "../catalogue/visit-class.ts";
import { type Continuations, continuationsOf, wholePayloadOf } from "../segments/continuations.ts";
import { type RecordShelf, readable } from "../segments/segments.ts";
import { claimBeside, payloadIn } from "./own-row.ts";
import type { Payloads } from "./payloads.ts";

export class SegmentedCaptures {
  private readonly catalogue: Catalogue;
  private readonly shelf: RecordShelf;
  private readonly payloads: Payloads;
  private touched = new Set<CaptureKey>();
  /** Marks of the ids of records that were continued, by the keys of their URLs. */
  private continued = new Map<string, Set<string>>();

  constructor(catalogue: Catalogue, shelf: RecordShelf, payloads: Payloads) {
    this.catalogue = catalogue;
    this.shelf = shelf;
    this.payloads = payloads;
  }

  /** One has been entered. */
  touch(key: CaptureKey): void {
    this.touched.add(key);
  }

  /** A continuation record lies in this place from now on. */
  enter(note: RecordFacts, place: RecordPlace): void {
    const { uri, continuation } = note;
    if (continuation === undefined) return;
    const { origin, number, size, totalSize } = continuation;
    this.catalogue.putContinuation(origin, noteMark(note), { number, place, size, totalSize, uri });
    if (uri === undefined) return;
    const marks = this.continued.get(archiveKey(uri)) ?? new Set();
    this.continued.set(archiveKey(uri), marks.add(idMark(origin)));
  }

  settle(put: (key: CaptureKey, before: CaptureRow, row: CaptureRow) => void): void {
    for (const [urlKey, marks] of this.continued)
      for (const { key, row } of this.catalogue.captures(urlKey, FIRST_MS, LAST_MS))
        if (has(row, Flag.segmented) && marks.has(idMarkIn(key))) this.touched.add(key);
    const [keys, none] = [this.touched, new Set<CaptureKey>()];
    this.touched = none;
    this.continued = new Map();
    for (const key of keys) this.join(key, put);
  }

  /** One that cannot be read, in an adopted file that is away, stays what it was. */
  private join(key: CaptureKey, put: (key: CaptureKey, before: CaptureRow, row: CaptureRow) => void): void {
    const row = this.catalogue.capture(key);
    if (row === undefined || has(row, Flag.removed)) return;
    const own = readable(() => this.shelf.read(row.place, (record) => factsOf(record, "", () => {})));
    const whole = own && readable(() => this.shelf.read(row.place, (record) => this.wholeFacts(own, record)));
    if (whole === undefined) return;
    const payload = payloadIn(whole)!;
    const { lies, short, truncated } = whole.capture!;
    const flags = row.flags & ~(Flag.cutOff | Flag.lies);
    const isCutOff = short === true || truncated === true;
    const told = (isCutOff ? Flag.cutOff : 0) | (lies === true ? Flag.lies : 0);
    const next = { ...row, payload, claim: claimBeside(own!, payload), flags: flags | told };
    put(key, row, { ...next, class: classOf(next) });
    if (row.payload?.sha256.equals(payload.sha256) !== true) this.payloads.leave(row);
    this.payloads.hold(whole, payload, row.place, false);
  }

  /** The facts of the record as it would be in one piece; `short` where segments are missing. */
  private wholeFacts(own: RecordFacts, record: WarcRecord): RecordFacts {
    const continuations = continuationsOf(this.catalogue, record);
    const claim = record.payloadDigest === undefined ? undefined : parseDigest(record.payloadDigest);
    const algorithms = new Set<DigestAlgorithm>(["sha256", "sha1", ...(claim === undefined ? [] : [claim.algorithm])]);
    const hashers = [...algorithms].map((algorithm) => createHasher(algorithm));
    let payloadSize = 0;
    for (const chunk of wholePayloadOf(record, this.catalogue, this.shelf).chunks) {
      for (const hasher of hashers) hasher.update(chunk);
      payloadSize += chunk.length;
    }
    const digests = hashers.map((hasher) => hasher.finish());
    const isTrue = claim !== undefined && digests.some((digest) => isSameDigest(digest, claim));
    const isWhole = isTrue || isComplete(continuations, record.blockSize ?? 0);
    const [sha256, sha1] = digests as [Digest, Digest];
    // A part has another digest than the whole, and says nothing about it.
    const lies = isWhole && claim !== undefined && !isTrue && own.capture!.framing !== "chunked" ? true : undefined;
    const short = isWhole ? undefined : true;
    const told = isTrue ? formatDigest(claim) : undefined;
    const capture = { ...own.capture!, sha256: sha256.hex, sha1: sha1.hex, payloadSize, lies, short, claim: told };
    return { ...own, capture };
  }
}

/** Whether the last segment is there, and all have as many bytes as it says. */
function isComplete({ rows, missing }: Continuations, blockSize: number): boolean {
  const size = rows.reduce((sum, row) => sum + row.size, blockSize);
  return missing === undefined && rows.at(-1)?.totalSize === size;
}

function isSameDigest(one: Digest, other: Digest): boolean {
  return one.algorithm === other.algorithm && one.hex === other.hex;
}
