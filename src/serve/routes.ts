/** The table of routes. The first that fits a target answers it. */
import { API_ROUTES } from "./api/routes.ts";
import { CDX_ROUTES, CDX_SERVER_ROUTES } from "./cdx/routes.ts";
import { recordAnswer, segmentAnswer } from "./files.ts";
import { timegateAnswer } from "./memento/timegate.ts";
import { timemapAnswer } from "./memento/timemap.ts";
import { PAGE_ROUTES } from "./pages/routes.ts";
import { rawAnswer } from "./replay/raw.ts";
import { workerAnswer } from "./replay/worker.ts";
import type { Route } from "./route.ts";

/** Those of the server come first: no collection has their names. */
const SERVER_ROUTES: readonly Route[] = [...CDX_SERVER_ROUTES, ...API_ROUTES];

const COLLECTION_ROUTES: readonly Route[] = [
  {
    pattern: "/<coll>/timemap/{link,json,cdxj}/<url>",
    match: /^timemap\/(?<form>link|json|cdxj)\/(?:(?<page>\d{17})\/)?(?<url>.+)$/s,
    answer: timemapAnswer,
  },
  {
    pattern: "/<coll>/record/<time>/<url>",
    match: /^record\/(?<asOf>as-of\/)?(?<ts>\d+)\/(?<url>.+)$/s,
    answer: recordAnswer,
  },
  { pattern: "/<coll>/segments/<file>", match: /^segments\/(?<file>[^/?]+)$/s, answer: segmentAnswer },
  {
    pattern: "/<coll>/<time>id_/<url>",
    match: /^(?<asOf>as-of\/)?(?<ts>\d*)id_\/(?<url>.+)$/s,
    answer: rawAnswer,
  },
  {
    pattern: "/<coll>/<time>ir_/<url>",
    match: /^(?<asOf>as-of\/)?(?<ts>\d*)ir_\/(?<url>.+)$/s,
    answer: workerAnswer,
  },
  { pattern: "/<coll>/<url>", match: /^(?<asOf>as-of\/)?(?<url>.+)$/s, answer: timegateAnswer },
];

/** One of CDX is told from the overview by its query, so it comes first. */
export const ROUTES: readonly Route[] = [...SERVER_ROUTES, ...CDX_ROUTES, ...PAGE_ROUTES, ...COLLECTION_ROUTES];
