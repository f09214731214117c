/**
 * Undoes chunked transfer coding, fed piece by piece in whatever portions. The first line decides: where it is no chunk
 * size the body was never chunked, whatever the header says, and passes through as it is. A later break ends the body.
 */

export type ChunkedVerdict =
  /** Not begun. */
  | "undecided"
  | "chunked"
  /** The header lied: the body is plain. */
  | "plain"
  /** Chunked, and come to its end. */
  | "complete"
  /** Chunked up to an invalid chunk; what follows it is not part of the body. */
  | "broken";

type State = "size" | "data" | "data-end" | "trailer" | "done" | "plain";

const LF = 10;
const CR = 13;
/** Size, extensions and line end; longer lines are no chunk headers. */
const SIZE_LINE_MAX = 4096;
const SIZE_LINE = /^[ \t]*([0-9a-fA-F]{1,13})[ \t]*(?:;[^\n]*)?\r*\n$/;

export class Dechunker {
  verdict: ChunkedVerdict = "undecided";
  private readonly emit: (bytes: Uint8Array) => void;
  private state: State = "size";
  private left = 0;
  /** The part of a line that came with an earlier piece. */
  private line = "";

  /** `emit` gets views into the pieces, valid during the call. */
  constructor(emit: (bytes: Uint8Array) => void) {
    this.emit = emit;
  }

  /** How many of the bytes belong to the body: all of them, unless it ends or breaks here, or did so before. */
  push(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length) {
      switch (this.state) {
        case "size":
          at = this.readSize(bytes, at);
          break;
        case "data": {
          const count = Math.min(this.left, bytes.length - at);
          if (count > 0) this.emit(bytes.subarray(at, at + count));
          this.left -= count;
          at += count;
          if (this.left === 0) this.state = "data-end";
          break;
        }
        case "data-end":
          at = this.readDataEnd(bytes, at);
          break;
        case "trailer":
          at = this.readTrailer(bytes, at);
          break;
        case "plain":
          this.emit(bytes.subarray(at));
          return bytes.length;
        case "done":
          return at;
      }
    }
    return at;
  }

  /** No more will come. */
  finish(): ChunkedVerdict {
    if (this.state === "size" && this.verdict === "undecided") this.giveUp();
    // Behind the last chunk nothing of the body can be missing, even where the blank line is.
    else if (this.verdict === "chunked") this.verdict = this.state === "trailer" ? "complete" : "broken";
    return this.verdict;
  }

  /** Takes bytes up to a line end into `line`; the index behind them. Too long a line comes back without an end. */
  private takeLine(bytes: Uint8Array, at: number): number {
    const newline = bytes.indexOf(LF, at);
    const stop = Math.min(newline < 0 ? bytes.length : newline + 1, at + SIZE_LINE_MAX - this.line.length);
    this.line += Buffer.from(bytes.buffer, bytes.byteOffset + at, stop - at).toString("latin1");
    return stop;
  }

  private readSize(bytes: Uint8Array, at: number): number {
    const stop = this.takeLine(bytes, at);
    if (!this.line.endsWith("\n") && this.line.length < SIZE_LINE_MAX) return stop;
    const size = SIZE_LINE.exec(this.line)?.[1];
    if (size === undefined) {
      this.giveUp();
      return stop;
    }
    this.verdict = "chunked";
    this.line = "";
    this.left = Number.parseInt(size, 16);
    this.state = this.left === 0 ? "trailer" : "data";
    return stop;
  }

  /** What was taken for the first size line is the beginning of a plain body. */
  private giveUp(): void {
    if (this.verdict === "undecided") {
      this.verdict = "plain";
      this.state = "plain";
      if (this.line !== "") this.emit(Buffer.from(this.line, "latin1"));
    } else {
      this.verdict = "broken";
      this.state = "done";
    }
    this.line = "";
  }

  private readDataEnd(bytes: Uint8Array, at: number): number {
    const byte = bytes[at]!;
    if (byte === LF) this.state = "size";
    else if (byte !== CR) this.giveUp();
    return at + 1;
  }

  private readTrailer(bytes: Uint8Array, at: number): number {
    const stop = this.takeLine(bytes, at);
    if (this.line.endsWith("\n") || this.line.length >= SIZE_LINE_MAX) {
      if (/^\r*\n$/.test(this.line)) {
        this.verdict = "complete";
        this.state = "done";
      }
      this.line = "";
    }
    return stop;
  }
}
