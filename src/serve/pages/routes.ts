/** The pages for people. */
import type { Route } from "../route.ts";
import { ASSET_ROUTE } from "./assets.ts";

export const PAGE_ROUTES: readonly Route[] = [ASSET_ROUTE];
