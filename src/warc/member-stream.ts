/**
 * The decoded bytes of an archive file, member by member. A member is what is compressed by itself: a gzip member, a
 * zstd frame; an uncompressed file is one member that begins anywhere. A record's place is told in members: the offset
 * of the one it begins in and, where several records share it, the position inside.
 */
import type { ErrorCode } from "../base/index.ts";
import type { Step, Window } from "./window.ts";

export interface MemberStream {
  /** The decoded bytes. The reader moves `pos` and `keep`; `begin` and `more` add bytes behind `end`. */
  readonly out: Window;
  /** True before the first member and behind the end of each. */
  readonly memberEnded: boolean;
  /**
   * Begins the next member; its bytes come behind what is unread. `continuing` says that they belong to the record at
   * hand, whose compressed bytes are to be held if possible. `END` where there is none.
   */
  begin(continuing: boolean): Step;
  /** Adds decoded bytes of the member at hand; `END` at its end, `FULL` where `out` has no room behind `keep`. */
  more(): Step;
  /** Waits for a source that said `NEED`. */
  load(): Promise<void>;
  /** Offset in the source at which a reader that wants the byte at `out.pos` must start. */
  offset(): number;
  /** Index in `out` of the first byte of the member at hand; below zero once that has left the window. */
  readonly memberPos: number;
  /** Decoded bytes of the member at hand that come before `out.pos`; 0 in an uncompressed file, which has no inside. */
  inner(): number;
  /** Offset behind everything that lies before `out.pos`; absent where that is inside a member. */
  endOffset(): number | undefined;
  /** The bytes of the source from one offset to another, if the window still holds them; valid until the next call. */
  raw(from: number, to: number): Uint8Array | undefined;
  /** A record begins with the member at this offset of the source: its checksum may be asked for. */
  mark(offset: number): void;
  /** See `SourceWindow`. */
  sourceChecksum(from: number, to: number): number | undefined;
  /** Gives what it holds to the next stream; it is not used any more. May be called twice. */
  release(): void;
}

/** Damage goes here; in strict mode the call throws. */
export type Report = (code: ErrorCode, message: string, offset: number) => void;
