import { expect, test } from "vitest";
import { ArchiveError, ERROR_TABLE, formatPlace, fromSystemError, isDamage } from "./errors.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: no luck, open 'x'`), { code });
}

test.each([
  ["ENOENT", "HT_NOT_FOUND", 20],
  ["ENOTDIR", "HT_NOT_FOUND", 20],
  ["EEXIST", "HT_EXISTS", 2],
  ["ENOSPC", "HT_NO_SPACE", 24],
  ["EDQUOT", "HT_NO_SPACE", 24],
  ["EIO", "HT_IO", 1],
  ["EACCES", "HT_IO", 1],
  ["EISDIR", "HT_IO", 1],
  ["E2BIG", "HT_IO", 1],
])("%s becomes %s", (systemCode, code, exit) => {
  const cause = systemError(systemCode);
  const error = fromSystemError(cause, { file: "a.warc", offset: 7 });
  expect(error).toBeInstanceOf(ArchiveError);
  expect(error).toMatchObject({ code, exit, cause, place: { file: "a.warc", offset: 7 } });
  expect((error as Error).message).toBe(`a.warc:7: ${systemCode}: no luck, open 'x'`);
});

test.each([
  ["an ArchiveError", new ArchiveError("HT_LOCKED", "held")],
  ["an error without a code", new Error("bug")],
  ["an error of Node", systemError("ERR_OUT_OF_RANGE")],
  ["an error with a number for a code", Object.assign(new Error("x"), { code: 5 })],
  ["no error at all", "ENOENT"],
  ["nothing", undefined],
])("%s stays what it is", (_, thrown) => {
  expect(fromSystemError(thrown, { file: "a" })).toBe(thrown);
});

test.each([
  [{}, ""],
  [{ offset: 0 }, "offset 0"],
  [{ file: "a.warc" }, "a.warc"],
  [{ file: "a.warc", offset: 0 }, "a.warc:0"],
])("%j is written %j", (place, text) => {
  expect(formatPlace(place)).toBe(text);
});

test("an error has a cause only where it was given one", () => {
  expect("cause" in new ArchiveError("HT_IO", "x")).toBe(false);
  expect(new ArchiveError("HT_IO", "x", {}, "why").cause).toBe("why");
  expect(new ArchiveError("HT_IO", "x")).toMatchObject({ name: "ArchiveError", place: {}, exit: 1 });
});

test("damage and notes are told apart, and no code exits as a success", () => {
  const warning = { message: "", file: "a", offset: 0 };
  expect(isDamage({ ...warning, code: "HT_GZIP_DATA" })).toBe(true);
  expect(isDamage({ ...warning, code: "HT_PADDING" })).toBe(false);
  for (const { exit, http } of Object.values(ERROR_TABLE)) {
    expect(exit).toBeGreaterThan(0);
    expect(http).toBeGreaterThanOrEqual(400);
  }
});
