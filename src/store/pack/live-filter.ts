/** The filter of a volume that is in use: made from the index when it is first asked for, and kept up with from then on. */
import { SignatureFilter } from "../signature-filter.ts";
import type { PackCore } from "./pack-core.ts";

/** Blocks taken from the index before others get their turn. */
const SLICE = 4096;
const ROOM = 1.5;

export class LiveFilter {
  private filter: SignatureFilter | undefined;
  private making: Promise<void> | undefined;
  /** What came while the filter was made. */
  private meanwhile: string[] = [];

  add(signature: string): void {
    if (this.making !== undefined) this.meanwhile.push(signature);
    this.filter?.add(signature);
  }

  async get(core: PackCore): Promise<SignatureFilter> {
    if (this.filter === undefined || this.filter.count > this.filter.capacity) {
      this.making ??= this.make(core).finally(() => {
        this.making = undefined;
      });
      await this.making;
    }
    return this.filter!;
  }

  private async make(core: PackCore): Promise<void> {
    this.meanwhile = [];
    await core.commit();
    const filter = SignatureFilter.for(core.state.summary.blocks * ROOM);
    let count = 0;
    for (const { signature } of core.entries()) {
      filter.add(signature);
      if (++count % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    for (const signature of this.meanwhile) filter.add(signature);
    this.meanwhile = [];
    this.filter = filter;
  }
}
