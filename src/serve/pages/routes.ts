/** The pages for people. */
import type { Route } from "../route.ts";
import { apiPage } from "./api-page.ts";
import { ARCHIVE_PAGE_ROUTES } from "./archive-routes.ts";
import { ASSET_ROUTE } from "./assets.ts";
import { capturesAnswer } from "./captures.ts";
import { feedAnswer } from "./feed.ts";
import { collectionHome, serverHome } from "./home.ts";
import { REPLAY_ROUTES } from "./replay-routes.ts";
import { pageRoute } from "./shell.ts";
import { timelineAnswer, timelineByQuery } from "./timeline.ts";

export const PAGE_ROUTES: readonly Route[] = [
  ASSET_ROUTE,
  pageRoute({ pattern: "/", match: /^(?:\?.*)?$/s, isOfServer: true, answer: serverHome }),
  pageRoute({ pattern: "/api/", match: /^api\/?(?:\?.*)?$/s, isOfServer: true, answer: apiPage }),
  pageRoute({ pattern: "/<coll>/", match: /^(?:\?.*)?$/s, answer: collectionHome }),
  pageRoute({
    pattern: "/<coll>/*/<url>",
    match: /^(?:(?<from>\d{1,14})-?(?<to>\d{1,14})?)?\*\/(?<url>.+)$/s,
    answer: timelineAnswer,
  }),
  pageRoute({ pattern: "/<coll>/timeline", match: /^timeline\?/s, answer: timelineByQuery }),
  pageRoute({ pattern: "/<coll>/captures", match: /^captures\?/s, answer: capturesAnswer }),
  pageRoute({ pattern: "/<coll>/feed", match: /^feed\?/s, answer: feedAnswer }),
  ...ARCHIVE_PAGE_ROUTES,
  ...REPLAY_ROUTES,
];
