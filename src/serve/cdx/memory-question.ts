/**
 * The questions of crawlers that look whether they know a page, as they send them to a Wayback's CDX server. Any parameter more
 * or less makes it a question for rows.
 */
import type { Parameters } from "./parameters.ts";

export interface MemoryQuestion {
  readonly url: string;
  /** warcprox wants two fields, the others seven. */
  readonly fields: "time-and-digest" | "all";
}

/** `timemap`: Heritrix (WbmPersistLoadProcessor) and gowarc, which ask alike. */
export type AskingCrawler = "warcprox" | "timemap";

const LIMIT = "-1";

/** Absent for any other question. */
export function memoryQuestion(parameters: Parameters, crawler: AskingCrawler): MemoryQuestion | undefined {
  const url = parameters.text("url");
  const { size } = parameters.names();
  if (url === undefined || parameters.text("limit") !== LIMIT) return undefined;
  if (crawler === "timemap" && size === 2) return { url, fields: "all" };
  const isWarcprox =
    size === 4 &&
    parameters.text("fl") === "timestamp,digest" &&
    parameters.all("filter").join(" ") === "!mimetype:warc/revisit";
  return isWarcprox ? { url, fields: "time-and-digest" } : undefined;
}
