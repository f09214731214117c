/** `/<coll>/site/<host>/export`: a site as of a day, as WACZ: of each URL the capture that was valid then. */
import { ArchiveError, formatIso } from "../../../base/index.ts";
import type { ServerAnswer } from "../../../http/index.ts";
import type { Asked } from "../../route.ts";
import { waczAnswer } from "../wacz-answer.ts";
import { EXPORT_URLS_MAX } from "./export-section.ts";
import { siteQuestion } from "./site-question.ts";

/** HT_BLOCKED where the collection has rules, HT_TOO_LARGE for a site that is, HT_BUSY while others are exported. */
export async function siteExportAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection } = asked;
  collection.requireFiles();
  const { host, range, timeMs, at, mime } = await siteQuestion(asked);
  const urls = await collection.countSlice(timeMs, { ...range, mime }, EXPORT_URLS_MAX + 1);
  if (urls > EXPORT_URLS_MAX)
    throw new ArchiveError("HT_TOO_LARGE", `${host} has more than ${EXPORT_URLS_MAX} URLs; use holotype export`);
  return await waczAnswer(asked, {
    name: `${host}-${at}.wacz`,
    selection: { range, sliceMs: timeMs, mime },
    description: `${host} as of ${formatIso(timeMs)}`,
  });
}
