/**
 * Finds where one HTTP/1 answer ends, fed piece by piece. It hands out the raw bytes as they are, and beside them the
 * entity: the body with chunks undone. The rules are those of warc/, so a record whose block is the raw bytes has exactly
 * this entity as its payload for `scanRecord`, however broken the answer is.
 *
 * 1. Interim answers (1xx) are skipped; they are no part of the raw bytes.
 * 2. A broken chunk ends the entity, as it does for warc/. The raw bytes go on until the connection is closed.
 * 3. What is cut off is cut at the same byte, however the bytes were cut into pieces.
 */
import { Dechunker, type Framing, HTTP_HEAD_SIZE_MAX, type HttpHead, parseHttpHead } from "../warc/index.ts";
import { type BodyPlan, planBody } from "./body-plan.ts";
import type { Flaw } from "./flaws.ts";
import { beginsLikeAnswer, headFlaws } from "./head-flaws.ts";
import { HeadGatherer } from "./head-gatherer.ts";

/** What takes an answer while it arrives. What it throws ends the exchange, and is what the caller gets. */
export interface MessageSink {
  /**
   * The header is complete; called once, before any bytes. `undefined` where the answer has none that warc/ would find.
   * Returning "abort" ends the exchange here: the raw bytes are those of the header alone.
   */
  head?(head: HttpHead | undefined): "abort" | undefined;
  /**
   * The next bytes of the answer as they came, header first. At most one call for each `push`. The bytes are valid during
   * the call, or until the returned promise settles; nothing more is read before that.
   */
  // oxlint-disable-next-line typescript/no-invalid-void-type
  raw(bytes: Uint8Array): void | Promise<void>;
  /** The next bytes of the entity: transfer coding undone, content coding kept. Valid during the call. */
  entity?(bytes: Uint8Array): void;
}

/**
 * How an answer ended. `complete`: as the server said, or when it closed the connection. `length`, `time` and
 * `disconnect` are the words of WARC-Truncated. `aborted`: the sink wanted no more than the header.
 */
export type MessageEnd = "complete" | "length" | "time" | "disconnect" | "aborted";

export interface FramerOptions {
  /** Of the request: the answer to HEAD has no body. */
  readonly method: string;
  readonly sink: MessageSink;
  /** Raw bytes of the body, chunk markers included; more are cut off (`length`). */
  readonly bodySizeMax?: number | undefined;
  readonly interimCountMax?: number | undefined;
}

export const INTERIM_COUNT_MAX = 20;

const SWITCHED = 101;
/** As many bytes decide whether this can be the start of an HTTP message. */
const SNIFF_SIZE = 32;

/** The body of an answer: `rest` is what follows a broken chunk. */
type Mode = "head" | BodyPlan["kind"] | "rest";

export class MessageFramer {
  /** Absent until the header is complete, and where there is none. */
  head: HttpHead | undefined;
  /** Absent until the answer has ended, and where not a byte of it came. */
  end: MessageEnd | undefined;
  readonly flaws: Flaw[] = [];
  rawSize = 0;
  entitySize = 0;
  interimCount = 0;
  /** What `raw` returned with the last push, where that is a promise. */
  wait: Promise<void> | undefined;
  private readonly options: FramerOptions;
  private readonly gatherer = new HeadGatherer();
  private mode: Mode = "head";
  private plan: BodyPlan | undefined;
  private dechunker: Dechunker | undefined;
  private bodySize = 0;
  private bodySizeMax: number;

  constructor(options: FramerOptions) {
    this.options = options;
    this.bodySizeMax = options.bodySizeMax ?? Number.POSITIVE_INFINITY;
  }

  /** The server would take another request on this connection. */
  get keepsConnection(): boolean {
    return this.end === "complete" && this.plan?.keepsConnection === true && this.mode !== "rest";
  }

  /** How the body really came, whatever the header says: as `scanRecord` finds it in the record. */
  get framing(): Framing {
    const verdict = this.dechunker?.verdict;
    return verdict === undefined || verdict === "undecided" || verdict === "plain" ? "plain" : "chunked";
  }

  /** Takes bytes from the wire. Returns how many of them belong to the answer, or to interim ones before it. */
  push(bytes: Uint8Array): number {
    this.wait = undefined;
    if (this.end !== undefined) return 0;
    if (this.mode === "head") return this.pushHead(bytes);
    const used = this.takeBody(bytes, 0);
    this.handOut(bytes, used);
    return used;
  }

  /** No more bytes will come: the server closed the connection, it was lost, or time ran out. */
  finish(cause: "closed" | "reset" | "time"): void {
    this.wait = undefined;
    if (this.end !== undefined) return;
    const cut = cause === "time" ? "time" : "disconnect";
    if (this.mode === "head") this.finishHead(cause === "closed", cut);
    else this.end = this.finishBody(cause === "closed", cut);
  }

  private pushHead(bytes: Uint8Array): number {
    const { gatherer } = this;
    const all = gatherer.add(bytes);
    /** Of the bytes of `all` up to `used`, how many came with this push. */
    const counted = (used: number) => Math.max(0, bytes.length - (all.length - used));
    for (let from = 0; ; ) {
      const rest = from === 0 ? all : all.subarray(from);
      const end = gatherer.findEnd(rest);
      if (end === undefined || end > HTTP_HEAD_SIZE_MAX) {
        if (rest.length > HTTP_HEAD_SIZE_MAX) return counted(from + this.takeHugeHead(rest));
        if (isNoHead(rest)) return counted(from + this.begin(undefined, rest, 0));
        gatherer.hold(rest);
        return bytes.length;
      }
      const head = parseHttpHead(rest, 0, end, false);
      if (head === undefined || !this.isInterim(head)) {
        return counted(from + this.begin(head, rest, head === undefined ? 0 : end));
      }
      this.interimCount++;
      gatherer.reset();
      from += end;
    }
  }

  private isInterim({ status, startLine }: HttpHead): boolean {
    if (status === undefined || status >= 200 || status < 100 || status === SWITCHED) return false;
    if (!beginsLikeAnswer(startLine)) return false;
    if (this.interimCount < (this.options.interimCountMax ?? INTERIM_COUNT_MAX)) return true;
    this.flaws.push("interim-flood");
    return false;
  }

  /** The header is known, or that there is none. Returns how many bytes belong to the answer. */
  private begin(head: HttpHead | undefined, all: Uint8Array, headSize: number): number {
    const { flaws, options } = this;
    this.head = head;
    if (head === undefined) {
      flaws.push("no-head");
      // An answer is at least a byte.
      this.bodySizeMax = Math.max(this.bodySizeMax, 1);
    } else flaws.push(...headFlaws(head));
    const isFlood = flaws.includes("interim-flood");
    this.plan =
      head === undefined || isFlood
        ? { kind: isFlood ? "none" : "close", length: 0, keepsConnection: false }
        : planBody(head, options.method, flaws);
    this.mode = this.plan.kind;
    if (this.mode === "chunked") this.dechunker = new Dechunker((part) => this.emit(part));
    let used = headSize;
    if (options.sink.head?.(head) === "abort" && this.mode !== "none") this.end = "aborted";
    else used = this.takeBody(all, headSize);
    if (isFlood) this.end = "length";
    this.handOut(all, used);
    return used;
  }

  /** A header without an end within the limit of warc/, which would find none in a longer block. */
  private takeHugeHead(all: Uint8Array): number {
    const head = parseHttpHead(all, 0, HTTP_HEAD_SIZE_MAX, true);
    if (head === undefined || !beginsLikeAnswer(head.startLine)) {
      // Cut down to that size, it would be a header again.
      if (head !== undefined) this.bodySizeMax = Math.max(this.bodySizeMax, HTTP_HEAD_SIZE_MAX + 1);
      return this.begin(undefined, all, 0);
    }
    this.endInHead(head, all.subarray(0, HTTP_HEAD_SIZE_MAX), "length", "head-too-large");
    return HTTP_HEAD_SIZE_MAX;
  }

  private finishHead(isClosed: boolean, cut: "time" | "disconnect"): void {
    const all = this.gatherer.bytes;
    if (all.length === 0) return;
    const head = parseHttpHead(all, 0, all.length, true);
    if (head === undefined) {
      this.begin(undefined, all, 0);
      this.end ??= isClosed ? "complete" : cut;
    } else if (beginsLikeAnswer(head.startLine)) this.endInHead(head, all, cut, "head-cut");
    else this.endInHead(head, all, isClosed ? "complete" : cut, "not-http");
  }

  /** All that came is header, without its end. */
  private endInHead(head: HttpHead, all: Uint8Array, end: MessageEnd, flaw: Flaw): void {
    this.head = head;
    this.flaws.push(flaw);
    this.end = end;
    this.options.sink.head?.(head);
    this.handOut(all, all.length);
  }

  /** Takes the body from `from` on. Returns the index after its last byte. */
  private takeBody(bytes: Uint8Array, from: number): number {
    if (this.mode === "none") {
      this.end = "complete";
      return from;
    }
    if (this.mode === "chunked") return this.takeChunks(bytes, from);
    const wanted = this.mode === "length" ? this.plan!.length - this.bodySize : Number.POSITIVE_INFINITY;
    const count = Math.min(bytes.length - from, wanted);
    const allowed = Math.min(count, this.bodySizeMax - this.bodySize);
    this.bodySize += allowed;
    if (this.mode !== "rest" && allowed > 0) {
      this.emit(from === 0 && allowed === bytes.length ? bytes : bytes.subarray(from, from + allowed));
    }
    if (allowed < count) this.end = "length";
    else if (allowed === wanted) this.end = "complete";
    return from + allowed;
  }

  private takeChunks(bytes: Uint8Array, from: number): number {
    const dechunker = this.dechunker!;
    const count = bytes.length - from;
    const allowed = Math.min(count, this.bodySizeMax - this.bodySize);
    const used = dechunker.push(bytes.subarray(from, from + allowed));
    this.bodySize += used;
    if (dechunker.verdict === "complete") this.end = "complete";
    else if (dechunker.verdict === "broken") {
      this.flaws.push("chunk-broken");
      this.mode = "rest";
      return this.takeBody(bytes, from + used);
    } else if (allowed < count) {
      this.end = "length";
      if (dechunker.finish() === "plain") this.flaws.push("not-chunked");
    }
    return from + used;
  }

  private finishBody(isClosed: boolean, cut: "time" | "disconnect"): MessageEnd {
    const { mode, flaws } = this;
    if (mode === "length") {
      flaws.push("body-cut");
      return cut;
    }
    const verdict = mode === "chunked" ? this.dechunker!.finish() : "plain";
    if (verdict === "complete") {
      flaws.push("trailer-cut");
      return "complete";
    }
    if (verdict === "broken" || (mode === "chunked" && this.bodySize === 0)) {
      flaws.push("chunk-cut");
      return cut;
    }
    if (mode === "chunked") flaws.push("not-chunked");
    return isClosed ? "complete" : cut;
  }

  private emit(bytes: Uint8Array): void {
    this.entitySize += bytes.length;
    this.options.sink.entity?.(bytes);
  }

  private handOut(bytes: Uint8Array, size: number): void {
    if (size === 0) return;
    this.rawSize += size;
    const wait = this.options.sink.raw(size === bytes.length ? bytes : bytes.subarray(0, size));
    if (wait !== undefined) this.wait = wait;
  }
}

/** Whether the bytes cannot be the start of an HTTP message, whatever follows. */
function isNoHead(bytes: Uint8Array): boolean {
  if (bytes.length < SNIFF_SIZE) return false;
  // The byte at the end keeps blanks before it from being trimmed, which may be followed by anything.
  const start = Buffer.from(bytes.subarray(0, SNIFF_SIZE + 1));
  start[SNIFF_SIZE] = 0x78;
  return parseHttpHead(start, 0, start.length, true) === undefined;
}
