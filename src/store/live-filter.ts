/** The filter of a volume that is in use: made when it is first asked for, and kept up with from then on. */
import { SignatureFilter } from "./signature-filter.ts";

/** Signatures taken before others get their turn. */
const SLICE = 4096;
/** Room for what comes later. */
const ROOM = 1.5;

export class LiveFilter {
  private filter: SignatureFilter | undefined;
  private making: Promise<SignatureFilter> | undefined;
  /** What came while the filter was made. */
  private meanwhile: string[] = [];

  add(signature: string): void {
    if (this.making !== undefined) this.meanwhile.push(signature);
    this.filter?.add(signature);
  }

  /** `signatures` are those of the volume, about `count` of them; they are gone through where the filter has to be made. */
  async get(count: number, signatures: () => Iterable<string>): Promise<SignatureFilter> {
    if (this.filter !== undefined && this.filter.count <= this.filter.capacity) return this.filter;
    this.making ??= this.make(count, signatures()).finally(() => {
      this.making = undefined;
    });
    return this.making;
  }

  private async make(count: number, signatures: Iterable<string>): Promise<SignatureFilter> {
    this.meanwhile = [];
    const filter = SignatureFilter.for(count * ROOM);
    let taken = 0;
    for (const signature of signatures) {
      filter.add(signature);
      if (++taken % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    for (const signature of this.meanwhile) filter.add(signature);
    this.meanwhile = [];
    this.filter = filter;
    return filter;
  }
}
