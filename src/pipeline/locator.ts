/**
 * Finds the files that a manifest names: through an index of names and where they lie, by their names as paths, or by
 * their base names in folders, below a URL, or among URLs of files.
 */
import { basename } from "node:path";
import { ArchiveError } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { isUrl } from "./http-source.ts";
import { findInputs, type Input, type SkippedInput, splitName } from "./inputs.ts";
import { readGivenLines } from "./text-lines.ts";

export interface Locator {
  /** The file that a manifest calls by this name; throws where there is none, or more than one. */
  locate(name: string): Input;
}

/** Plain data, so that it can be sent to a worker thread. */
export interface LocatorSettings {
  /** Folders that are searched for files by their base names; a URL that ends in a slash counts as one. */
  readonly folders?: readonly string[] | undefined;
  /** A file of lines: name, tab, path or URL. */
  readonly index?: string | undefined;
}

export function createLocator(disk: Disk, settings: LocatorSettings): Locator {
  return new FileLocator(disk, settings);
}

class FileLocator implements Locator {
  private readonly disk: Disk;
  private readonly settings: LocatorSettings;
  private indexed: ReadonlyMap<string, string> | undefined;
  /** Base names to paths; null where two files have one. */
  private found: ReadonlyMap<string, string | null> | undefined;

  constructor(disk: Disk, settings: LocatorSettings) {
    this.disk = disk;
    this.settings = settings;
  }

  locate(name: string): Input {
    const [file, ...entries] = splitName(this.disk, name);
    const path = this.fromIndex(file) ?? this.asPath(file) ?? this.fromFolders(file);
    if (path === undefined) {
      throw new ArchiveError("HT_NOT_FOUND", `${file}: cannot be found; say where with --folder or --paths`, {
        file: name,
      });
    }
    return { name, path, entries, size: undefined };
  }

  private fromIndex(file: string): string | undefined {
    if (this.settings.index === undefined) return undefined;
    this.indexed ??= this.readIndex(this.settings.index);
    return this.indexed.get(file) ?? this.indexed.get(basename(file));
  }

  private readIndex(path: string): Map<string, string> {
    const map = new Map<string, string>();
    for (const line of readGivenLines(this.disk, path)) {
      const [name, place] = line.split("\t");
      if (name === undefined || place === undefined || place === "") {
        throw new ArchiveError("HT_USAGE", `${path}: not a line of name, tab, path or URL: ${line.slice(0, 80)}`);
      }
      map.set(name, place);
    }
    return map;
  }

  private asPath(file: string): string | undefined {
    return isUrl(file) || this.disk.stat(file)?.kind === "file" ? file : undefined;
  }

  private fromFolders(file: string): string | undefined {
    if (this.settings.folders === undefined) return undefined;
    this.found ??= this.search(this.settings.folders);
    const path = this.found.get(basename(file));
    if (path === undefined) return this.fromUrls(this.settings.folders, basename(file));
    if (path !== null) return path;
    const message = `${file}: more than one file of this name; tell them apart with --paths`;
    throw new ArchiveError("HT_USAGE", message, { file });
  }

  /** Whether a file is there is not known before it is opened, so of several URLs only the first is asked. */
  private fromUrls(folders: readonly string[], name: string): string | undefined {
    const base = folders.find((folder) => isUrl(folder) && folder.endsWith("/"));
    return base === undefined ? undefined : `${base}${encodeURIComponent(name)}`;
  }

  private search(folders: readonly string[]): Map<string, string | null> {
    const map = new Map<string, string | null>();
    const local = folders.filter((folder) => !(isUrl(folder) && folder.endsWith("/")));
    // A bad file in a folder is found when it is asked for; a folder that is not there is a mistake.
    const onSkip = ({ name, error }: SkippedInput) => {
      if (folders.includes(name)) throw error;
    };
    for (const { path } of findInputs(this.disk, local, onSkip)) {
      const name = basename(path);
      const there = map.get(name);
      map.set(name, there === undefined || there === path ? path : null);
    }
    return map;
  }
}
