/** What streams of gzip members and of zstd frames have in common: the two windows, and where the member at hand lies. */
import type { MemberStream, Report } from "./member-stream.ts";
import { type SourceWindow, Step, Window } from "./window.ts";

export abstract class CompressedStream implements MemberStream {
  readonly out: Window;
  memberPos = 0;
  protected readonly input: SourceWindow;
  protected readonly report: Report;
  protected memberOffset = 0;
  /** Absent where the member is broken: nobody knows where it ends. */
  protected memberEndOffset: number | undefined = 0;
  protected previousEndOffset: number | undefined = 0;

  constructor(input: SourceWindow, capacity: number, report: Report) {
    this.input = input;
    this.out = new Window(capacity);
    this.report = report;
  }

  abstract get memberEnded(): boolean;
  abstract begin(continuing: boolean): Step;
  abstract more(): Step;

  release(): void {
    this.out.release();
  }

  load(): Promise<void> {
    return this.input.load();
  }

  offset(): number {
    return this.memberOffset;
  }

  inner(): number {
    return this.out.pos - this.memberPos;
  }

  endOffset(): number | undefined {
    if (this.memberEnded && this.out.available === 0) return this.memberEndOffset;
    return this.out.pos === this.memberPos ? this.previousEndOffset : undefined;
  }

  raw(from: number, to: number): Uint8Array | undefined {
    return this.input.view(from, to);
  }

  mark(offset: number): void {
    this.input.mark(offset);
  }

  sourceChecksum(from: number, to: number): number | undefined {
    return this.input.checksum(from, to);
  }

  /** Reads on in the file; gives up holding compressed bytes where the window is too small for them. */
  protected fillInput(): Step {
    const step = this.input.fill();
    if (step !== Step.FULL) return step;
    this.input.keep = this.input.pos;
    return this.input.fill();
  }
}
