/** `/<coll>/page.wacz?url=…`: what is shown, and all its parts that are known, as a WACZ that stands by itself. */
import type { ServerAnswer } from "../../http/index.ts";
import type { Asked } from "../route.ts";
import { partsOfShown } from "./parts-page.ts";
import { askedShown } from "./replay-page.ts";
import { findShown } from "./shown.ts";
import { waczAnswer } from "./wacz-answer.ts";

/** HT_BLOCKED where the collection has rules: a record may say more than a capture that may be seen. */
export async function pageWacz(asked: Asked): Promise<ServerAnswer> {
  asked.collection.requireFiles();
  const { memento } = askedShown(asked);
  const shown = await findShown(asked, memento);
  const { parts } = await partsOfShown(asked, shown);
  const captures = new Set(
    [shown.capture, ...parts.flatMap(({ capture }) => capture ?? [])].map(({ cursor }) => cursor),
  );
  const host = /^[a-z]+:\/\/([\w.-]+)/i.exec(shown.url)?.[1] ?? "page";
  return await waczAnswer(asked, {
    name: `${host}-${shown.stamp}.wacz`,
    selection: { captures },
    description: `${shown.url} as captured ${shown.stamp}, with what its HTML and CSS refer to`,
  });
}
