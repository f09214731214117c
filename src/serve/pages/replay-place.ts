/** Addresses of what is shown: of our page around it, and of the frame on the replay origin. */
import { headerUrl } from "../archived-url.ts";
import { demandedPolicy, FRAME_PATH } from "../replay-origin/policies.ts";
import type { Asked } from "../route.ts";
import type { PageLinks } from "./links.ts";
import type { Shown } from "./shown.ts";

export type View = "replay" | "static";

export interface Frame {
  readonly src: string;
  readonly sandbox: string;
  /** What the frame demands of every document in it; Chromium holds them to it. */
  readonly csp: string | undefined;
  /** What our own policy lets this frame be: addresses that it may go to. */
  readonly allowed: string;
}

/**
 * Without leave to open windows or to move ours. Archived scripts have an origin of their own, which the worker needs; in
 * the static view nothing has one, and only a click on a link of ours moves the window.
 */
const SANDBOX: Readonly<Record<View, string>> = {
  replay: "allow-scripts allow-same-origin allow-forms allow-modals allow-downloads",
  static: "allow-top-navigation-by-user-activation",
};

/** Absent where there is no way to the replay origin. */
export function frameOf(asked: Asked, shown: Shown, view: View): Frame | undefined {
  const { replay, collection, origin } = asked;
  const replayOrigin = replay?.origins.replayFor(origin);
  if (replay === undefined || replayOrigin === undefined) return undefined;
  const name = replay.names.nameOf(collection, shown.isPinned);
  const url = headerUrl(shown.url);
  const sandbox = SANDBOX[view];
  if (view === "static") {
    const own = `${replayOrigin}/${name}/`;
    return { src: `${own}${shown.frameTime}st_/${url}`, sandbox, csp: undefined, allowed: own };
  }
  return {
    src: `${replayOrigin}/boot/${name}/${shown.frameTime}mp_/${url}`,
    sandbox,
    csp: demandedPolicy({ origin: replayOrigin, pages: origin, name }),
    allowed: `${replayOrigin}/boot/${name}/ ${replayOrigin}${FRAME_PATH}${name}/`,
  };
}

/** Our page that shows a URL as it is shown now, or at another time. */
export function viewAddress(
  links: PageLinks,
  shown: Shown,
  view: View,
  time = shown.time.text,
  url = shown.url,
): string {
  const form = view === "static" ? "st_" : time === "" ? "mp_" : "";
  return `${links.base}${shown.isPinned ? "as-of/" : ""}${time}${form}/${headerUrl(url).replaceAll("#", "%23")}`;
}
