/** The pages of replay, and who gets them: a browser that a person sends there. All others get the memento. */
import { ArchiveError } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { framedAnswer } from "../memento/timegate.ts";
import { isNavigation } from "../navigation.ts";
import type { Asked, Route } from "../route.ts";
import { captureInfoPage } from "./capture-page.ts";
import { missingPage } from "./missing-page.ts";
import { pageWacz } from "./page-wacz.ts";
import { partsPage } from "./parts-page.ts";
import { replayAnswer, replayPage } from "./replay-page.ts";
import type { View } from "./replay-place.ts";
import { pageRoute } from "./shell.ts";

async function shownAs(asked: Asked, view: View): Promise<ServerAnswer> {
  try {
    return await replayPage(asked, view);
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "HT_NOT_FOUND") return await missingPage(asked, error);
    throw error;
  }
}

function replayOrMemento(asked: Asked): Promise<ServerAnswer> {
  return isNavigation(asked) ? shownAs(asked, "replay") : framedAnswer(asked);
}

/** Without a replay origin there is no static view either. */
function staticOrMemento(asked: Asked): Promise<ServerAnswer> {
  return asked.replay?.origins.replayFor(asked.origin) === undefined ? framedAnswer(asked) : shownAs(asked, "static");
}

export const REPLAY_ROUTES: readonly Route[] = [
  pageRoute({ pattern: "/<coll>/replay", match: /^replay\?(?=.*\burl=)/s, answer: replayAnswer }),
  pageRoute({ pattern: "/<coll>/parts", match: /^parts\?(?=.*\burl=)/s, answer: partsPage }),
  pageRoute({ pattern: "/<coll>/capture", match: /^capture\?(?=.*\burl=)/s, answer: captureInfoPage }),
  pageRoute({ pattern: "/<coll>/page.wacz", match: /^page\.wacz\?(?=.*\burl=)/s, answer: pageWacz }),
  pageRoute({
    pattern: "/<coll>/<time>st_/<url>",
    match: /^(?<asOf>as-of\/)?(?<ts>\d*)st_\/(?<url>.+)$/s,
    answer: staticOrMemento,
  }),
  pageRoute({
    pattern: "/<coll>/<time>mp_/<url>",
    match: /^(?<asOf>as-of\/)?(?<ts>\d*)(?:mp|if|fr|im|js|cs|oe|wkr|esm)_\/(?<url>.+)$/s,
    answer: replayOrMemento,
  }),
  pageRoute({
    pattern: "/<coll>/<time>/<url>",
    match: /^(?<asOf>as-of\/)?(?<ts>\d+)\/(?<url>.+)$/s,
    answer: replayOrMemento,
  }),
];
