/** Blocks of a catalogue that were read of late, by where they begin: no more bytes than it was given, the oldest half goes. */
const BYTES_MAX = 64 << 20;

export class BlockCache {
  private readonly bytesMax: number;
  private blocks = new Map<number, Buffer>();
  private before = new Map<number, Buffer>();
  private bytes = 0;

  constructor(bytesMax = BYTES_MAX) {
    this.bytesMax = bytesMax;
  }

  get(at: number): Buffer | undefined {
    return this.blocks.get(at) ?? this.before.get(at);
  }

  put(at: number, block: Buffer): void {
    this.blocks.set(at, block);
    this.bytes += block.length;
    if (this.bytes < this.bytesMax / 2) return;
    this.before = this.blocks;
    this.blocks = new Map();
    this.bytes = 0;
  }
}
