/** Where a block lies in a tree, after the report on Webstore. Obeys docs/format/tree-volume.md. */
import { join } from "node:path";
import { type BlockAddress, parseAddress } from "../content-key.ts";

/**
 * The first `depth` - 1 bytes of the signature name the folders, the rest the file: in a tree of depth 3
 * ADEE2232AF3A4355 lies at AD/EE/2232AF3A4355.
 */
export function sig2location(signature: string, depth: number): string[] {
  const folders = Array.from({ length: depth - 1 }, (_, i) => signature.slice(2 * i, 2 * i + 2));
  return [...folders, signature.slice(2 * (depth - 1))];
}

/** The path below the folder of blocks; of an overflow block with its number behind the file's name. */
export function blockLocation({ signature, overflow }: BlockAddress, depth: number): string {
  const location = sig2location(signature, depth).join("/");
  return overflow === 0 ? location : `${location}-${overflow}`;
}

/** The address that lies at a path of folders and a file; absent where there can be none. */
export function addressAt(folders: readonly string[], name: string, signatureSize: number): BlockAddress | undefined {
  const address = parseAddress(folders.join("") + name);
  if (address === undefined || address.signature.length !== 2 * signatureSize) return undefined;
  // Small letters and leading zeros would be another name for the same block.
  const canonical = `${address.signature}${address.overflow === 0 ? "" : `-${address.overflow}`}`;
  return canonical === folders.join("") + name ? address : undefined;
}

export const blocksFolder = (folder: string): string => join(folder, "blocks");
export const formerFolder = (folder: string): string => join(folder, "former");
export const incomingFolder = (folder: string): string => join(folder, "incoming");
export const journalFolder = (folder: string): string => join(folder, "journal");
