/**
 * An archive that takes the files of a crawl in while it goes on, and says what is known. Its lock is held for one batch
 * only, so that others who write get their turn. A file is removed when the archive has all of it, durably; one that is
 * still there after a crash is added again, which adds nothing twice.
 */
import { join } from "node:path";
import { Archive, ArchiveWriter, type KnownInArchive } from "../archive/index.ts";
import { ArchiveError, type Warning } from "../base/index.ts";
import type { Certainty, KnownCapture, KnownContents, KnownQuestion } from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import type { Input } from "../pipeline/index.ts";

export interface ArchiveFeedOptions {
  readonly disk: Disk;
  /** Of the archive, which is made where there is none. */
  readonly archive: string;
  /** Where the files of the crawl lie. */
  readonly folder: string;
  readonly onWarning: (warning: Warning) => void;
}

const TRIES_MAX = 8;
const TRY_AGAIN_MS = 250;

export class ArchiveFeed implements KnownContents, AsyncDisposable {
  readonly answers: ReadonlySet<KnownQuestion["by"]>;
  /** Captures that the archive took. */
  captures = 0;
  private readonly options: ArchiveFeedOptions;
  private readonly asked: Archive;
  private known: KnownInArchive;
  private waiting: string[] = [];
  private running: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;

  static async open(options: ArchiveFeedOptions): Promise<ArchiveFeed> {
    const { disk, archive } = options;
    {
      await using _made = ArchiveWriter.open(disk, archive, { create: true });
    }
    return new ArchiveFeed(options, await Archive.open(disk, archive));
  }

  private constructor(options: ArchiveFeedOptions, asked: Archive) {
    this.options = options;
    this.asked = asked;
    this.known = asked.known();
    this.answers = this.known.answers;
  }

  /** Answers are plain values: they outlive the state of the archive that they come from. */
  find(questions: readonly KnownQuestion[]): (KnownCapture | undefined)[] {
    return this.known.find(questions).map((capture, i) => capture && toValue(capture, questions[i]!.by === "url"));
  }

  prove(known: KnownCapture): Certainty | undefined {
    return this.known.prove(known);
  }

  /** Has a file added that was sealed. */
  add(name: string): void {
    this.waiting.push(name);
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  private async run(): Promise<void> {
    try {
      while (this.waiting.length > 0 && this.failure === undefined) {
        const batch = this.waiting;
        this.waiting = [];
        await this.addBatch(batch);
      }
    } catch (error) {
      this.failure = { error };
    }
  }

  private async addBatch(names: readonly string[]): Promise<void> {
    const { disk, folder, onWarning } = this.options;
    const inputs = names.map((name): Input => {
      const path = join(folder, name);
      return { name: path, path, entries: [], size: disk.stat(path)?.sizeBytes };
    });
    {
      await using writer = await this.openWriter();
      let skip: ArchiveError | undefined;
      const onSkip = ({ error }: { readonly error: ArchiveError }) => {
        skip ??= error;
      };
      const { captures, damaged } = await writer.add(inputs, { onSkip });
      this.captures += captures;
      if (skip !== undefined) throw skip;
      // Whatever is wrong with the file, it is all that there is of its captures.
      if (damaged > 0) {
        onWarning({ code: "HT_CORRUPT", message: "not all of it could be added", file: inputs[0]!.name, offset: 0 });
        return;
      }
    }
    for (const { path } of inputs) disk.remove(path);
    disk.syncFolder(folder);
    await this.refresh();
  }

  private async openWriter(): Promise<ArchiveWriter> {
    const { disk, archive, onWarning } = this.options;
    for (let round = 1; ; round++) {
      try {
        return ArchiveWriter.open(disk, archive, { onWarning });
      } catch (error) {
        const isHeld = error instanceof ArchiveError && error.code === "HT_LOCKED";
        if (!isHeld || round === TRIES_MAX) throw error;
        await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS * 2 ** (round - 1)));
      }
    }
  }

  private async refresh(): Promise<void> {
    if (!(await this.asked.refresh())) return;
    const before = this.known;
    this.known = this.asked.known();
    before[Symbol.dispose]();
  }

  /** Resolves when all that was given is in the archive. */
  async finish(): Promise<void> {
    while (this.running !== undefined) await this.running;
    if (this.failure !== undefined) throw this.failure.error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    while (this.running !== undefined) await this.running;
    this.known[Symbol.dispose]();
    await this.asked[Symbol.asyncDispose]();
  }
}

/** Validators are read from the record, so only where they are wanted. */
function toValue(capture: KnownCapture, withValidators: boolean): KnownCapture {
  const { uri, timeMs, digests, payloadSize, framing, status, mime, origin, certainty, original } = capture;
  return {
    uri,
    timeMs,
    digests,
    payloadSize,
    framing,
    status,
    mime,
    origin,
    certainty,
    original: original && { uri: original.uri, date: original.date, id: original.id },
    ...(withValidators ? { etag: capture.etag, lastModified: capture.lastModified } : {}),
  };
}
