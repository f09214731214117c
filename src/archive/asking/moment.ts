/** What a URL held at a moment, and how sure that is. Obeys docs/lifespans.md, "Observed and presumed". */
import { ArchiveError } from "../../base/index.ts";
import { LAST_MS } from "../catalogue/capture-key.ts";
import { Flag, has } from "../catalogue/capture-row.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { isPending, isVisit } from "../catalogue/visit-class.ts";
import { visitIdentity } from "../entering/visit-changes.ts";
import { Capture, type CaptureNames } from "./capture.ts";
import { type Lifespan, lifespanOf } from "./lifespans.ts";
import type { Snapshot } from "./snapshot.ts";

export interface Moment {
  readonly lifespan: Lifespan;
  /** `observed`: seen before and after, with nothing in between that casts doubt on it; `presumed` otherwise. */
  readonly certainty: "observed" | "presumed";
  /** The last capture up to the moment that found this content. One of class `confirmation` rests on a 304. */
  readonly capture: Capture;
  /** All other captures of its very time. */
  readonly others: readonly Capture[];
  /** The last state or confirmation up to the moment, and the first after it; their contents may not be known. */
  readonly before: Capture | undefined;
  readonly after: Capture | undefined;
  /** Failed, removed and pending visits around the moment that cast doubt on what was there. */
  readonly doubts: readonly Capture[];
  /** What came after the last capture that found the content, before its end, and was no state. */
  readonly since: readonly Capture[];
}

/** So many are listed of what came in between. */
const LISTED_MAX = 100;

export function momentAt(snapshot: Snapshot, names: CaptureNames, key: string, timeMs: number): Moment | undefined {
  if (!Number.isInteger(timeMs) || Math.abs(timeMs) > LAST_MS)
    throw new ArchiveError("HT_USAGE", `not a time: ${timeMs}`);
  const entry = snapshot.timeline.at(key, timeMs);
  if (entry === undefined) return undefined;
  const lifespan = lifespanOf(entry);
  const around = new Around(snapshot.catalogue, key, lifespan, entry.digest);
  const back = around.back(timeMs);
  const forth = around.forth(timeMs);
  const show = (found: FoundCapture) => new Capture(found, names);
  const doubts = [...back.doubts.reverse(), ...forth.doubts].filter(
    (found) => found.timeMs > back.shown.timeMs && (forth.again === undefined || found.timeMs < forth.again.timeMs),
  );
  const isSeen = back.shown.timeMs === timeMs;
  const isObserved = isSeen || (forth.again !== undefined && doubts.length === 0);
  return {
    lifespan,
    certainty: isObserved ? "observed" : "presumed",
    capture: show(back.shown),
    others: back.others.map(show),
    before: back.before && show(back.before),
    after: forth.after && show(forth.after),
    doubts: isSeen ? [] : doubts.map(show),
    since: around.since().map(show),
  };
}

/** The captures of a URL around a moment, each looked at once. */
class Around {
  private readonly catalogue: CatalogueView;
  private readonly key: string;
  private readonly lifespan: Lifespan;
  /** What the timeline knows its content as. */
  private readonly identity: string;

  constructor(catalogue: CatalogueView, key: string, lifespan: Lifespan, identity: string) {
    this.catalogue = catalogue;
    this.key = key;
    this.lifespan = lifespan;
    this.identity = identity;
  }

  private isOf({ row }: FoundCapture): boolean {
    return visitIdentity(row) === this.identity;
  }

  /** From the moment back to the last capture that found the content. */
  back(timeMs: number) {
    const doubts: FoundCapture[] = [];
    let [shown, before]: (FoundCapture | undefined)[] = [];
    let others: FoundCapture[] = [];
    for (const found of this.catalogue.visits(this.key, this.lifespan.birth, timeMs, true)) {
      if (shown !== undefined && found.timeMs < shown.timeMs) break;
      if (isState(found)) before ??= found;
      if (isDoubt(found) && doubts.length < LISTED_MAX) doubts.push(found);
      if (shown === undefined && this.isOf(found)) shown = found;
      else if (!has(found.row, Flag.removed)) others.push(found);
    }
    if (shown === undefined) {
      const message = `${this.lifespan.url}: its captures are not in the catalogue; holotype rebuild makes it again`;
      throw new ArchiveError("HT_CORRUPT", message);
    }
    others = others.filter((found) => found.timeMs === shown.timeMs).reverse();
    return { shown, before, others, doubts };
  }

  /** From the moment on to the next capture that found it. */
  forth(timeMs: number) {
    const { lastSeen } = this.lifespan;
    const doubts: FoundCapture[] = [];
    let [after, again]: (FoundCapture | undefined)[] = [];
    for (const found of this.catalogue.visits(this.key, timeMs + 1, LAST_MS)) {
      if (isState(found)) after ??= found;
      const isWithin = found.timeMs <= lastSeen;
      if (isWithin && this.isOf(found)) again = found;
      else if (isWithin && isDoubt(found) && doubts.length < LISTED_MAX) doubts.push(found);
      if (after !== undefined && (again !== undefined || !isWithin)) break;
    }
    return { after, again, doubts };
  }

  since(): FoundCapture[] {
    const { lastSeen, end } = this.lifespan;
    const since: FoundCapture[] = [];
    for (const found of this.catalogue.captures(this.key, lastSeen + 1, (end ?? LAST_MS) - 1)) {
      if (since.length === LISTED_MAX) break;
      if (!isVisit(found.row)) since.push(found);
    }
    return since;
  }
}

/** Whether it says what its URL held, as far as that is known. */
function isState({ row }: FoundCapture): boolean {
  return (row.class === "state" || row.class === "confirmation") && !has(row, Flag.removed);
}

function isDoubt({ row }: FoundCapture): boolean {
  return !has(row, Flag.undated) && (has(row, Flag.removed) || row.class === "failed" || isPending(row));
}
