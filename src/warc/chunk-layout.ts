/**
 * How a chunked body was cut, as a short text, so that the body can be put together again from the payload alone. The
 * text lists the size lines as they stand in the body, joined by `+`, with a count where one repeats:
 * `2000*12+7f3+0`. Only bodies that are cut plainly have one: no extensions, no trailer, CR LF everywhere.
 */
import { ArchiveError } from "../base/index.ts";

/** Longer ones are not worth their place in a header. */
const LAYOUT_LENGTH_MAX = 2048;
const SIZE = /^[0-9a-fA-F]{1,13}$/;
const CRLF = Buffer.from("\r\n");
const CR = 13;
const LF = 10;

type State = "size" | "data" | "data-end" | "end" | "odd";

/** Fed with a body as it is stored, in whatever pieces. */
export class ChunkLayoutTracker {
  private state: State = "size";
  private line = "";
  private left = 0;
  private layout = "";
  private last = "";
  private repeats = 0;
  /** Bytes of the two that end the data of a chunk, or the body. */
  private ending = 0;

  push(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length && this.state !== "odd") {
      if (this.state === "data") {
        const count = Math.min(this.left, bytes.length - at);
        this.left -= count;
        at += count;
        if (this.left === 0) this.state = "data-end";
      } else if (this.state === "size") at = this.readSize(bytes, at);
      else this.readEnding(bytes[at++]!);
    }
  }

  private readSize(bytes: Uint8Array, at: number): number {
    const newline = bytes.indexOf(LF, at);
    const stop = newline < 0 ? bytes.length : newline + 1;
    if (stop - at + this.line.length > 16) {
      this.state = "odd";
      return stop;
    }
    for (let i = at; i < stop; i++) this.line += String.fromCharCode(bytes[i]!);
    if (newline < 0) return stop;
    const size = this.line.slice(0, -2);
    if (!this.line.endsWith("\r\n") || !SIZE.test(size)) {
      this.state = "odd";
      return stop;
    }
    this.line = "";
    this.note(size);
    this.left = Number.parseInt(size, 16);
    this.state = this.left === 0 ? "end" : "data";
    return stop;
  }

  /** The line end behind a chunk, or behind the last one. Nothing may follow the latter. */
  private readEnding(byte: number): void {
    if (this.ending >= 2 || byte !== (this.ending === 0 ? CR : LF)) this.state = "odd";
    else if (++this.ending === 2 && this.state === "data-end") {
      this.ending = 0;
      this.state = "size";
    }
  }

  private note(size: string): void {
    if (size === this.last) this.repeats++;
    else {
      this.flush();
      this.last = size;
      this.repeats = 1;
    }
    if (this.layout.length > LAYOUT_LENGTH_MAX) this.state = "odd";
  }

  private flush(): void {
    if (this.repeats === 0) return;
    this.layout += `${this.layout === "" ? "" : "+"}${this.last}${this.repeats > 1 ? `*${this.repeats}` : ""}`;
  }

  /** No more will come; absent where the body is not cut plainly. */
  finish(): string | undefined {
    if (this.state !== "end" || this.ending !== 2) return undefined;
    this.flush();
    return this.layout.length > LAYOUT_LENGTH_MAX ? undefined : this.layout;
  }
}

/** The size of a body that is cut as the layout says, markers included, and of its payload. Throws where it is none. */
export function measureLayout(layout: string): { readonly storedSize: number; readonly payloadSize: number } {
  let storedSize = 0;
  let payloadSize = 0;
  for (const { size, count } of entriesOf(layout)) {
    const dataSize = Number.parseInt(size, 16);
    payloadSize += count * dataSize;
    storedSize += count * (size.length + CRLF.length + dataSize + CRLF.length);
  }
  return { storedSize, payloadSize };
}

function* entriesOf(layout: string): Generator<{ size: string; count: number }> {
  for (const entry of layout.split("+")) {
    const [size = "", count = "1"] = entry.split("*");
    if (!SIZE.test(size) || !/^\d{1,9}$/.test(count)) throw misfit(layout);
    // Only the last chunk is empty, and there is one of it.
    if (Number.parseInt(size, 16) === 0 && count !== "1") throw misfit(layout);
    yield { size, count: Number(count) };
  }
}

/** The body as it was stored: the payload, cut as the layout says. Throws where the two do not fit. */
export function* cutIntoChunks(payload: Iterable<Uint8Array>, layout: string): Generator<Uint8Array> {
  const pieces = payload[Symbol.iterator]();
  let piece: Uint8Array = new Uint8Array(0);
  for (const { size, count } of entriesOf(layout)) {
    for (let i = count; i > 0; i--) {
      yield Buffer.from(`${size}\r\n`);
      for (let left = Number.parseInt(size, 16); left > 0; ) {
        while (piece.length === 0) {
          const step = pieces.next();
          if (step.done === true) throw misfit(layout);
          piece = step.value;
        }
        const part = piece.subarray(0, left);
        piece = piece.subarray(part.length);
        left -= part.length;
        yield part;
      }
      yield CRLF;
    }
  }
  for (let step = pieces.next(); piece.length > 0 || step.done !== true; step = pieces.next()) {
    if (piece.length > 0 || (step.done !== true && step.value.length > 0)) throw misfit(layout);
  }
}

function misfit(layout: string): ArchiveError {
  return new ArchiveError("HT_VERIFY", `the payload cannot be cut into the chunks ${layout.slice(0, 60)}`);
}
