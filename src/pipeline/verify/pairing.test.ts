import { describe, expect, it } from "vitest";
import { captureBytes } from "../../testing/capture-text.ts";
import { putFile } from "../../testing/dedup-trial.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { nameInputs, pairFiles } from "./pairing.ts";

const record = captureBytes({ uri: "http://a.example/", date: "2020-01-01T00:00:00Z", payload: "a" });

/** Pairs of names, for files that lie on a disk. */
function pairsOf(files: readonly string[], names: readonly string[], originals: readonly string[]) {
  const disk = new ForgetfulDisk();
  for (const path of files) putFile(disk, path, record);
  const onSkip = ({ error }: { error: Error }) => {
    throw error;
  };
  const [here, there] = [nameInputs(disk, names, onSkip), nameInputs(disk, originals, onSkip)];
  const { originalOf, lost, added } = pairFiles(here, there);
  return {
    pairs: [...originalOf]
      .map(([file, original]) => [here[file]!.input.name, there[original]!.input.name])
      .sort((a, b) => (a.join() < b.join() ? -1 : 1)),
    lost: lost.map((i) => there[i]!.input.name),
    added: added.map((i) => here[i]!.input.name),
  };
}

describe("files are matched", () => {
  it("by their paths from the named folders", () => {
    const files = ["/out/x.warc", "/out/sub/x.warc", "/sub/x.warc", "/sub/sub/x.warc"];
    expect(pairsOf(files, ["/out"], ["/sub"])).toEqual({
      pairs: [
        ["/out/sub/x.warc", "/sub/sub/x.warc"],
        ["/out/x.warc", "/sub/x.warc"],
      ],
      lost: [],
      added: [],
    });
  });

  it("by the base name, where that is enough", () => {
    const files = ["/out/deep/x.warc", "/out/y.warc", "/in/x.warc", "/in/far/y.warc"];
    expect(pairsOf(files, ["/out/"], ["/in"]).pairs).toEqual([
      ["/out/deep/x.warc", "/in/x.warc"],
      ["/out/y.warc", "/in/far/y.warc"],
    ]);
  });

  it("by as much of their paths as is needed", () => {
    const files = ["/out/a/x.warc", "/out/b/x.warc", "/in/1/a/x.warc", "/in/2/b/x.warc"];
    expect(pairsOf(files, ["/out"], ["/in"]).pairs).toEqual([
      ["/out/a/x.warc", "/in/1/a/x.warc"],
      ["/out/b/x.warc", "/in/2/b/x.warc"],
    ]);
    expect(pairsOf(files, ["/out/a/x.warc", "/out/b/x.warc"], ["/in/1/a", "/in/2/b"]).pairs).toHaveLength(2);
  });

  it("and told where there is none, or no telling which", () => {
    const files = ["/out/x.warc", "/out/z.warc", "/in/a/x.warc", "/in/b/x.warc"];
    expect(pairsOf(files, ["/out"], ["/in"])).toEqual({
      pairs: [],
      lost: ["/in/a/x.warc", "/in/b/x.warc"],
      added: ["/out/x.warc", "/out/z.warc"],
    });
  });

  it("once, however often they are named", () => {
    const files = ["/out/x.warc", "/in/x.warc"];
    expect(pairsOf(files, ["/out", "/out/x.warc", "/out"], ["/in"])).toEqual({
      pairs: [["/out/x.warc", "/in/x.warc"]],
      lost: [],
      added: [],
    });
  });
});
