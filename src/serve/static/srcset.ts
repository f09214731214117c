/** `srcset`: pictures of several sizes, with a comma between. */
import { type References, resourceAddress } from "./references.ts";

const CANDIDATE = /[\s,]*(\S+)([^,]*)/gy;

/** Each candidate led elsewhere; those that are left out are gone. A URL may hold commas, but does not end with one. */
export function rewriteSrcset(text: string, base: string, references: References): string {
  const kept: string[] = [];
  CANDIDATE.lastIndex = 0;
  for (let found = CANDIDATE.exec(text); found !== null; found = CANDIDATE.exec(text)) {
    let [, url = "", descriptor = ""] = found;
    const bare = url.replace(/,+$/, "");
    if (bare.length < url.length) {
      // The comma ended the candidate: what follows is the next one.
      CANDIDATE.lastIndex -= descriptor.length;
      [url, descriptor] = [bare, ""];
    }
    const address = resourceAddress(url, base, "image", references);
    if (address !== undefined) kept.push(`${address.replaceAll(",", "%2C")}${descriptor.trimEnd()}`);
  }
  return kept.join(", ");
}
