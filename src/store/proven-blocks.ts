/**
 * Blocks whose bytes this process has read, or written, and found to be what their signatures say: only such a block may
 * stand for a content that came again. Some hundred thousand are remembered; the others are read again.
 */
const COUNT_MAX = 1 << 18;

export class ProvenBlocks {
  private readonly countMax: number;
  private names = new Set<string>();
  /** Those of before, the older half. */
  private before = new Set<string>();

  constructor(countMax = COUNT_MAX) {
    this.countMax = countMax;
  }

  has(name: string): boolean {
    return this.names.has(name) || this.before.has(name);
  }

  add(name: string): void {
    this.names.add(name);
    if (this.names.size < this.countMax / 2) return;
    this.before = this.names;
    this.names = new Set();
  }

  /** What has this name from now on is another block, or none. */
  forget(name: string): void {
    this.names.delete(name);
    this.before.delete(name);
  }
}
