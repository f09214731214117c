/** The bytes of one file on the forgetful disk: as they are now, and what of them a power cut may leave. */
import type { Dice } from "./dice.ts";
import { Journal } from "./journal.ts";

type Change = { readonly position: number; readonly bytes: Uint8Array } | { readonly truncateTo: number };

export type Fate = "drop" | "tear" | "keep";

/** Bytes that grow by writing; room is doubled, so that a long file costs no more than its length. */
class Bytes {
  #room = new Uint8Array(64);
  #size = 0;

  get value(): Uint8Array {
    return this.#room.subarray(0, this.#size);
  }

  apply(change: Change): void {
    if ("truncateTo" in change) return this.resize(change.truncateTo);
    this.resize(Math.max(this.#size, change.position + change.bytes.length));
    this.#room.set(change.bytes, change.position);
  }

  resize(size: number): void {
    if (size > this.#room.length) {
      const room = new Uint8Array(Math.max(size, this.#room.length * 2));
      room.set(this.value);
      this.#room = room;
    }
    // What comes back after a cut reads as zeros.
    if (size < this.#size) this.#room.fill(0, size, this.#size);
    this.#size = size;
  }
}

/** The pieces of a write that a disk writes or does not write as a whole. */
function sectorsOf(position: number, bytes: Uint8Array, sectorSize: number): Change[] {
  const pieces: Change[] = [];
  let from = 0;
  while (from < bytes.length) {
    const to = Math.min(bytes.length, from + sectorSize - ((position + from) % sectorSize));
    pieces.push({ position: position + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
  return pieces;
}

export class ForgetfulContent {
  readonly #now = new Bytes();
  readonly #journal = new Journal<Change>();

  /** What was there from the start is durable. */
  constructor(durable: Uint8Array = new Uint8Array(0)) {
    if (durable.length > 0) this.change({ position: 0, bytes: durable });
    this.#journal.settle("durable");
  }

  get now(): Uint8Array {
    return this.#now.value;
  }

  change(change: Change): void {
    // The `slice` of a Buffer is no copy, and the bytes are the caller's again.
    const own = "bytes" in change ? { position: change.position, bytes: new Uint8Array(change.bytes) } : change;
    this.#now.apply(own);
    this.#journal.add(own);
  }

  /** Begins a sync of what is written by now; the answer ends it. */
  beginSync(): (outcome: "durable" | "doomed") => void {
    const count = this.#journal.length;
    return (outcome) => this.#journal.settle(outcome, count);
  }

  afterPowerCut(fate: Fate, dice: Dice): Uint8Array {
    const found = new Bytes();
    const sectorSize = dice.coin() ? 512 : 4096;
    // A torn file lost either everything behind one point in time, or any sectors.
    let intact =
      fate === "keep"
        ? Number.POSITIVE_INFINITY
        : fate === "tear" && dice.coin()
          ? dice.below(this.#journal.undecidedCount + 1)
          : 0;
    const scattered = fate === "tear" && intact === 0;
    this.#journal.replay(
      (change) => found.apply(change),
      (change) => {
        if (intact > 0) {
          intact--;
          found.apply(intact === 0 ? cut(change, dice) : change);
        } else if (scattered) {
          const pieces = "bytes" in change ? sectorsOf(change.position, change.bytes, sectorSize) : [change];
          for (const piece of pieces) if (dice.coin()) found.apply(piece);
        }
      },
    );
    // The size may have arrived before the bytes: they read as zeros.
    if (scattered && found.value.length < this.now.length && dice.coin()) found.resize(this.now.length);
    return found.value;
  }
}

/** The beginning of a write. */
function cut(change: Change, dice: Dice): Change {
  if ("truncateTo" in change) return change;
  return { position: change.position, bytes: change.bytes.subarray(0, dice.below(change.bytes.length + 1)) };
}
