import { expect, test } from "vitest";
import { formatAmount, formatBytes, formatForeign, formatNumber, formatShare, formatSpan, shorten } from "./format.ts";

const tied = (text: string) => text.replaceAll(" ", "\u00a0");

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1,000"],
  [-1234567, "\u22121,234,567"],
  [Number.MAX_SAFE_INTEGER, "9,007,199,254,740,991"],
])("%d is %s", (value, text) => {
  expect(formatNumber(value)).toBe(text);
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [999_949, "999.9 kB"],
  [999_950, "1.0 MB"],
  [1_234_567_890, "1.2 GB"],
  [5e15, "5.0 PB"],
  [5e18, "5,000.0 PB"],
  [-2500, "\u22122.5 kB"],
])("%d bytes are %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(tied(text));
});

test.each([
  [0, 10, "0 %"],
  [10, 10, "100 %"],
  [1, 3, "33.3 %"],
  [1, 1_000_000, "< 0.1 %"],
  [999_999, 1_000_000, "> 99.9 %"],
  [-1, 10, "\u221210.0 %"],
  [1, 0, "\u2013"],
])("%d of %d are %s", (part, whole, text) => {
  expect(formatShare(part, whole)).toBe(tied(text));
});

test("amounts and spans", () => {
  expect(formatAmount(1, "file")).toBe(tied("1 file"));
  expect(formatAmount(2000, "entry", "entries")).toBe(tied("2,000 entries"));
  expect(formatSpan("2024-06-12T16:41:00Z", "2024-06-12T16:41:07Z")).toBe(tied("7 s"));
  expect(formatSpan("2024-06-12T16:41:00Z", "2024-06-12T16:43:07Z")).toBe(tied("2 min 7 s"));
  expect(formatSpan("2024-06-12T16:41:00Z", "2024-06-13T18:43:07Z")).toBe(tied("26 h 2 min"));
  expect(formatSpan("2024-06-12T16:41:00Z", "2024-06-12T16:40:00Z")).toBe(undefined);
  expect(formatSpan("then", "now")).toBe(undefined);
});

test.each([
  ["plain é 文 😀", "plain é 文 😀"],
  ["a\tb\0c\x7f", "a⟨U+0009⟩b⟨U+0000⟩c⟨U+007F⟩"],
  ["gnp.\u202egpj", "gnp.⟨U+202E⟩gpj"],
  ["a\u200bb\ufeffc\u2066d", "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+2066⟩d"],
  ["\ud800x\udfff", "⟨U+D800⟩x⟨U+DFFF⟩"],
  ["a\u3164b\u2028", "a⟨U+3164⟩b⟨U+2028⟩"],
  ["\u{e0041}", "⟨U+E0041⟩"],
  [`z${"\u0301".repeat(50)}`, `z${"\u0301".repeat(4)}…`],
  ["x".repeat(400), `${"x".repeat(299)}…`],
])("%j is shown as %s", (text, shown) => {
  expect(formatForeign(text)).toBe(shown);
});

test("texts are cut between characters", () => {
  expect(shorten("abcdef", 6)).toBe("abcdef");
  expect(shorten("abcdefg", 6)).toBe("abcde…");
  expect(shorten("abcd😀g", 6)).toBe("abcd…");
});
