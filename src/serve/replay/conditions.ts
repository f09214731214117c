/** Conditional requests (RFC 9110): by entity tags. Archived answers have no Last-Modified of ours, so dates never match. */
import type { IncomingHttpHeaders } from "node:http";

/** What the conditions of a request make of it. */
export function checkConditions(headers: IncomingHttpHeaders, etag: string): "go on" | "not modified" | "failed" {
  const match = headers["if-match"];
  if (match !== undefined && match.trim() !== "*" && !tagsIn(match).includes(etag)) return "failed";
  const noneMatch = headers["if-none-match"];
  if (noneMatch === undefined) return "go on";
  const isKnown = noneMatch.trim() === "*" || tagsIn(noneMatch).some((tag) => tag.replace(/^W\//, "") === etag);
  return isKnown ? "not modified" : "go on";
}

/** Whether a range may be given: it is asked for without a condition, or of exactly these bytes. */
export function rangeHolds(headers: IncomingHttpHeaders, etag: string): boolean {
  const condition = headers["if-range"];
  return condition === undefined || String(condition).trim() === etag;
}

function tagsIn(value: string): string[] {
  return value.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
