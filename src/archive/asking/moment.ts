/** What a URL held at a moment, and how sure that is. Obeys docs/lifespans.md, "Observed and presumed". */
import { ArchiveError } from "../../base/index.ts";
import { FIRST_MS, LAST_MS } from "../catalogue/capture-key.ts";
import { Flag, has } from "../catalogue/capture-row.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { contentStatus, isPending, isVisit } from "../catalogue/visit-class.ts";
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
  const entry = snapshot.timeline.at(key, timeMs);
  if (entry === undefined) return undefined;
  const lifespan = lifespanOf(entry);
  const around = new Around(snapshot, key, lifespan, timeMs);
  const shown = around.shown();
  const show = (found: FoundCapture) => new Capture(found, names);
  const { doubts, certainty } = around.certainty();
  return {
    lifespan,
    certainty,
    capture: show(shown),
    others: [...snapshot.catalogue.captures(key, shown.timeMs, shown.timeMs)]
      .filter((found) => found.key !== shown.key)
      .map(show),
    before: mapped(around.nearest(FIRST_MS, timeMs, true), show),
    after: mapped(around.nearest(timeMs + 1, LAST_MS, false), show),
    doubts: doubts.map(show),
    since: around.since().map(show),
  };
}

function mapped<T, U>(value: T | undefined, map: (value: T) => U): U | undefined {
  return value === undefined ? undefined : map(value);
}

class Around {
  private readonly snapshot: Snapshot;
  private readonly key: string;
  private readonly lifespan: Lifespan;
  private readonly timeMs: number;

  constructor(snapshot: Snapshot, key: string, lifespan: Lifespan, timeMs: number) {
    this.snapshot = snapshot;
    this.key = key;
    this.lifespan = lifespan;
    this.timeMs = timeMs;
  }

  private isOf({ row }: FoundCapture): boolean {
    const { sha256, status } = this.lifespan;
    return isVisit(row) && contentStatus(row) === status && row.payload!.sha256.toString("hex") === sha256;
  }

  /** The last capture up to the moment that found the content. */
  shown(): FoundCapture {
    const { catalogue } = this.snapshot;
    for (const found of catalogue.captures(this.key, this.lifespan.birth, this.timeMs, true))
      if (this.isOf(found)) return found;
    const message = `${this.lifespan.url}: its captures are not in the catalogue; holotype rebuild makes it again`;
    throw new ArchiveError("HT_CORRUPT", message);
  }

  nearest(fromMs: number, toMs: number, backwards: boolean): FoundCapture | undefined {
    for (const found of this.snapshot.catalogue.captures(this.key, fromMs, toMs, backwards)) {
      const { class: kind } = found.row;
      if (kind === "state" || kind === "confirmation") return found;
    }
    return undefined;
  }

  certainty(): { readonly certainty: Moment["certainty"]; readonly doubts: readonly FoundCapture[] } {
    const { birth, lastSeen } = this.lifespan;
    const { catalogue } = this.snapshot;
    const doubts: FoundCapture[] = [];
    const doubtful = (found: FoundCapture) => {
      if (isDoubt(found) && doubts.length < LISTED_MAX) doubts.push(found);
    };
    let beforeMs = birth;
    for (const found of catalogue.visits(this.key, birth, this.timeMs, true)) {
      if (this.isOf(found)) {
        beforeMs = found.timeMs;
        break;
      }
      doubtful(found);
    }
    doubts.reverse();
    if (beforeMs === this.timeMs) return { certainty: "observed", doubts: [] };
    let afterMs: number | undefined;
    const endMs = this.lifespan.end ?? LAST_MS;
    for (const found of catalogue.visits(this.key, this.timeMs + 1, Math.min(lastSeen, endMs))) {
      if (this.isOf(found)) {
        afterMs = found.timeMs;
        break;
      }
      doubtful(found);
    }
    const isBetween = ({ timeMs }: FoundCapture) => timeMs > beforeMs && (afterMs === undefined || timeMs < afterMs);
    const between = doubts.filter(isBetween);
    return { certainty: afterMs !== undefined && between.length === 0 ? "observed" : "presumed", doubts: between };
  }

  since(): FoundCapture[] {
    const { lastSeen, end } = this.lifespan;
    const since: FoundCapture[] = [];
    for (const found of this.snapshot.catalogue.captures(this.key, lastSeen + 1, (end ?? LAST_MS) - 1)) {
      if (since.length === LISTED_MAX) break;
      if (!isVisit(found.row)) since.push(found);
    }
    return since;
  }
}

function isDoubt({ row }: FoundCapture): boolean {
  return !has(row, Flag.undated) && (has(row, Flag.removed) || row.class === "failed" || isPending(row));
}
