/** Pages about a collection as a whole: what it saved, its sites, what was added, and two versions side by side. */
import type { Route } from "../route.ts";
import { compareAnswer } from "./compare/compare-page.ts";
import { crawlAnswer, crawlsAnswer } from "./crawls/crawls-page.ts";
import { contentAnswer } from "./duplication/content-page.ts";
import { duplicationAnswer } from "./duplication/duplication-page.ts";
import { pageRoute } from "./shell.ts";
import { siteExportAnswer } from "./site/site-export.ts";
import { siteAnswer } from "./site/site-page.ts";

const PAGES: readonly Route[] = [
  { pattern: "/<coll>/duplication", match: /^duplication(?:\?.*)?$/s, answer: duplicationAnswer },
  {
    pattern: "/<coll>/duplication/<sha256>",
    match: /^duplication\/(?<sha256>[0-9a-f]{64})(?:\?.*)?$/is,
    answer: contentAnswer,
  },
  { pattern: "/<coll>/crawls", match: /^crawls(?:\?.*)?$/s, answer: crawlsAnswer },
  { pattern: "/<coll>/crawls/<number>", match: /^crawls\/(?<number>\d{1,10})(?:\?.*)?$/s, answer: crawlAnswer },
  { pattern: "/<coll>/compare", match: /^compare\?.*$/s, answer: compareAnswer },
  {
    pattern: "/<coll>/site/<host>/export",
    match: /^site\/(?<host>[^/?]{1,400})\/export(?:\?.*)?$/s,
    answer: siteExportAnswer,
  },
  { pattern: "/<coll>/site/<host>", match: /^site\/(?<host>[^/?]{1,400})\/?(?:\?.*)?$/s, answer: siteAnswer },
];

export const ARCHIVE_PAGE_ROUTES: readonly Route[] = PAGES.map(pageRoute);
