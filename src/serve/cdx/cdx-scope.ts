/** Which URLs a question is about: `url` and `matchType`, or the stars that stand for it. */
import { archiveKey, type CaptureQuery } from "../../archive/index.ts";
import { keyRange } from "../../url/index.ts";
import { type Parameters, refusal } from "./parameters.ts";

export interface CdxScope {
  readonly url: string;
  readonly match: NonNullable<CaptureQuery["match"]>;
}

const MATCHES = ["exact", "prefix", "host", "domain"] as const;

/** With `matchType=exact` a star is a star. */
export function scopeIn(parameters: Parameters): CdxScope {
  const url = parameters.text("url")?.trim();
  if (url === undefined || url === "") throw refusal("the parameter url is missing: ?url=example.com");
  const told = parameters.choice("matchType", MATCHES);
  if (told === "exact") return { url, match: told };
  const isDomain = url.startsWith("*.");
  const isPrefix = url.endsWith("*");
  const bare = url.slice(isDomain ? 2 : 0, isPrefix ? -1 : undefined);
  if (bare === "") throw refusal("url is a star alone: name a host or the beginning of a URL");
  return { url: bare, match: told ?? (isDomain ? "domain" : isPrefix ? "prefix" : "exact") };
}

/** Whether a capture with this cursor is among those that are asked for. */
export function isInScope({ url, match }: CdxScope, cursor: string): boolean {
  if (match === "exact") return cursor.startsWith(`${archiveKey(url)}\0`);
  const { from, to } = keyRange(url, match);
  return cursor >= from && cursor < to;
}
