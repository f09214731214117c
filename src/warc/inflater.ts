/**
 * Raw DEFLATE, step by step, into memory that the caller owns. The fast way drives the native object inside Node's
 * `zlib.InflateRaw` directly: one object serves all members, and says how much it took and gave. Node does not document
 * that, so this file alone knows of it, proves it by a self-test before its first use, and takes `pako` where it fails.
 */
import { constants, deflateRawSync, InflateRaw } from "node:zlib";
import type { Inflate as Pako } from "pako";
import { loadPako } from "./load-pako.ts";

export interface Inflater {
  /** How many bytes the last call took of its input, and gave. */
  readonly taken: number;
  readonly given: number;
  /** True once the stream has come to its end. */
  readonly ended: boolean;
  /** Begins a new stream. */
  reset(): void;
  /**
   * Inflates from `input[from..to)` into `output[at..limit)`. False when the data is broken: then nothing about the
   * output of this call is known, and `reset` must follow. The end is seen only with input left over behind it.
   */
  inflate(input: Uint8Array, from: number, to: number, output: Uint8Array, at: number, limit: number): boolean;
}

/** The native object of Node's zlib streams, as far as it is used here. */
interface ZlibHandle {
  reset(): void;
  writeSync(
    flush: number,
    input: Uint8Array,
    from: number,
    size: number,
    out: Uint8Array,
    at: number,
    room: number,
  ): void;
  onerror: (message: string, errno: number, code: string) => void;
}

interface ZlibInside {
  readonly _handle: ZlibHandle;
  /** Filled after each write: room left in the output, bytes left of the input. */
  readonly _writeState: Uint32Array;
}

export class NativeInflater implements Inflater {
  taken = 0;
  given = 0;
  ended = false;
  private readonly owner: ZlibInside;
  private failed = false;

  constructor() {
    this.owner = new (InflateRaw as unknown as new () => ZlibInside)();
    this.owner._handle.onerror = () => {
      this.failed = true;
    };
  }

  reset(): void {
    this.owner._handle.reset();
    this.failed = false;
    this.ended = false;
  }

  inflate(input: Uint8Array, from: number, to: number, output: Uint8Array, at: number, limit: number): boolean {
    this.owner._handle.writeSync(constants.Z_SYNC_FLUSH, input, from, to - from, output, at, limit - at);
    this.taken = this.given = 0;
    if (this.failed) return false;
    const roomLeft = this.owner._writeState[0]!;
    const inputLeft = this.owner._writeState[1]!;
    this.taken = to - from - inputLeft;
    this.given = limit - at - roomLeft;
    // With input and room both left over there is nothing to wait for but the end.
    this.ended = inputLeft > 0 && roomLeft > 0;
    return true;
  }
}

const PIECE_SIZE = 1 << 16;

/** pako's port of zlib keeps its position here, as zlib does. */
interface PakoState {
  readonly avail_in: number;
  next_out: number;
  avail_out: number;
  readonly output: Uint8Array;
}

/**
 * The documented way, in JavaScript: slower by a factor of three or four, but it gives every byte up to the damage, so
 * broken members are read with it too. Output that the caller has no room for waits in `pieces`.
 */
export class PakoInflater implements Inflater {
  taken = 0;
  given = 0;
  ended = false;
  private stream: Pako | undefined;
  private pieces: Uint8Array[] = [];
  private phase: "open" | "finished" | "broken" = "open";

  reset(): void {
    const { Inflate } = loadPako();
    const stream = new Inflate({ raw: true, chunkSize: PIECE_SIZE });
    this.stream = stream;
    this.pieces = [];
    this.phase = "open";
    this.ended = false;
    stream.onData = (piece) => void this.pieces.push(piece as Uint8Array);
    // pako would join all its pieces here; that it also keeps the status for us is as important.
    stream.onEnd = (status) => {
      stream.err = status;
    };
  }

  inflate(input: Uint8Array, from: number, to: number, output: Uint8Array, at: number, limit: number): boolean {
    this.taken = this.given = 0;
    // Small steps, so that a member that inflates a thousandfold gives at most a megabyte at a time.
    while (this.phase === "open" && this.pieces.length === 0 && this.taken < to - from) {
      this.push(input.subarray(from + this.taken, Math.min(from + this.taken + 1024, to)));
    }
    while (this.pieces.length > 0 && at + this.given < limit) {
      const piece = this.pieces[0]!;
      const part = piece.subarray(0, limit - at - this.given);
      output.set(part, at + this.given);
      this.given += part.length;
      if (part.length === piece.length) this.pieces.shift();
      else this.pieces[0] = piece.subarray(part.length);
    }
    this.ended = this.phase === "finished" && this.pieces.length === 0;
    return this.phase !== "broken" || this.given > 0;
  }

  private push(input: Uint8Array): void {
    const stream = this.stream!;
    const { strm: state } = stream as unknown as { strm: PakoState };
    stream.push(input, constants.Z_SYNC_FLUSH);
    const finished = (stream as unknown as { ended: boolean }).ended && stream.err === 0;
    if (stream.err !== 0) this.phase = "broken";
    else if (finished) this.phase = "finished";
    this.taken += input.length - (finished ? state.avail_in : 0);
    if (!finished && state.next_out > 0) {
      // pako waits until its buffer is full; like zlib itself it lets the caller take what is there between two calls.
      this.pieces.push(state.output.slice(0, state.next_out));
      state.next_out = 0;
      state.avail_out = PIECE_SIZE;
    }
  }
}

/** What the reader relies on: stepwise output, exact ends, streams one behind the other, and life after an error. */
export function provesItself(create: () => Inflater): boolean {
  try {
    const inflater = create();
    const text = Buffer.from("the one specimen that all others refer to; ".repeat(99));
    const stream = deflateRawSync(text);
    const input = Buffer.concat([stream, stream, Buffer.alloc(8, 7)]);
    const broken = Buffer.alloc(64, 0xff);
    const output = Buffer.alloc(2 * text.length);
    for (let round = 0; round < 2; round++) {
      let from = round * stream.length;
      let at = 0;
      inflater.reset();
      for (let limit = 10; !inflater.ended && limit <= output.length; limit += 999) {
        if (!inflater.inflate(input, from, input.length, output, at, limit)) return false;
        from += inflater.taken;
        at += inflater.given;
        if (at > limit || (at === 10 && inflater.ended)) return false;
      }
      if (!inflater.ended || from !== (round + 1) * stream.length || !output.subarray(0, at).equals(text)) return false;
      inflater.reset();
      if (inflater.inflate(broken, 0, broken.length, output, 0, output.length)) return false;
    }
    inflater.reset();
    return inflater.inflate(stream, 0, stream.length >> 1, output, 0, output.length) && !inflater.ended;
  } catch {
    return false;
  }
}

let nativeHolds: boolean | undefined;

/** Inflaters of closed readers: making one costs as much as inflating a small record. */
const spares: NativeInflater[] = [];
const SPARES_MAX = 4;

/** The fastest inflater that this Node is proven to have. */
export function createInflater(): Inflater {
  nativeHolds ??= provesItself(() => new NativeInflater());
  return nativeHolds ? (spares.pop() ?? new NativeInflater()) : new PakoInflater();
}

/** Gives an inflater to whoever wants one next. Its owner must not use it any more. */
export function releaseInflater(inflater: Inflater): void {
  if (inflater instanceof NativeInflater && spares.length < SPARES_MAX) spares.push(inflater);
}
