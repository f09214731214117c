import { describe, expect, it } from "vitest";
import { formatIso } from "../base/index.ts";
import { type DigestEntry, mergeStates } from "./entry.ts";

const URI = "http://a.test/";
const SHA1 = `sha1:${"A".repeat(32)}`;
const [ONE, OTHER] = ["1", "2"].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];

function entryOf(second: number, ...digests: string[]): DigestEntry {
  const timeMs = second * 1000;
  return { uri: URI, timeMs, digests, original: { uri: URI, date: formatIso(timeMs) } };
}

describe("states of a URL", () => {
  it("are told apart by SHA-256 where they share a SHA-1", () => {
    const states = mergeStates([
      entryOf(1, SHA1, ONE),
      entryOf(2, SHA1, OTHER),
      entryOf(3, SHA1, ONE),
      entryOf(4, SHA1, OTHER),
    ]);
    expect(states.map(({ timeMs, digests, original }) => [timeMs, digests, original!.date])).toEqual([
      [4000, [SHA1, OTHER], formatIso(2000)],
      [3000, [SHA1, ONE], formatIso(1000)],
    ]);
  });

  it("are one where nothing denies it", () => {
    expect(mergeStates([entryOf(1, SHA1), entryOf(2, SHA1, ONE)])).toMatchObject([{ digests: [SHA1, ONE] }]);
  });
});
