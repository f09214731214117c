/** Where nothing is asked for yet: what is here, and how to ask; and the forms that wait for pages. */
import type { ServerAnswer } from "../http/index.ts";
import { redirectAnswer } from "./answers.ts";
import { headerUrl } from "./archived-url.ts";
import { MementoLinks } from "./memento/links.ts";
import { askedUrl } from "./replay/memento-answer.ts";
import type { Asked } from "./route.ts";

/** The calendar of a URL: leads to the list of its captures; of `<url>*`, of all that begin with it. */
export function calendarAnswer(asked: Asked): ServerAnswer {
  const { collection, origin, found } = asked;
  const raw = found["url"] ?? "";
  if (!raw.endsWith("*")) return redirectAnswer(new MementoLinks(asked, askedUrl(raw)).timemap());
  const url = encodeURIComponent(askedUrl(raw.slice(0, -1)));
  const { from, to } = found;
  const span = `${from === undefined ? "" : `&from=${from}`}${to === undefined ? "" : `&to=${to}`}`;
  return redirectAnswer(headerUrl(`${origin}/${collection.name}/cdx?url=${url}&matchType=prefix${span}`));
}
