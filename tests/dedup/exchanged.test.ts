/** A file that is exchanged between comparing and rewriting, for one of the same size and time, costs no payload. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Disk, nodeDisk } from "../../src/disk/index.ts";
import { dedup } from "../../src/pipeline/index.ts";
import { createDice } from "../../src/testing/dice.ts";
import { response, warcFile } from "../cli/archives.ts";

const dice = createDice(21);
const [ONE, TWO] = [Buffer.from(dice.bytes(1500)), Buffer.from(dice.bytes(1500))];
const page = (path: string, body: Buffer, year: number) =>
  warcFile([response(`http://site.example/${path}`, body, { date: `${year}-01-01T00:00:00Z` })], {
    compression: "none",
  });

let work: string;
const at = (name: string) => join(work, "in", name);

beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "holotype-exchanged-"));
  mkdirSync(join(work, "in"));
  vi.stubEnv("HOME", work);
  writeFileSync(at("a.warc"), page("a", ONE, 2001));
  writeFileSync(at("b.warc"), page("b", ONE, 2002));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(work, { recursive: true });
});

function exchange(name: string, bytes: Buffer): void {
  const { atime, mtime, size } = statSync(at(name));
  expect(bytes).toHaveLength(size);
  writeFileSync(at(name), bytes);
  utimesSync(at(name), atime, mtime);
  expect(statSync(at(name)).mtimeMs).toBe(mtime.getTime());
}

/** A disk on which something happens when the first ledger is begun: all is compared, and a file is being rewritten. */
function exchanging(happen: () => void): Disk {
  let isDone = false;
  return {
    ...nodeDisk,
    open(path, mode, access) {
      if (!isDone && mode !== "read" && path.includes("/ledger/")) {
        isDone = true;
        happen();
      }
      return nodeDisk.open(path, mode, access);
    },
  };
}

it("nothing is lost where nothing is exchanged: one is replaced", async () => {
  let hasHappened = false;
  const disk = exchanging(() => {
    hasHappened = true;
  });
  expect(await dedup(disk, [join(work, "in")], { threads: 1 })).toMatchObject({ replaced: 1 });
  expect(hasHappened).toBe(true);
});

it.each([
  ["the original", "a.warc", () => page("a", TWO, 2001)],
  ["the copy", "b.warc", () => page("b", TWO, 2002)],
])("%s is exchanged: the copy stays as it is", async (_, name, make) => {
  // Times that were set can be set again; whole milliseconds survive.
  for (const each of ["a.warc", "b.warc"]) utimesSync(at(each), 1_500_000_000, 1_500_000_000);
  const disk = exchanging(() => exchange(name, make()));
  const before = name === "b.warc" ? make() : readFileSync(at("b.warc"));
  const result = await dedup(disk, [join(work, "in")], { threads: 1 });
  expect(result).toMatchObject({ replaced: 0 });
  expect(readFileSync(at("b.warc")).equals(before)).toBe(true);
});
