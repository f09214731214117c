/** `docs/errors.md` and the table in `src/base/errors.ts` say the same, both ways. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ERROR_TABLE } from "../src/base/index.ts";

const PAGE = readFileSync(fileURLToPath(new URL("../docs/errors.md", import.meta.url)), "utf8");

/** The rows of all tables whose first cell is of the given form, as cells. */
function readRows(first: RegExp): string[][] {
  const rows = PAGE.split("\n").filter((line) => line.startsWith("| "));
  const cells = rows.map((row) => row.split("|").slice(1, -1)).map((row) => row.map((cell) => cell.trim()));
  return cells.filter(([cell]) => first.test(cell!));
}

describe("docs/errors.md", () => {
  const told = readRows(/^`HT_/);

  it("has every code once, with its kind, exit, HTTP status and meaning, and no other code", () => {
    const page = told.map((row) => row.join(" | ")).sort();
    const table = Object.entries(ERROR_TABLE).map(([code, { kind, exit, http, meaning }]) =>
      [`\`${code}\``, kind, exit, http, meaning].join(" | "),
    );
    expect(page).toEqual(table.sort());
  });

  it("mentions no code that is gone", () => {
    const mentioned = [...new Set(PAGE.match(/\bHT_[A-Z_]+\b/g))];
    expect(mentioned.filter((code) => !(code in ERROR_TABLE))).toEqual([]);
  });

  it("explains every exit code that an error can lead to, and each once", () => {
    const exits = readRows(/^\d+$/).map(([exit]) => Number(exit));
    expect(exits).toEqual([0, 1, 2, 3, 4, 20, 21, 22, 23, 24, 25, 130]);
    const used = new Set(Object.values(ERROR_TABLE).map(({ exit }) => exit));
    expect([...used].filter((exit) => !exits.includes(exit))).toEqual([]);
  });
});
