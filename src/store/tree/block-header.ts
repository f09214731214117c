/**
 * The header of a block file: 128 bytes of ASCII, lines that a person can read, so that `head -c 128` shows it and the
 * data begins at a place that is always the same. Obeys docs/format/tree-volume.md.
 */
import { ArchiveError } from "../../base/index.ts";
import { BLOCK_VERSION, REFERENCES_MAX } from "../volume.ts";

export const HEADER_SIZE = 128;

/** `gap` keeps the place of a block that was removed while there are blocks with higher overflow numbers. */
export type BlockState = "held" | "leaving" | "gap";

export interface BlockHeader {
  readonly compression: string;
  readonly size: number;
  readonly storedSize: number;
  readonly references: number;
  readonly state: BlockState;
}

export const GAP: BlockHeader = { compression: "none", size: 0, storedSize: 0, references: 0, state: "gap" };

export function formatHeader({ compression, size, storedSize, references, state }: BlockHeader): Buffer {
  const lines = [
    `holotype-block ${BLOCK_VERSION}`,
    `compression ${compression}`,
    `size ${size}`,
    `stored ${storedSize}`,
    `references ${references}`,
    `state ${state}`,
  ];
  // With the longest values there is nothing to pad; the last byte is a line end in any case.
  return Buffer.from(`${lines.join("\n")}\n`.padEnd(HEADER_SIZE - 1).padEnd(HEADER_SIZE, "\n"), "latin1");
}

const HEADER = new RegExp(
  "^holotype-block ([1-9][0-9]*)\n" +
    "compression ([a-z0-9-]{1,16})\n" +
    "size (0|[1-9][0-9]{0,15})\n" +
    "stored (0|[1-9][0-9]{0,15})\n" +
    "references (0|[1-9][0-9]{0,9})\n" +
    "state (held|leaving|gap)\n(?: *\n)?$",
);

/** Absent for what is not a header. Throws HT_FORMAT_TOO_NEW for one of a newer version. */
export function parseHeader(bytes: Buffer, path: string): BlockHeader | undefined {
  if (bytes.length < HEADER_SIZE) return undefined;
  const text = bytes.toString("latin1", 0, HEADER_SIZE);
  const version = /^holotype-block ([1-9][0-9]*)\n/.exec(text)?.[1];
  if (version !== undefined && Number(version) > BLOCK_VERSION) {
    throw new ArchiveError("HT_FORMAT_TOO_NEW", `${path}: a block of a newer Holotype`, { file: path });
  }
  const match = HEADER.exec(text);
  if (match === null) return undefined;
  const [size, storedSize, references] = [Number(match[3]), Number(match[4]), Number(match[5])];
  const state = match[6] as BlockState;
  const sound = references <= REFERENCES_MAX && (references === 0) === (state === "gap");
  return sound ? { compression: match[2]!, size, storedSize, references, state } : undefined;
}
