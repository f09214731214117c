/** The names on the forgetful disk: a tree of folders, and which of their changes a power cut may undo. */
import { posix } from "node:path";
import { ArchiveError } from "../base/index.ts";
import type { Dice } from "./dice.ts";
import { type Fate, ForgetfulContent } from "./forgetful-content.ts";
import { Journal } from "./journal.ts";

export interface FileNode {
  readonly kind: "file";
  readonly id: number;
  readonly content: ForgetfulContent;
  readonly permissions: number;
  modifiedMs: number;
}

export interface FolderNode {
  readonly kind: "folder";
  readonly id: number;
  readonly entries: Map<string, Node>;
}

export type Node = FileNode | FolderNode;

/** One name that leads to `node`, or nowhere. */
interface NameChange {
  readonly folder: FolderNode;
  readonly name: string;
  readonly node: Node | undefined;
}

/** Changes of names that happen together or not at all, and the folders that are to be synced before they are sure. */
interface Step {
  readonly changes: readonly NameChange[];
  readonly unsynced: Set<FolderNode>;
}

let nodeCount = 0;

export function newFolder(): FolderNode {
  return { kind: "folder", id: ++nodeCount, entries: new Map() };
}

export function newFile(content: ForgetfulContent, modifiedMs: number, permissions = 0o644): FileNode {
  return { kind: "file", id: ++nodeCount, content, permissions, modifiedMs };
}

function absent(path: string): ArchiveError {
  return new ArchiveError("HT_NOT_FOUND", `${path}: not there`, { file: path });
}

export class ForgetfulNames {
  readonly root: FolderNode;
  readonly #journal = new Journal<Step>();

  constructor(root: FolderNode = newFolder()) {
    this.root = root;
    // What is there at the beginning is durable.
    this.#adopt(root);
    this.#journal.settle("durable");
  }

  find(path: string): Node | undefined {
    let node: Node | undefined = this.root;
    for (const name of posix.resolve("/", path).split("/")) {
      if (name !== "") node = node?.kind === "folder" ? node.entries.get(name) : undefined;
    }
    return node;
  }

  folder(path: string): FolderNode {
    const node = this.find(path);
    if (node?.kind !== "folder") throw absent(path);
    return node;
  }

  existing(path: string): Node {
    const node = this.find(path);
    if (node === undefined) throw absent(path);
    return node;
  }

  /** Where a path's last name stands; the folder must be there. */
  slot(path: string): { folder: FolderNode; name: string } {
    const whole = posix.resolve("/", path);
    return { folder: this.folder(posix.dirname(whole)), name: posix.basename(whole) };
  }

  /** Makes changes at once that no power cut can tear apart. */
  change(...changes: readonly NameChange[]): void {
    for (const { folder, name, node } of changes) {
      if (node === undefined) folder.entries.delete(name);
      else folder.entries.set(name, node);
    }
    this.#journal.add({ changes, unsynced: new Set(changes.map(({ folder }) => folder)) });
  }

  sync(folder: FolderNode): void {
    this.#journal.settle("durable", this.#journal.length, (step) => {
      step.unsynced.delete(folder);
      return step.unsynced.size === 0;
    });
  }

  /** A new tree with the names, and in its files the bytes, that a power cut leaves. */
  afterPowerCut(names: Fate, data: Fate, dice: Dice): FolderNode {
    const found = new Map<FolderNode, Map<string, Node>>();
    const apply = ({ changes }: Step) => {
      for (const { folder, name, node } of changes) {
        const entries = found.get(folder) ?? new Map<string, Node>();
        found.set(folder, entries);
        if (node === undefined) entries.delete(name);
        else entries.set(name, node);
      }
    };
    this.#journal.replay(apply, (step) => {
      if (names === "keep" || (names === "tear" && dice.coin())) apply(step);
    });
    const copies = new Map<FileNode, FileNode>();
    const copyFile = (node: FileNode): FileNode => {
      const present = copies.get(node);
      if (present !== undefined) return present;
      // As old as can be: nothing on a disk that was switched off is of this process.
      const copy = newFile(new ForgetfulContent(node.content.afterPowerCut(data, dice)), 0, node.permissions);
      copies.set(node, copy);
      return copy;
    };
    const copyFolder = (folder: FolderNode): FolderNode => {
      const copy = newFolder();
      for (const [name, node] of found.get(folder) ?? []) {
        copy.entries.set(name, node.kind === "file" ? copyFile(node) : copyFolder(node));
      }
      return copy;
    };
    return copyFolder(this.root);
  }

  #adopt(folder: FolderNode): void {
    for (const [name, node] of folder.entries) {
      this.change({ folder, name, node });
      if (node.kind === "folder") this.#adopt(node);
    }
  }
}
