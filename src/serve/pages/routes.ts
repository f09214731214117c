/** The pages for people. */
import type { Route } from "../route.ts";
import { ARCHIVE_PAGE_ROUTES } from "./archive-routes.ts";
import { ASSET_ROUTE } from "./assets.ts";
import { collectionHome, serverHome } from "./home.ts";
import { pageRoute } from "./shell.ts";

export const PAGE_ROUTES: readonly Route[] = [
  ASSET_ROUTE,
  pageRoute({ pattern: "/", match: /^(?:\?.*)?$/s, isOfServer: true, answer: serverHome }),
  pageRoute({ pattern: "/<coll>/", match: /^(?:\?.*)?$/s, answer: collectionHome }),
  ...ARCHIVE_PAGE_ROUTES,
];
