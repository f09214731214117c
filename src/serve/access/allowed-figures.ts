/** How much there is of what may be seen: a walk over those captures. */
import type { Capture, Figures, NamedFigures, StatsGroup } from "../../archive/index.ts";
import { hostOf } from "../../url/index.ts";

const NONE = "-";

interface AllowedFigures {
  readonly total: Figures & { pending: number };
  /** In the order in which they were met first. */
  readonly groups: readonly NamedFigures[];
}

/** A content counts for the first capture that has it. Records may be shared with what is hidden: none is told as kept. */
export async function allowedFigures(
  batches: AsyncIterable<readonly Capture[]>,
  by?: StatsGroup,
): Promise<AllowedFigures> {
  const total = { ...noFigures(), pending: 0 };
  const groups = new Map<string, NamedFigures>();
  const contents = new Set<string>();
  for await (const batch of batches) {
    for (const capture of batch) {
      const { sha256, size = 0 } = capture;
      const isNew = sha256 !== undefined && !contents.has(sha256);
      if (isNew) contents.add(sha256);
      if (capture.flags.includes("pending")) total.pending++;
      const name = by === undefined ? NONE : nameOf(capture, by);
      let group = groups.get(name);
      if (group === undefined) groups.set(name, (group = { name, ...noFigures() }));
      for (const figures of [total, group]) {
        figures.captures++;
        figures.bytesSeen += size;
        if (isNew) figures.contents++;
      }
    }
  }
  return { total, groups: [...groups.values()] };
}

function noFigures(): Figures {
  return { captures: 0, contents: 0, bytesSeen: 0, bytesKept: 0 };
}

function nameOf(capture: Capture, by: StatsGroup): string {
  switch (by) {
    case "crawl":
      return capture.source ?? NONE;
    case "host":
      return hostOf(capture.key) ?? NONE;
    case "mime":
      return capture.mime ?? NONE;
    case "year":
      return capture.timeMs === undefined ? NONE : `${new Date(capture.timeMs).getUTCFullYear()}`;
  }
}
