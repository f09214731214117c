/**
 * A random sample of the records that dedup replaced, each shown by what its revisit leads to: for people who want to
 * look at some of them. Which ones are drawn is up to a hash of their places, so that the same seed draws the same.
 */
import { createHash } from "node:crypto";
import { loadDigest } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { loadZstd } from "../../warc/index.ts";
import type { Input } from "../inputs.ts";
import { readTextLines } from "../text-lines.ts";
import type { RebuildPair } from "./closure.ts";
import type { FoundProblem } from "./problems.ts";
import { Rebuilder } from "./rebuild.ts";

/** A replaced record, and the original whose payload stands for its own. */
export interface SampledRecord {
  readonly file: string;
  readonly offset: number;
  readonly uri: string | undefined;
  readonly date: string | undefined;
  readonly original: { readonly file: string; readonly offset: number };
  /** Of the payload that the revisit leads to; absent where that cannot be read. */
  readonly payload: { readonly size: number; readonly digest: string } | undefined;
  /** The record whose place the revisit took came back, byte for byte. */
  readonly proven: boolean;
  /** Why it did not. */
  readonly problem: string | undefined;
}

interface Drawn {
  readonly rank: string;
  readonly text: string;
}

/** Draws up to `count` of the pairs in a file of lines, in the order of the places of their revisits. */
export async function drawSample(
  disk: Disk,
  pairs: string,
  inputs: readonly Input[],
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<SampledRecord[]> {
  await Promise.all([loadZstd(), loadDigest("blake3")]);
  const chosen = draw(readTextLines(disk, pairs), count, seed).map(({ text }) => JSON.parse(text) as RebuildPair);
  const problems: FoundProblem[] = [];
  using rebuilder = new Rebuilder(disk, inputs, (problem) => void problems.push(problem));
  const sorted = chosen.sort(
    (one, other) => one.revisit.file - other.revisit.file || one.revisit.offset - other.revisit.offset,
  );
  return sorted.map((pair) => {
    const [provenBefore, problemsBefore] = [rebuilder.proven, problems.length];
    rebuilder.prove(pair);
    const { revisit, original } = pair;
    return {
      file: inputs[revisit.file]!.name,
      offset: revisit.offset,
      ...rebuilder.describe(pair),
      original: { file: inputs[original.file]!.name, offset: original.offset },
      proven: rebuilder.proven > provenBefore,
      problem: problems[problemsBefore]?.message,
    };
  });
}

function draw(lines: Iterable<string>, count: number, seed: number): Drawn[] {
  let drawn: Drawn[] = [];
  const trim = () => {
    drawn = drawn.sort((one, other) => (one.rank < other.rank ? -1 : 1)).slice(0, count);
  };
  for (const line of lines) {
    const text = line.slice(line.indexOf("{"));
    const { file, offset, inner = 0 } = (JSON.parse(text) as RebuildPair).revisit;
    drawn.push({ rank: createHash("sha256").update(`${seed} ${file} ${offset} ${inner}`).digest("hex"), text });
    if (drawn.length > 2 * count + 1000) trim();
  }
  trim();
  return drawn;
}
