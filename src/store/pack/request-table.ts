/**
 * In which page of the index the answer to a request may stand: eight bytes a request, so that an id that was never
 * heard, as most are, is known for one without a look at the index. It may name a page in vain, and never leaves one out.
 */

const CAPACITY_MIN = 1 << 10;

export class RequestTable {
  /** By hash; a page of 0 is an empty place. */
  private hashes = new Uint32Array(CAPACITY_MIN);
  private pages = new Uint32Array(CAPACITY_MIN);
  private used = 0;
  private oldest = 1;

  /** Pages are numbered from 1 on. */
  add(requestId: string, page: number): void {
    if (2 * this.used >= this.pages.length) this.rearrange();
    this.put(hashOf(requestId), page);
  }

  private put(hash: number, page: number): void {
    const mask = this.pages.length - 1;
    let at = hash & mask;
    while (this.pages[at] !== 0) at = (at + 1) & mask;
    this.hashes[at] = hash;
    this.pages[at] = page;
    this.used++;
  }

  /** The pages that may have it, in no order. */
  pagesOf(requestId: string): number[] {
    const found: number[] = [];
    const hash = hashOf(requestId);
    const mask = this.pages.length - 1;
    for (let at = hash & mask; this.pages[at] !== 0; at = (at + 1) & mask) {
      if (this.hashes[at] === hash && this.pages[at]! >= this.oldest) found.push(this.pages[at]!);
    }
    return found;
  }

  /** Pages before this one are gone. */
  forgetBefore(page: number): void {
    this.oldest = page;
  }

  /** Leaves out what is forgotten, and makes room for as many again. */
  private rearrange(): void {
    const { hashes, pages, oldest } = this;
    let live = 0;
    for (const page of pages) if (page >= oldest) live++;
    let capacity = CAPACITY_MIN;
    while (capacity < 4 * live) capacity *= 2;
    this.hashes = new Uint32Array(capacity);
    this.pages = new Uint32Array(capacity);
    this.used = 0;
    for (const [at, page] of pages.entries()) if (page >= oldest) this.put(hashes[at]!, page);
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
