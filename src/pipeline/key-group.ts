/** What stands under one key of the join that leads revisits to their originals, and what a revisit finds there. */
import { confirmedState } from "../dedup/index.ts";
import { type CaptureLine, type HeldLine, parseCapture } from "./capture-line.ts";
import { differ, holds } from "./payload-evidence.ts";

/** What stands under a key, in the order in which it must be seen. */
export const HOLDS = "0";
export const GONE = "1";
export const REVISIT = "2";
export const REFERS = "3";

/** By which key a revisit met a record: the first letter of the key. */
export const BY_DIGEST = "d";
export const BY_ID = "i";
export const BY_CAPTURE = "c";
export const BY_STATE = "s";

/** Records under one key; more are no use to choose from. */
const HELD_MAX = 64;
/** Of records with one digest, this many with one payload: should the first be damaged. */
const EQUAL_MAX = 2;

interface HeldText {
  readonly text: string;
  readonly line: CaptureLine;
}

/** All that stands under one key, as far as it was seen. */
export class KeyGroup {
  readonly key: string;
  gone = false;
  readonly revisits = new FewPlaces();
  private readonly held: HeldText[] = [];

  constructor(key: string) {
    this.key = key;
  }

  private get by(): string {
    return this.key.slice(0, 1);
  }

  hold(text: string, line: CaptureLine): void {
    const { held } = this;
    if (this.by === BY_STATE) {
      held.push({ text, line });
      if (held.length > HELD_MAX) held.shift();
      return;
    }
    if (held.length >= HELD_MAX) return;
    const isEqual = (one: HeldText) => !differ(one.line as HeldLine, line as HeldLine);
    if (this.by === BY_DIGEST && held.filter(isEqual).length >= EQUAL_MAX) return;
    held.push({ text, line });
  }

  /** What a revisit finds here; `text` is its line where its key is that of a state. */
  *meet(text: string | undefined): Generator<string> {
    if (this.by === BY_STATE) {
      const state = this.stateFor(parseCapture(text!));
      if (state !== undefined) yield `${BY_STATE}\t${state.text}`;
      return;
    }
    for (const { text: held } of this.held) yield `${this.by}\t${held}`;
    if (this.gone) yield `${GONE}\t\t`;
    for (const place of this.revisits.places) yield `${REVISIT}\t${place}\t`;
  }

  /** The state that a silent 304 confirms. Where that is a revisit, the payload must have been seen at this URL. */
  private stateFor(revisit: CaptureLine): HeldText | undefined {
    const states = this.held.map(({ text, line }) => ({ ...line, text, line, status: line.status })).reverse();
    const state = confirmedState(states, revisit);
    if (state === undefined || state.line.kind === "held") return state;
    const { claim } = state.line;
    return states.find(({ line }) => line.kind === "held" && claim !== undefined && holds(line, claim));
  }
}

/** Whether there are others than the one that asks can be told from two. */
class FewPlaces {
  readonly places: string[] = [];

  add(place: string): void {
    if (this.places.length < 2) this.places.push(place);
  }
}
