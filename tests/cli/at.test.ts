import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { noise } from "../../src/testing/capture-text.ts";
import { SEGMENTED_PAYLOAD, SEGMENTED_URL, segments } from "../../src/testing/segmented-text.ts";
import { response, warcFile } from "./archives.ts";
import { holotype, holotypeBytes, put, temporaryFolder } from "./holotype.ts";

function archiveOf(name: string, bytes: Buffer): string {
  const folder = temporaryFolder();
  const archive = join(folder, "archive");
  put(folder, name, bytes);
  expect(holotype(["add", "-j", "1", join(folder, name), "--archive", archive]).exit).toBe(0);
  return archive;
}

function segmentOf(archive: string): string {
  const folder = join(archive, "volumes", "0", "segments");
  return join(folder, readdirSync(folder)[0]!);
}

describe("holotype at", () => {
  it("joins a capture that was split over several records", () => {
    const archive = archiveOf("whole.warc.gz", Buffer.concat(segments().map((each) => gzipSync(each))));
    const { exit, out, err } = holotypeBytes(["at", SEGMENTED_URL, "2020", "-o", "-", "--archive", archive]);
    expect([exit, err]).toEqual([0, ""]);
    expect(out.equals(SEGMENTED_PAYLOAD)).toBe(true);
    const shown = holotype(["at", SEGMENTED_URL, "2020", "--archive", archive]).out;
    expect(shown).toMatch(new RegExp(`^size +${SEGMENTED_PAYLOAD.length}$`, "m"));
    expect(shown).toMatch(/^flag +segmented$/m);
  });

  it("says which of its segments is missing", () => {
    const [first, , third] = segments();
    const archive = archiveOf("part.warc.gz", Buffer.concat([gzipSync(first), gzipSync(third)]));
    const { exit, out, err } = holotypeBytes(["at", SEGMENTED_URL, "2020", "-o", "-", "--archive", archive]);
    expect([exit, err]).toEqual([3, "holotype: incomplete: segment 2 is not in the archive\n"]);
    expect(SEGMENTED_PAYLOAD.subarray(0, out.length).equals(out)).toBe(true);
    const shown = holotype(["at", SEGMENTED_URL, "2020", "--archive", archive]);
    expect(shown.exit).toBe(3);
    expect(shown.out).toMatch(/^missing +segment 2 is not in the archive$/m);
    const output = join(archive, "..", "out.warc.gz");
    const exported = holotype(["export", "--all", "-o", output, "--archive", archive]);
    expect(exported.exit).toBe(3);
    expect(exported.out).toMatch(/^captures +1, 1 with segments missing$/m);
  });

  it.each([1 << 20, 9 << 20])("prints nothing of a payload of %d bytes that is not proven", (size) => {
    const url = "http://large.example/";
    const archive = archiveOf("large.warc.gz", warcFile([response(url, noise("large", size))]));
    const segment = segmentOf(archive);
    const bytes = readFileSync(segment);
    bytes[bytes.length - 1000]! ^= 1;
    writeFileSync(segment, bytes);
    const { exit, out, err } = holotypeBytes(["at", url, "2020", "-o", "-", "--archive", archive]);
    expect([exit, out.length]).toEqual([23, 0]);
    expect(err).toContain(segment);
  });

  it("calls a segment that is gone damage, and names it", () => {
    const archive = archiveOf("one.warc.gz", warcFile([response("http://a.example/", "one")]));
    const segment = segmentOf(archive);
    rmSync(segment);
    for (const args of [
      ["at", "http://a.example/", "2021"],
      ["export", "--all", "-o", join(archive, "..", "x.warc.gz")],
    ]) {
      const { exit, err } = holotype([...args, "--archive", archive]);
      expect(exit).toBe(23);
      expect(err).toContain(segment);
    }
  });
});
