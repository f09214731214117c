/** `/wayback/available?url=&timestamp=`: the capture nearest to a time, or else the last one, as JSON. */
import type { Capture } from "../../archive/index.ts";
import type { Handler } from "../../http/index.ts";
import type { Collection } from "../collection.ts";
import { jsonAnswer, type MementoUrl, refusing } from "./cdx-answer.ts";
import { digitsIn, earliestOf, LAST_MS, timestampOf } from "./cdx-times.ts";
import { Parameters, refusal } from "./parameters.ts";

/** More captures than this are not looked at for one answer. */
const LOOKED_MAX = 10_000;

export function waybackAvailable(collection: Collection, mementoUrl: MementoUrl): Handler {
  return refusing(async (request) => {
    const parameters = new Parameters(request.target);
    const url = parameters.text("url");
    if (url === undefined) throw refusal("the parameter url is missing: ?url=example.com");
    const timestamp = digitsIn(parameters, "timestamp");
    const found = await nearest(collection, url, timestamp === undefined ? LAST_MS : earliestOf(timestamp));
    const told = timestamp === undefined ? { url } : { url, timestamp };
    if (found?.timeMs === undefined) return jsonAnswer(200, { ...told, archived_snapshots: {} });
    const at = timestampOf(found.timeMs);
    const closest = {
      status: String(found.status ?? 200),
      available: true,
      url: mementoUrl(request, at, found.url),
      timestamp: at,
    };
    return jsonAnswer(200, { ...told, archived_snapshots: { closest } });
  });
}

/** Of states and confirmations, as in replay. */
async function nearest(collection: Collection, url: string, closestMs: number): Promise<Capture | undefined> {
  const query = { url, order: "closest", closestMs, limit: LOOKED_MAX } as const;
  for await (const captures of collection.captures(query)) {
    const found = captures.find((each) => each.class === "state" || each.class === "confirmation");
    if (found !== undefined) return found;
  }
  return undefined;
}
