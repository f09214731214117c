/**
 * Changes in the order in which they were made, each durable or not yet. After a power cut the durable ones have
 * happened, and of the others those that chance decides for; the order of what happened stays.
 */
interface Entry<Change> {
  readonly change: Change;
  state: "undecided" | "durable" | "doomed";
}

export class Journal<Change> {
  #entries: Entry<Change>[] = [];

  add(change: Change): void {
    this.#entries.push({ change, state: "undecided" });
  }

  /** The number of changes so far, for `settle`. */
  get length(): number {
    return this.#entries.length;
  }

  get undecidedCount(): number {
    return this.#entries.filter(({ state }) => state !== "durable").length;
  }

  /**
   * Makes changes durable, all of the first `count` or those that `concerns` picks; a failed sync dooms them instead:
   * the disk has forgotten that it should write them, and no later sync brings them back.
   */
  settle(state: "durable" | "doomed", count = this.length, concerns: (change: Change) => boolean = () => true): void {
    for (const entry of this.#entries.slice(0, count)) {
      if (entry.state === "undecided" && concerns(entry.change)) entry.state = state;
    }
  }

  /** What is found after a power cut: `durable` changes go whole to `happened`, the others to `chance`. */
  replay(happened: (change: Change) => void, chance: (change: Change) => void): void {
    for (const { change, state } of this.#entries) {
      if (state === "durable") happened(change);
      else chance(change);
    }
  }
}
