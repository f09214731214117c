/**
 * The files of an export, on their way: they are made in a folder beside their place, whose name says that it is not
 * finished, and get their names when all of them are complete. What a crash can leave is such a folder, which the next
 * export clears away; or, where it came between the names of several files, some of them, each complete.
 */
import { basename, dirname, join } from "node:path";
import { ArchiveError } from "../../base/index.ts";
import { type Access, type Disk, DurableOutput, type ScratchFolder, scratchFolder } from "../../disk/index.ts";
import { type ByteSource, fileSource } from "../../warc/index.ts";

export class ExportFiles implements Disposable {
  private readonly disk: Disk;
  private readonly access: Access | undefined;
  private readonly folder: string;
  private readonly scratch: ScratchFolder;
  private readonly names: string[] = [];

  /** `target` gives the folder of the files, which must be there; `access` who may read them, at most. */
  constructor(disk: Disk, target: string, access: Access | undefined) {
    this.disk = disk;
    this.access = access;
    this.folder = dirname(target);
    if (disk.stat(this.folder)?.kind !== "folder")
      throw new ArchiveError("HT_NOT_FOUND", `${this.folder}: no such folder`, { file: this.folder });
    this.scratch = scratchFolder(disk, { parent: this.folder });
  }

  /** The folder that is cleared away in the end. */
  get path(): string {
    return this.scratch.path;
  }

  /** Begins a file; `commit` makes it complete, and no more than that. */
  begin(name: string): DurableOutput {
    this.names.push(name);
    return this.scribble(name);
  }

  /** One that is needed on the way only. */
  scribble(name: string): DurableOutput {
    return DurableOutput.begin(this.disk, join(this.scratch.path, name), { access: this.access });
  }

  /** A complete file, to be read. Whoever opens it closes it. */
  open(name: string): ByteSource {
    const file = this.disk.open(join(this.scratch.path, name), "read");
    return { ...fileSource(file, name), close: () => file.close() };
  }

  /** Gives the files their names. Those of an earlier export that have no successor go away. */
  publish(target: "replace" | "refuse", earlier: readonly string[]): string[] {
    const paths = this.names.map((name) => join(this.folder, name));
    for (const [i, path] of paths.entries()) this.disk.rename(join(this.scratch.path, this.names[i]!), path, target);
    for (const path of earlier) if (!this.names.includes(basename(path))) this.disk.remove(path);
    this.disk.syncFolder(this.folder);
    return paths;
  }

  [Symbol.dispose](): void {
    this.scratch.remove();
  }
}

/** How the files of an export are called. */
export interface ExportNames {
  /** `x.warc.gz`: the file, or what those with numbers are called after. */
  readonly target: string;
  /** Whether there are several: `x-00001.warc.gz` and so on. */
  readonly isNumbered: boolean;
  /** Whether it is one file with everything in it. */
  readonly isWacz: boolean;
  /** Whether `x.cdxj` stands beside them. */
  readonly hasIndex: boolean;
}

const ENDING = /(?:\.warc\.gz|\.wacz)$/i;

export function stemOf(target: string): string {
  return basename(target).replace(ENDING, "");
}

/** What records at which other readers stop are called after. */
export function oddStem(stem: string): string {
  return `${stem}.odd`;
}

export function numberedName(stem: string, number: number): string {
  return `${stem}-${String(number).padStart(5, "0")}.warc.gz`;
}

/** What is in the way of an export: files of an earlier one. */
export function filesInTheWay(disk: Disk, { target, isNumbered, isWacz, hasIndex }: ExportNames): string[] {
  const folder = dirname(target);
  if (disk.stat(folder)?.kind !== "folder") return [];
  const stem = stemOf(target);
  const isOf = (name: string) => {
    if (hasIndex && name === `${stem}.cdxj`) return true;
    if (!isNumbered) return name === basename(target) || (!isWacz && name === `${oddStem(stem)}.warc.gz`);
    return [stem, oddStem(stem)].some((each) => {
      const number = name.startsWith(each) ? /^-(\d{5,})\.warc\.gz$/.exec(name.slice(each.length))?.[1] : undefined;
      return number !== undefined && numberedName(each, Number(number)) === name;
    });
  };
  return disk
    .list(folder)
    .filter(({ name }) => isOf(name))
    .map(({ name }) => join(folder, name));
}
