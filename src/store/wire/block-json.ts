/** Headers of blocks and answers as JSON, and back with a look at every value: the other side may be anybody. */
import { ArchiveError } from "../../base/index.ts";
import { type BlockAddress, formatAddress, parseAddress } from "../content-key.ts";
import { isSignatureAlgorithm } from "../signature.ts";
import {
  type BlockInfo,
  type StoreAnswer,
  type StoreReceipt,
  VOLUME_STATES,
  type VolumeDescription,
} from "../volume.ts";
import { fromWireError, PROTOCOL_VERSION, toWireError } from "./protocol.ts";

export function formatBlockInfo(block: BlockInfo): string {
  return `{${blockMembers(block)}}`;
}

export function formatReceipt(receipt: StoreReceipt): string {
  return `{"outcome":"${receipt.outcome}",${blockMembers(receipt)}}`;
}

/** Names of codecs and signatures need no escapes: volumes take no others. */
function blockMembers({ signature, overflow, size, storedSize, compression, references }: BlockInfo): string {
  return `"signature":"${signature}","overflow":${overflow},"size":${size},"storedSize":${storedSize},"compression":"${compression}","references":${references}`;
}

/** A line of the answer to a bulk store. */
export function formatAnswer(answer: StoreAnswer): string {
  if ("receipt" in answer) return `{"receipt":${formatReceipt(answer.receipt)}}`;
  return JSON.stringify({ error: toWireError(answer.error) });
}

/** The last line where the stream could not be read to its end: nothing behind what is answered was carried out. */
export function formatBreak(error: unknown): string {
  return JSON.stringify({ break: toWireError(error) });
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw notOurs("not JSON");
  }
}

export function readBlockInfo(value: unknown): BlockInfo {
  const members = membersOf(value);
  const { signature, overflow } = readAddress(value);
  const [size, storedSize, references] = ["size", "storedSize", "references"].map((name) => readCount(members, name));
  const compression = readText(members, "compression");
  return { signature, overflow, size: size!, storedSize: storedSize!, compression, references: references! };
}

export function readAddress(value: unknown): BlockAddress {
  const { signature, overflow } = membersOf(value);
  const address = parseAddress(formatAddress({ signature: String(signature), overflow: Number(overflow) }));
  if (address === undefined) throw notOurs("no address of a block");
  return address;
}

export function readReceipt(value: unknown): StoreReceipt {
  const { outcome } = membersOf(value);
  if (outcome !== "new" && outcome !== "duplicate") throw notOurs("no outcome");
  return { ...readBlockInfo(value), outcome };
}

/** A line of the answer to a bulk store: an answer, or why there are no more. */
export function readAnswer(line: string): StoreAnswer | { readonly broken: ArchiveError } {
  const { receipt, error, break: broken } = membersOf(parseJson(line));
  if (receipt !== undefined) return { receipt: readReceipt(receipt) };
  const told = fromWireError(error ?? broken);
  if (told === undefined) throw notOurs("a line that is no answer");
  return error === undefined ? { broken: told } : { error: told };
}

export function readDescription(value: unknown): VolumeDescription {
  const members = membersOf(value);
  if (typeof members["protocol"] === "number" && members["protocol"] > PROTOCOL_VERSION) {
    throw new ArchiveError("HT_FORMAT_TOO_NEW", "the volume server speaks a newer protocol");
  }
  const signature = readText(members, "signature");
  if (!isSignatureAlgorithm(signature)) throw notOurs(`an unknown signature: ${signature}`);
  const state = VOLUME_STATES.find((name) => name === members["state"]);
  if (state === undefined) throw notOurs("no state");
  return {
    id: readText(members, "id"),
    layout: readText(members, "layout"),
    signature,
    state,
    blocks: readCount(members, "blocks"),
    contentBytes: readCount(members, "contentBytes"),
    storedBytes: readCount(members, "storedBytes"),
    references: readCount(members, "references"),
  };
}

export function membersOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw notOurs("no object");
  return value as Record<string, unknown>;
}

function readCount(members: Record<string, unknown>, name: string): number {
  const value = members[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw notOurs(`no ${name}`);
  return value as number;
}

function readText(members: Record<string, unknown>, name: string): string {
  const value = members[name];
  if (typeof value !== "string" || value === "") throw notOurs(`no ${name}`);
  return value;
}

/** What answers is not a volume server, or not all there: as good as none. */
export function notOurs(what: string): ArchiveError {
  return new ArchiveError("HT_PEER_UNAVAILABLE", `not the answer of a volume server: ${what}`);
}
