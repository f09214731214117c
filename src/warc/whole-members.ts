/**
 * The members of one gzip file that an accelerator can inflate at once: all of the member in the input window, and room
 * for all of its content in the output window. A member that does not fit, or is broken, is left as it was.
 */
import { type MemberInflater, takeAccelerator } from "./inflater-accelerator.ts";
import { type SourceWindow, Step, type Window } from "./window.ts";

/** How many bytes may be tried in vain, beside a quarter of the file's own: large members and hostile ones cost no more. */
const VAIN_FREE = 8 << 20;

export class WholeMembers {
  private readonly input: SourceWindow;
  private readonly out: Window;
  private accelerator: MemberInflater | undefined;
  private vain = 0;

  constructor(input: SourceWindow, out: Window) {
    this.input = input;
    this.out = out;
    this.accelerator = takeAccelerator(0);
  }

  /** A member of so many bytes went step by step. */
  passed(size: number): void {
    this.accelerator = takeAccelerator(size);
  }

  /** Whether it may pay to try the member at hand. */
  get promising(): boolean {
    return this.accelerator !== undefined && this.vain <= VAIN_FREE + this.input.offset / 4;
  }

  /**
   * Inflates the member whose header begins at `offset` of the source, in the window, and moves both windows behind it.
   * How many bytes it gave; absent where that cannot be done: then neither window has moved.
   */
  inflate(offset: number): number | undefined {
    const { input, out } = this;
    const accelerator = this.accelerator!;
    for (;;) {
      const from = offset - input.base;
      const size = input.end - from;
      // A byte of room is left over, as with the inflater, which sees an end only so: both take the same for whole.
      const limit = out.buffer.length - 1;
      const verdict = accelerator.inflate(input.buffer, from, input.end, out.buffer, out.end, limit);
      if (verdict === "whole") {
        input.pos = from + accelerator.taken;
        out.end += accelerator.given;
        return accelerator.given;
      }
      this.vain += size;
      if (verdict === "no room") return undefined;
      // Perhaps the window ends before the member does. What comes at once is taken, and a pipe is not waited for; where
      // it is too little to hope for the end, it goes step by step, or drops of input would cost their square.
      if (input.fill() !== Step.MORE) return undefined;
      const isMore = input.end === input.buffer.length || input.base + input.end - offset >= 2 * size;
      if (!isMore) return undefined;
    }
  }
}
