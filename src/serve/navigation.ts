/** Whether a person goes to an address in a browser, and there is a page to be shown. */
import type { Asked } from "./route.ts";

export function isNavigation({ request, replay, origin }: Asked): boolean {
  return request.headers["sec-fetch-dest"] === "document" && replay?.origins.replayFor(origin) !== undefined;
}
