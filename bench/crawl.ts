/** Crawl-time: the digest index, the HTTP client, and what deduplication costs a fetch. */
import { runHttpClient } from "./crawl-client.ts";
import { runFetchCost } from "./crawl-fetch.ts";
import { runIndex } from "./crawl-index.ts";
import type { Row } from "./report.ts";

export async function run(quick: boolean): Promise<Row[]> {
  return [...(await runIndex(quick)), ...(await runHttpClient(quick)), ...(await runFetchCost(quick))];
}
