import { describe, expect, test } from "vitest";
import { mimeFilter, mimeMatcher } from "./policy.ts";

test.each([
  ["image/*", "image/png", true],
  ["image/*", "image/svg+xml", true],
  ["image/*", "text/image/png", false],
  ["image/*", "imagex/png", false],
  ["IMAGE/PNG", "image/png", true],
  ["image/p*g", "image/png", true],
  ["image/p*g", "image/pg", true],
  ["*/*", "a/b", true],
  ["*/*", undefined, false],
  ["-", undefined, true],
  ["-", "text/html", false],
  ["application/vnd.ms-*", "application/vnd.ms-excel", true],
  // A dot is a dot, and a plus a plus.
  ["application/vnd.ms-*", "application/vndxms-excel", false],
  ["a/b+c", "a/bbc", false],
  ["text/htm", "text/html", false],
])("%s and %s: %s", (pattern, mime, expected) => {
  expect(mimeMatcher([pattern])(mime)).toBe(expected);
});

test.each(["image", "*", "image/", "/png", "image/png;q=1", "a/b/c", "(a)/b", ""])("%j is no pattern", (pattern) => {
  expect(() => mimeMatcher([pattern])).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
});

describe("a filter", () => {
  test("of nothing lets everything through", () => {
    expect([undefined, "a/b"].every(mimeFilter({}))).toBe(true);
  });

  test("of none lets nothing through", () => {
    expect([undefined, "a/b"].some(mimeFilter({ mime: [] }))).toBe(false);
  });

  test("takes what is wanted and not unwanted", () => {
    const filter = mimeFilter({ mime: ["image/*", "text/css"], notMime: ["image/gif", "text/*"] });
    const types = ["image/png", "image/gif", "text/css", "audio/ogg", undefined];
    expect(types.filter(filter)).toEqual(["image/png"]);
  });
});
