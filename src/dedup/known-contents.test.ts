import { expect, it } from "vitest";
import { shareDigest } from "./known-contents.ts";

it.each([
  { one: ["sha1:A"], other: ["sha1:A"], isOne: true },
  { one: ["sha1:A"], other: ["sha1:B"], isOne: false },
  { one: ["sha1:A", "sha256:1"], other: ["sha256:1"], isOne: true },
  { one: ["sha1:A"], other: ["sha256:1"], isOne: false },
  // Two contents that were made to have one SHA-1.
  { one: ["sha1:A", "sha256:1"], other: ["sha1:A", "sha256:2"], isOne: false },
  { one: [], other: ["sha1:A"], isOne: false },
])("contents with $one and $other are one: $isOne", ({ one, other, isOne }) => {
  expect(shareDigest(one, other)).toBe(isOne);
  expect(shareDigest(other, one)).toBe(isOne);
});
