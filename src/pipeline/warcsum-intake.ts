/**
 * Makes lines of ours of those that the original warcsum wrote. What its six fields do not tell (the size of the payload,
 * its framing, the flaws of the record) is read from the record itself, and the digest is computed again: a line whose
 * record is not there, or another, is named and left out.
 */
import { ArchiveError, DIGEST_ALGORITHMS, type DigestAlgorithm, parseDigest, type Warning } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { type ByteSource, loadZstd, WarcReader } from "../warc/index.ts";
import { openInput } from "./inputs.ts";
import { createLocator, type Locator, type LocatorSettings } from "./locator.ts";
import { createManifest } from "./manifest.ts";
import { type ManifestLine, parseManifestLine } from "./manifest-line.ts";
import { Spool } from "./spool.ts";
import type { ManifestText } from "./stages.ts";
import type { RecordTask } from "./task.ts";
import { isWarcsumLine, parseWarcsumLine, type WarcsumLine } from "./warcsum-line.ts";

export class WarcsumIntake implements Disposable {
  private readonly disk: Disk;
  private readonly settings: LocatorSettings;
  /** Made when the first line needs it. */
  private locator: Locator | undefined;
  private readonly spool: Spool;
  private readonly tasks: ReadonlyMap<DigestAlgorithm, RecordTask>;
  private readonly onWarning: (warning: Warning) => void;
  private open: { readonly name: string; readonly source: ByteSource } | undefined;

  private constructor(
    disk: Disk,
    settings: LocatorSettings,
    tasks: ReadonlyMap<DigestAlgorithm, RecordTask>,
    onWarning: (warning: Warning) => void,
  ) {
    this.disk = disk;
    this.settings = settings;
    this.spool = new Spool(disk);
    this.tasks = tasks;
    this.onWarning = onWarning;
  }

  static async create(
    disk: Disk,
    settings: LocatorSettings,
    onWarning: (warning: Warning) => void,
  ): Promise<WarcsumIntake> {
    await loadZstd();
    const tasks = new Map<DigestAlgorithm, RecordTask>();
    for (const digest of DIGEST_ALGORITHMS) tasks.set(digest, await createManifest({ digest }));
    return new WarcsumIntake(disk, settings, tasks, onWarning);
  }

  /** The manifest with lines of ours only. */
  complete({ name, lines }: ManifestText): ManifestText {
    return { name, lines: this.completed(name, lines) };
  }

  private *completed(name: string, lines: Iterable<string>): Generator<string> {
    let number = 0;
    for (const text of lines) {
      number++;
      if (!isWarcsumLine(text)) {
        yield text;
        continue;
      }
      try {
        yield this.read(parseWarcsumLine(text, `${name}:${number}`));
      } catch (error) {
        if (!(error instanceof ArchiveError) || error.code === "HT_NO_SPACE") throw error;
        this.onWarning({ code: error.code, message: `line ${number}: ${error.message}`, file: name, offset: 0 });
      }
    }
  }

  private read(wanted: WarcsumLine): string {
    const { file, offset } = wanted;
    const task = this.tasks.get(wanted.digest.algorithm)!;
    const reader = new WarcReader(this.sourceOf(file), { start: offset });
    try {
      const record = reader.next();
      task.beginFile?.(file);
      const text = record?.offset === offset ? task.record(record, () => {}).trimEnd() : "";
      const line = text === "" ? undefined : parseManifestLine(text, file);
      if (line !== undefined && isMeant(line, wanted)) return text;
    } finally {
      reader.close();
    }
    const message = `${file}:${offset}: no response with this URI, date, length and digest`;
    throw new ArchiveError("HT_VERIFY", message, { file, offset });
  }

  private sourceOf(name: string): ByteSource {
    if (this.open?.name !== name) {
      this.close();
      this.locator ??= createLocator(this.disk, this.settings);
      this.open = { name, source: openInput(this.disk, this.spool.take(this.locator.locate(name))) };
    }
    return this.open.source;
  }

  private close(): void {
    this.open?.source.close?.();
    this.open = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
    this.spool[Symbol.dispose]();
  }
}

/** URIs are compared as they stand in a line of warcsum, in which a blank may have been encoded. */
function isMeant(line: ManifestLine, { length, uri, date, digest }: WarcsumLine): boolean {
  const found = line.digest === undefined ? undefined : parseDigest(line.digest);
  const isSame = found?.algorithm === digest.algorithm && found.hex === digest.hex && line.length === length;
  return isSame && line.date === date && line.uri?.replaceAll(" ", "%20") === uri.replaceAll(" ", "%20");
}
