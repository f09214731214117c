/** Small archives in temporary folders, and what is exported from them. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ArchiveWriter, type ExportOptions, type ExportReport, exportArchive } from "../../src/archive/index.ts";
import type { Warning } from "../../src/base/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs } from "../../src/pipeline/index.ts";
import type { ArchiveFile } from "../../src/testing/dedup-trial.ts";
import { type HeldRecord, readRecords } from "../../src/testing/deduplicated.ts";

export interface Trial extends Disposable {
  readonly folder: string;
  readonly archive: string;
  readonly warnings: Warning[];
  add(files: readonly ArchiveFile[], how?: "add" | "adopt"): Promise<void>;
  /** To `out/NAME`. */
  export(name: string, options?: Partial<ExportOptions>): Promise<ExportReport>;
  /** What is in the folder of exports. */
  outputs(): string[];
  read(name: string): Buffer;
  records(name: string): HeldRecord[];
}

const NOW_MS = Date.UTC(2026, 0, 1);

export function trial(): Trial {
  const folder = mkdtempSync(join(tmpdir(), "holotype-export-"));
  const [archive, out] = [join(folder, "archive"), join(folder, "out")];
  const warnings: Warning[] = [];
  mkdirSync(out);
  let batches = 0;
  const read = (name: string) => readFileSync(join(out, name));
  return {
    folder,
    archive,
    warnings,
    async add(files, how = "add") {
      const input = join(folder, `in-${++batches}`);
      mkdirSync(input);
      for (const { name, bytes } of files) writeFileSync(join(input, name), bytes);
      await using writer = ArchiveWriter.open(nodeDisk, archive, { create: true });
      await writer[how](
        findInputs(nodeDisk, [input], () => {}),
        { threads: 1 },
      );
    },
    async export(name, options = {}) {
      return await exportArchive(nodeDisk, archive, {
        selection: {},
        description: "all",
        output: join(out, name),
        format: name.endsWith(".wacz") ? "wacz" : "warc",
        software: "test",
        clock: { now: () => NOW_MS },
        onWarning: (warning) => void warnings.push(warning),
        ...options,
      });
    },
    outputs: () => readdirSync(out).sort(),
    read,
    records: (name) => readRecords({ name, bytes: read(name) }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export const isCapture = ({ type }: HeldRecord) => type === "response" || type === "resource" || type === "revisit";

/** The full record of an export that a revisit in it leads to, as replay tools find it. */
export function originalOf(revisit: HeldRecord, records: readonly HeldRecord[]): HeldRecord | undefined {
  return records.find(
    ({ type, uri, date }) =>
      (type === "response" || type === "resource") && uri === revisit.refersTo?.uri && date === revisit.refersTo?.date,
  );
}
