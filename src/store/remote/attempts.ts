/** How often a broken stream is begun again: as long as it gets on, and a few times where it does not. */
import { ArchiveError } from "../../base/index.ts";
import { LATE_TRIES, WAIT_MS } from "./deadlines.ts";
import type { Link } from "./link.ts";

/** What another try may mend. */
const PASSING = new Set(["HT_PEER_UNAVAILABLE", "HT_BUSY", "HT_CUT_OFF"]);

export class Attempts {
  private readonly link: Link;
  private count = 1;
  private begunMs = performance.now();

  constructor(link: Link) {
    this.link = link;
  }

  /** To be called whenever something was answered. */
  progress(): void {
    this.count = 0;
    this.begunMs = performance.now();
  }

  /** Waits, and says whether to try again; false where it is of no use. */
  async mayTryAgain(error: unknown): Promise<boolean> {
    // A stream that broke after some answers is gone on with, whatever the reason was: there may be a limit to its length.
    const isPassing = this.count === 0 || (error instanceof ArchiveError && PASSING.has(error.code));
    const nowMs = performance.now();
    const isLate = nowMs - this.begunMs >= WAIT_MS;
    if (!isPassing || this.count >= (isLate ? Math.min(LATE_TRIES, this.link.tries) : this.link.tries)) {
      this.count = 1;
      return false;
    }
    this.count++;
    if (this.count > 1) await this.link.pause(this.count - 1);
    this.begunMs = performance.now();
    return true;
  }
}
