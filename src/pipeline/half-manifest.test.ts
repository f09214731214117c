import { describe, expect, test } from "vitest";
import { captureBytes, noise, packRecords, recordBytes } from "../testing/capture-text.ts";
import { getFile, putFile } from "../testing/dedup-trial.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { HalfManifest } from "./half-manifest.ts";
import { findInputs } from "./inputs.ts";
import { runTask } from "./run.ts";

const capture = (file: string, i: number) =>
  captureBytes({
    uri: `http://${file}.example/\u00fc/${i}`,
    date: `2020-01-0${i}T00:00:00Z`,
    payload: noise(`${file} ${i}`, 50),
  });
const INFO = recordBytes(["WARC/1.0", "WARC-Type: warcinfo"], "nothing to list");

function diskWithFiles(): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  putFile(disk, "/in/a.warc.gz", packRecords([INFO, capture("a", 1), capture("a", 2)]));
  putFile(disk, "/in/b \u00e9.warc.gz", packRecords([capture("b", 1)]));
  // Between two that have lines, one that has none.
  putFile(disk, "/in/c.warc.gz", packRecords([INFO]));
  putFile(disk, "/in/d.warc.gz", packRecords([capture("d", 1), capture("d", 2), capture("d", 3)]));
  return disk;
}

const ALL = ["/in/a.warc.gz", "/in/b \u00e9.warc.gz", "/in/c.warc.gz", "/in/d.warc.gz"];

/** Goes on with `/m.tsv` as it is. Gives how many inputs had to be read. */
async function resume(disk: ForgetfulDisk, names: readonly string[]): Promise<number> {
  using half = new HalfManifest(disk, "/m.tsv");
  const inputs = half.restart(
    findInputs(disk, names, ({ error }) => {
      throw error;
    }),
  );
  await runTask(disk, inputs, { kind: "manifest", options: { digest: "sha256" } }, { threads: 1, onText: half.write });
  half.finish();
  return inputs.length;
}

async function whole(names: readonly string[]): Promise<Buffer> {
  const disk = diskWithFiles();
  expect(await resume(disk, names)).toBe(names.length);
  return getFile(disk, "/m.tsv");
}

describe("a manifest cut at any byte", () => {
  test.each([
    ["each file once", ALL, 1],
    ["one file", [ALL[3]!], 3],
    ["files that are named twice", [ALL[0]!, ALL[3]!, ALL[0]!, ALL[1]!, ALL[1]!, ALL[0]!], 7],
  ])("is made whole again: %s", async (_, names, step) => {
    const wanted = await whole(names);
    const disk = diskWithFiles();
    for (let size = 0; size <= wanted.length; size += step) {
      putFile(disk, "/m.tsv", wanted.subarray(0, size));
      await resume(disk, names);
      expect(getFile(disk, "/m.tsv").equals(wanted), `cut at ${size}`).toBe(true);
    }
  });

  test("reads only what is missing, and the last file again", async () => {
    const wanted = await whole(ALL);
    const disk = diskWithFiles();
    const firstOfD = wanted.indexOf("/in/d.warc.gz");
    const counts = [0, firstOfD - 1, firstOfD, wanted.length].map(async (size) => {
      const own = diskWithFiles();
      putFile(own, "/m.tsv", wanted.subarray(0, size));
      return await resume(own, ALL);
    });
    expect(disk.stat("/m.tsv")).toBeUndefined();
    // Right before the first line of d, b is the last that is there: whether it is all there cannot be seen.
    expect(await Promise.all(counts)).toEqual([4, 4, 3, 1]);
  });
});

test("lines behind a cut that goes through a character of many bytes", async () => {
  const wanted = await whole(ALL);
  const disk = diskWithFiles();
  const at = wanted.indexOf("\u00e9") + 1;
  putFile(disk, "/m.tsv", wanted.subarray(0, at));
  await resume(disk, ALL);
  expect(getFile(disk, "/m.tsv").equals(wanted)).toBe(true);
});

test.each([
  ["a file that is no manifest", "Dear diary,\ntoday\n", "not a manifest"],
  ["a manifest of other files", `${Array(12).fill("x").join("\t")}\n`, "not among the files"],
])("%s is refused and left as it is", async (_, text, message) => {
  const disk = diskWithFiles();
  putFile(disk, "/m.tsv", Buffer.from(text));
  await expect(resume(disk, ALL)).rejects.toThrow(message);
  expect(getFile(disk, "/m.tsv").toString()).toBe(text);
});

test("lines in another order than the files are refused", async () => {
  const wanted = await whole([ALL[3]!, ALL[0]!]);
  const disk = diskWithFiles();
  putFile(disk, "/m.tsv", wanted);
  await expect(resume(disk, ALL)).rejects.toMatchObject({ code: "HT_USAGE" });
  expect(getFile(disk, "/m.tsv").equals(wanted)).toBe(true);
});
