import { cpSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { holotype, put, SAMPLES, temporaryFolder, withFlippedByte } from "./holotype.ts";

const folder = temporaryFolder();
const NAMES = readdirSync(SAMPLES).filter((name) => name.endsWith(".warc.gz"));

function copyOfSamples(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  for (const each of NAMES) cpSync(join(SAMPLES, each), join(path, each));
  return path;
}

const filesIn = (path: string) => NAMES.map((name) => readFileSync(join(path, name)));

const first = copyOfSamples("first");
const job = join(first, "holotype-job");
holotype(["dedup", "-j", "1", first, "--in-place"]);

describe("holotype commit", () => {
  it("makes a second copy what the job made of the first", () => {
    const second = copyOfSamples("second");
    const { exit, out, err } = holotype(["commit", job, "--to", second]);
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(out).toMatch(/^written +4 files, read back$/m);
    expect(filesIn(second)).toEqual(filesIn(first));
    expect(holotype(["verify", "-j", "1", second, "--against", SAMPLES]).exit).toBe(0);
    const again = JSON.parse(holotype(["commit", job, "--to", second, "--json"]).out) as Record<string, number>;
    expect(again).toMatchObject({ files: 4, written: 0, writtenBefore: 4, equal: 0 });
    const restored = join(folder, "restored");
    expect(holotype(["restore", "-j", "1", second, "--job", job, "-o", restored]).exit).toBe(0);
    expect(filesIn(restored)).toEqual(filesIn(SAMPLES));
  });

  it("takes a job with an output folder, too", () => {
    const [output, second] = [join(folder, "out"), copyOfSamples("second-of-out")];
    expect(holotype(["dedup", "-j", "1", SAMPLES, "-o", output]).exit).toBe(0);
    expect(holotype(["commit", join(output, "holotype-job"), "--to", second]).exit).toBe(0);
    expect(filesIn(second)).toEqual(filesIn(output));
    expect(filesIn(SAMPLES)).not.toEqual(filesIn(output));
  });

  it("refuses a copy that is not what the job saw, before a byte changes", () => {
    const other = copyOfSamples("other");
    put(other, NAMES.at(-1)!, withFlippedByte(join(SAMPLES, NAMES.at(-1)!), 700));
    const before = filesIn(other);
    const { exit, err } = holotype(["commit", job, "--to", other]);
    expect(exit).toBe(23);
    expect(err).toContain(`${NAMES.at(-1)}: not what the job's input was`);
    expect(filesIn(other)).toEqual(before);
    rmSync(join(other, NAMES.at(-1)!));
    const { exit: missing, err: said } = holotype(["commit", job, "--to", other]);
    expect(missing).toBe(20);
    expect(said).toContain("name the folder of the copy that answers to it");
    expect(readdirSync(other)).toHaveLength(NAMES.length - 1);
  });

  it("refuses the first copy itself, an output that changed, a job that is not one, and claims", () => {
    const linked = join(folder, "linked");
    mkdirSync(linked);
    for (const name of NAMES) linkSync(join(first, name), join(linked, name));
    expect(holotype(["commit", job, "--to", linked])).toMatchObject({ exit: 2 });
    expect(holotype(["commit", folder, "--to", linked])).toMatchObject({ exit: 20 });
    expect(holotype(["commit", job])).toMatchObject({ exit: 2 });
    const [output, second] = [join(folder, "hurt"), copyOfSamples("second-of-hurt")];
    holotype(["dedup", "-j", "1", SAMPLES, "-o", output]);
    put(output, NAMES[1]!, withFlippedByte(join(output, NAMES[1]!), 300));
    expect(holotype(["commit", join(output, "holotype-job"), "--to", second])).toMatchObject({ exit: 23 });
    expect(filesIn(second)).toEqual(filesIn(SAMPLES));
    const manifest = put(
      folder,
      "known.tsv",
      holotype(["manifest", join(SAMPLES, NAMES[0]!)]).out.replaceAll(SAMPLES, "/gone"),
    );
    const claims = join(folder, "claims");
    const later = NAMES.slice(1).map((name) => join(SAMPLES, name));
    holotype(["dedup", "-j", "1", ...later, "--known", manifest, "-o", claims]);
    const { exit, err } = holotype(["commit", join(claims, "holotype-job"), "--to", second]);
    expect({ exit, claims: err.includes("claims") }).toEqual({ exit: 23, claims: true });
    expect(filesIn(second)).toEqual(filesIn(SAMPLES));
  });
});
