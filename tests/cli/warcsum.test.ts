/** Manifests of the original tools: written, taken by `resolve`, and given by `resolve` and `plan`. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { record, response, warcFile } from "./archives.ts";
import { holotype, linesOf, put, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const NAMES = readdirSync(SAMPLES).filter((name) => name.endsWith(".warc.gz"));
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function stage(args: readonly string[], input?: string): string {
  const { exit, out, err } = holotype(args, input === undefined ? {} : { input: Buffer.from(input) });
  expect({ exit, err: exit === 0 ? "" : err }, args.join(" ")).toEqual({ exit: 0, err: "" });
  return out;
}

function hexOf(base32: string): string {
  const bits = Array.from(base32, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return bits.replace(/.{4}/g, (four) => Number.parseInt(four, 2).toString(16));
}

/** What the original would write, put together here: base names, blanks, hex. */
const ORIGINAL = linesOf(stage(["manifest", "--digest", "sha1", SAMPLES]))
  .map((line) => line.split("\t"))
  .map(([file, offset, length, uri, date, digest]) => {
    return `${basename(file!)} ${offset} ${length} ${uri} ${date} sha1:${hexOf(digest!.slice("sha1:".length))}\n`;
  })
  .join("");

describe("manifests of the original tools", () => {
  it("are written by manifest --format warcsum", () => {
    const written = stage(["manifest", "--digest", "sha1", "--format", "warcsum", SAMPLES]);
    expect(written.replaceAll(`${SAMPLES}/`, "")).toBe(ORIGINAL);
  });

  it("go through all stages to the files that dedup makes, byte for byte", () => {
    const resolved = stage(["resolve", "-j", "1", "--folder", SAMPLES], ORIGINAL);
    const plan = put(folder, "plan.tsv", stage(["plan"], resolved));
    const [staged, whole] = [join(folder, "staged"), join(folder, "whole")];
    stage(["rewrite", "-j", "1", "--plan", plan, SAMPLES, "-o", staged]);
    stage(["dedup", "-j", "1", SAMPLES, "-o", whole]);
    for (const name of NAMES) {
      expect(readFileSync(join(staged, name)).equals(readFileSync(join(whole, name))), name).toBe(true);
    }
  });

  it("have seven fields after resolve, eight or ten after plan", () => {
    const seven = linesOf(stage(["resolve", "-j", "1", "--folder", SAMPLES, "--format", "warcsum"], ORIGINAL));
    expect(seven.map((line) => line.replace(/ 0$/, "")).sort()).toEqual(linesOf(ORIGINAL).sort());
    const resolved = stage(["resolve", "-j", "1", "--folder", SAMPLES], ORIGINAL);
    const planned = linesOf(stage(["plan", "--format", "warcsum"], resolved)).map((line) => line.split(" "));
    const ours = linesOf(stage(["plan"], resolved)).map((line) => line.split("\t"));
    expect(planned).toHaveLength(ours.filter((columns) => (columns[13] ?? "-") !== "-").length);
    const originals = new Set(
      planned.filter(([, , , , , , , copy]) => copy === "1").map((line) => `${line[3]} ${line[4]}`),
    );
    for (const fields of planned) {
      expect(fields).toHaveLength(fields[7] === "1" ? 8 : 10);
      if (fields.length === 10) expect(originals).toContain(`${fields[8]} ${fields[9]}`);
    }
    expect(planned.some((fields) => fields.length === 10)).toBe(true);
  });

  it("stay together in parts", () => {
    const prefix = join(folder, "part-");
    stage(["split", "3", "-o", prefix], ORIGINAL);
    const parts = [0, 1, 2].map((i) => linesOf(readFileSync(`${prefix}00${i}.tsv`, "utf8")));
    expect(parts.flat().sort()).toEqual(linesOf(ORIGINAL).sort());
    const digests = parts.map((lines) => new Set(lines.map((line) => line.split(" ")[5]!)));
    expect(digests.every((set) => set.size > 0)).toBe(true);
    expect(digests[0]!.size + digests[1]!.size + digests[2]!.size).toBe(
      new Set(digests.flatMap((set) => [...set])).size,
    );
  });

  it("with lines that are wrong: each is named by its number, and the rest is read", () => {
    const [first, second, third, ...rest] = linesOf(ORIGINAL);
    const wrong = [
      first!.split(" ").slice(0, 5).join(" "),
      second!.slice(0, -1),
      third!.replace(/^(\S+) (\S+) (\S+)/, "$1 $3 $2"),
      "",
      ...rest,
    ];
    const input = Buffer.from(wrong.map((line) => `${line}\n`).join(""));
    const { exit, out, err } = holotype(["resolve", "-j", "1", "--folder", SAMPLES], { input });
    expect(exit).toBe(4);
    expect([...err.matchAll(/line (\d+): /g)].map(([, number]) => Number(number))).toEqual([1, 2, 3, 4]);
    expect(linesOf(out)).toHaveLength(rest.length);
    const { exit: refused, err: hint } = holotype(["plan"], { input: Buffer.from(ORIGINAL) });
    expect({ refused, hint: hint.includes("holotype resolve takes them") }).toEqual({ refused: 2, hint: true });
  });

  it("have a line for each response, whatever blanks its URI has", () => {
    const uri = "http://a.example/with a blank";
    const files = [response(uri, "x".repeat(900)), record("resource", "http://a.example/r", "text/plain", "resource")];
    const path = put(folder, "blank.warc.gz", warcFile(files));
    const [line, ...more] = linesOf(stage(["manifest", "--format", "warcsum", path]));
    expect(more).toEqual([]);
    expect(line!.split(" ")).toHaveLength(6);
    const resolved = stage(["resolve", "-j", "1"], `${line}\n${line!.replaceAll("%20", " ")}\n`);
    expect(linesOf(resolved).map((each) => each.split("\t")[3])).toEqual([uri, uri]);
  });
});
