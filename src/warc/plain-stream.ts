/** An uncompressed file as a stream of one member. The decoded window is the window over the file: no byte is copied. */
import type { MemberStream } from "./member-stream.ts";
import { type SourceWindow, Step } from "./window.ts";

export class PlainStream implements MemberStream {
  readonly out: SourceWindow;
  memberEnded = true;
  readonly memberPos = 0;
  private begun = false;

  constructor(window: SourceWindow) {
    this.out = window;
  }

  begin(): Step {
    if (this.begun) return Step.END;
    const step = this.out.ensure(1);
    if (step === Step.NEED || step === Step.END) return step;
    this.begun = true;
    this.memberEnded = false;
    return Step.MORE;
  }

  more(): Step {
    const step = this.out.fill();
    if (step === Step.END) this.memberEnded = true;
    return step;
  }

  load(): Promise<void> {
    return this.out.load();
  }

  offset(): number {
    return this.out.offset;
  }

  inner(): number {
    return 0;
  }

  endOffset(): number {
    return this.out.offset;
  }

  raw(from: number, to: number): Uint8Array | undefined {
    return this.out.view(from, to);
  }

  mark(offset: number): void {
    this.out.mark(offset);
  }

  sourceChecksum(from: number, to: number): number | undefined {
    return this.out.checksum(from, to);
  }

  release(): void {
    this.out.release();
  }
}
