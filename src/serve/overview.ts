/** Where nothing is asked for yet: what is here, and how to ask; and the forms that wait for pages. */
import type { ServerAnswer } from "../http/index.ts";
import { jsonAnswer, redirectAnswer } from "./answers.ts";
import { headerUrl } from "./archived-url.ts";
import { MementoLinks } from "./memento/links.ts";
import { askedUrl } from "./replay/memento-answer.ts";
import type { Asked } from "./route.ts";

/** `/` */
export function serverOverview({ collections, origin }: Asked): ServerAnswer {
  return jsonAnswer(200, { collections: [...collections.keys()].map((name) => ({ name, url: `${origin}/${name}/` })) });
}

/** `/<coll>/` */
export function collectionOverview({ collection, base }: Asked): ServerAnswer {
  return jsonAnswer(200, {
    name: collection.name,
    timegate: `${base}{url}`,
    timemap: `${base}timemap/link/{url}`,
    memento: `${base}{time}id_/{url}`,
    cdx: `${base}cdx?url={url}`,
  });
}

/** The calendar of a URL: leads to the list of its captures; of `<url>*`, of all that begin with it. */
export function calendarAnswer(asked: Asked): ServerAnswer {
  const { base, found } = asked;
  const raw = found["url"] ?? "";
  if (!raw.endsWith("*")) return redirectAnswer(new MementoLinks(asked, askedUrl(raw)).timemap());
  const url = encodeURIComponent(askedUrl(raw.slice(0, -1)));
  const { from, to } = found;
  const span = `${from === undefined ? "" : `&from=${from}`}${to === undefined ? "" : `&to=${to}`}`;
  return redirectAnswer(headerUrl(`${base}cdx?url=${url}&matchType=prefix${span}`));
}
