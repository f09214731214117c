/**
 * Everything that follows from the segments and the journal, made anew beside the old catalogue and timeline, which answer
 * until it is complete. Whatever stops it, they still do.
 */
import type { Disk } from "../disk/index.ts";
import type { Input } from "../pipeline/index.ts";
import { ArchiveCore, type WriterOptions } from "./archive-core.ts";
import { loadForInputs } from "./load-zstd.ts";
import type { SegmentEntry } from "./segment-entry.ts";
import { adoptedInput, listSegments, segmentPath } from "./segments.ts";
import { type TakeOptions, takeFacts } from "./take-facts.ts";

export async function rebuildArchive(
  disk: Disk,
  folder: string,
  options: WriterOptions & TakeOptions,
): Promise<{ readonly captures: number; readonly contents: number }> {
  const core = ArchiveCore.beginAnew(disk, folder, options);
  try {
    const { catalogue, paths } = core;
    const files = new Map<number, Input>();
    for (const number of listSegments(disk, paths.segments)) {
      const path = segmentPath(paths.segments, number);
      files.set(number, adoptedInput(path, disk.stat(path)!.sizeBytes));
    }
    for (const { number, row } of catalogue.segments()) {
      const { adopted } = row;
      if (adopted !== undefined && disk.stat(adopted.path.split("!")[0]!) !== undefined) {
        files.set(number, adoptedInput(adopted.path, adopted.size));
      }
    }
    const numbers = [...files.keys()].sort((one, other) => one - other);
    const inputs = numbers.map((number) => files.get(number)!);
    await loadForInputs(disk, inputs);
    let at = -1;
    let end = 0;
    let entry: SegmentEntry | undefined;
    const removed: Buffer[] = [];
    await takeFacts(core, inputs, options, {
      begin: (input) => {
        at = inputs.indexOf(input, at + 1);
        const adopted = catalogue.segment(numbers[at]!)?.adopted;
        const source = adopted === undefined ? core.lastSource() : core.lastSource() + 1;
        if (adopted !== undefined) catalogue.putSource(source, { name: adopted.path, addedMs: core.clock.now() });
        end = 0;
        entry = core.segmentEntry(numbers[at]!, source);
      },
      take: (facts) => {
        entry!.take(facts);
        if (facts.damaged === undefined && facts.length !== undefined) end = facts.offset + facts.length;
      },
      end: (input) => {
        entry!.end();
        removed.push(...entry!.removedDigests);
        const adopted = catalogue.segment(numbers[at]!)?.adopted;
        if (adopted === undefined) core.endSegment(numbers[at]!, end, true);
        else catalogue.putSegment(numbers[at]!, { adopted, end: input.size! });
      },
    });
    core.complete();
    core.drop(removed);
    const { captures, contents } = catalogue.state;
    return { captures, contents };
  } finally {
    await core.close();
  }
}
