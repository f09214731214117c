/**
 * Which former content keys lead to which block of this volume since a migration: one small file for each signature
 * that has any, in a tree like that of the blocks. Obeys docs/format/tree-volume.md.
 */
import { dirname, join } from "node:path";
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { BlockAddress } from "../content-key.ts";
import type { FileParts } from "./block-files.ts";
import type { TreeFolders } from "./folders.ts";
import type { IncomingFiles } from "./incoming.ts";
import { formerFolder, sig2location } from "./location.ts";

const TITLE = "holotype-former-keys 1";

/** Overflow numbers by former keys. */
export type Former = ReadonlyMap<string, number>;

export class FormerKeys {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly depth: number;
  private readonly folders: TreeFolders;
  private readonly incoming: IncomingFiles;

  constructor({ disk, folder, depth, folders, incoming }: FileParts) {
    this.disk = disk;
    this.folder = formerFolder(folder);
    this.depth = depth;
    this.folders = folders;
    this.incoming = incoming;
  }

  private path(signature: string): string {
    return join(this.folder, ...sig2location(signature, this.depth));
  }

  /** Those of one signature. Throws HT_CORRUPT. */
  of(signature: string): Former {
    const path = this.path(signature);
    const present = this.disk.stat(path);
    if (present === undefined) return new Map();
    using file = this.disk.open(path, "read");
    const bytes = Buffer.alloc(present.sizeBytes);
    const former = parseFormer(bytes.toString("latin1", 0, file.read(bytes, 0)), signature);
    if (former !== undefined) return former;
    throw new ArchiveError("HT_CORRUPT", `${path}: not a list of former keys`, { file: path });
  }

  leadingTo({ signature, overflow }: BlockAddress): string[] {
    return [...this.of(signature)].flatMap(([key, target]) => (target === overflow ? [key] : []));
  }

  /** Lets keys lead to a block, and those that led there go before, where it is a new one or gone. Durable. */
  change({ signature, overflow }: BlockAddress, keys: readonly string[], fresh: boolean): void {
    if (keys.length === 0 && !fresh) return;
    const before = this.of(signature);
    const after = new Map([...before].filter(([, target]) => !(fresh && target === overflow)));
    for (const key of keys) after.set(key, overflow);
    if (sameMap(before, after)) return;
    const path = this.path(signature);
    if (after.size === 0) {
      this.disk.remove(path);
      this.disk.syncFolder(dirname(path));
      return;
    }
    const lines = [TITLE, ...[...after].map(([key, target]) => `${key} ${target}`)];
    this.folders.make(dirname(path));
    this.incoming.put(path, Buffer.from(`${lines.join("\n")}\n`, "latin1"));
  }

  /** The same once more, where it may have been done and is not durable. */
  redo(address: BlockAddress, keys: readonly string[], fresh: boolean): void {
    if (keys.length === 0 && !fresh) return;
    this.change(address, keys, fresh);
    const folder = dirname(this.path(address.signature));
    if (this.disk.stat(folder) !== undefined) this.disk.syncFolder(folder);
  }
}

/** Absent for what is not a list of former keys of this signature. */
export function parseFormer(text: string, signature: string): Former | undefined {
  const lines = text.split("\n");
  if (lines.length < 3 || lines[0] !== TITLE || lines.at(-1) !== "") return undefined;
  const former = new Map<string, number>();
  for (const line of lines.slice(1, -1)) {
    const match = /^([0-9]+-([0-9A-F]+)(?:-[0-9]+)?) (0|[1-9][0-9]{0,9})$/.exec(line);
    if (match?.[2] !== signature) return undefined;
    former.set(match[1]!, Number(match[3]));
  }
  return former;
}

function sameMap(one: Former, other: Former): boolean {
  return one.size === other.size && [...one].every(([key, value]) => other.get(key) === value);
}
