/**
 * The records of a segment: blocks, and changes to them. Each tells the whole state that it leaves behind, so that the
 * last one about a block is all that counts, wherever it stands. Obeys docs/format/pack-volume.md.
 */
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { formatIso } from "../../base/index.ts";
import { BLOCK_URI_PREFIX, BlockField } from "../block-fields.ts";
import { type BlockAddress, formatAddress } from "../content-key.ts";
import { isSignatureAlgorithm, SIGNATURE_SIZES, type SignatureAlgorithm } from "../signature.ts";

/** What a record without a block says. `count` repeats a counter whose record was compacted away. */
export const CHANGES = ["reference", "delete", "leave", "left", "count"] as const;
export type Change = (typeof CHANGES)[number];

export interface PackRecord extends BlockAddress {
  /** `block` for one that holds the content. */
  readonly change: Change | "block";
  readonly algorithm: SignatureAlgorithm;
  readonly size: number;
  readonly storedSize: number;
  readonly compression: string;
  /** After the change; 0 where the block is gone. */
  readonly references: number;
  readonly sequence: number;
  readonly requestId: string | undefined;
  readonly formerKeys: readonly string[];
  readonly leaving: boolean;
}

const CHANGE_FIELD = "Holotype-Change";
const LEAVING_FIELD = "Holotype-Leaving";
const STORED_FIELD = "Holotype-Stored-Size";
const PADDING_FIELD = "Holotype-Padding";
const REFERENCE_PROFILE = "urn:holotype:profile:reference";
const CHECKSUM_LENGTH = `${BlockField.checksum}: 00000000\r\n\r\n`.length;

/** The id of a block's record: the same as long as the block is there, wherever compaction carries it. */
function recordId(volumeId: string, address: string): string {
  const hex = hash("sha256", `${volumeId} ${address}`, "hex");
  // Version 8 is for ids that are made as one likes.
  return `<urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}>`;
}

function changeId(volumeId: string, sequence: number): string {
  return recordId(volumeId, `change ${sequence}`);
}

let lastDate = { second: Number.NaN, text: "" };

/** To the second. Most records share it with the one before. */
function dateOf(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastDate.second) lastDate = { second, text: formatIso(second * 1000) };
  return lastDate.text;
}

export interface HeadOptions {
  readonly volumeId: string;
  readonly nowMs: number;
  /** Of the stored bytes, as sha256 in hex; for blocks. */
  readonly blockDigest?: string;
  /** Makes the header exactly this long. */
  readonly headSize?: number;
}

/** The header of a record, with its checksum as the last field. */
export function formatHead(record: PackRecord, options: HeadOptions): Buffer {
  const { volumeId, nowMs, blockDigest, headSize } = options;
  const address = formatAddress(record);
  const isBlock = record.change === "block";
  const type = isBlock ? "resource" : record.change === "reference" ? "revisit" : "metadata";
  let text = `WARC/1.1\r\nWARC-Type: ${type}\r\nWARC-Record-ID: ${
    isBlock ? recordId(volumeId, address) : changeId(volumeId, record.sequence)
  }\r\nWARC-Date: ${dateOf(nowMs)}\r\nWARC-Target-URI: ${BLOCK_URI_PREFIX}${address}\r\n`;
  if (isBlock) text += `WARC-Block-Digest: sha256:${blockDigest}\r\nContent-Type: application/octet-stream\r\n`;
  else text += `WARC-Refers-To: ${recordId(volumeId, address)}\r\n${CHANGE_FIELD}: ${record.change}\r\n`;
  if (type === "revisit") text += `WARC-Profile: ${REFERENCE_PROFILE}\r\n`;
  text += `${BlockField.signature}: ${record.algorithm}:${record.signature}\r\n`;
  if (record.overflow > 0) text += `${BlockField.overflow}: ${record.overflow}\r\n`;
  text += `${BlockField.compression}: ${record.compression}\r\n${BlockField.size}: ${record.size}\r\n`;
  if (!isBlock) text += `${STORED_FIELD}: ${record.storedSize}\r\n`;
  text += `${BlockField.references}: ${record.references}\r\n`;
  if (record.requestId !== undefined) text += `${BlockField.request}: ${record.requestId}\r\n`;
  if (record.leaving) text += `${LEAVING_FIELD}: yes\r\n`;
  if (record.formerKeys.length > 0) text += `${BlockField.former}: ${record.formerKeys.join(" ")}\r\n`;
  text += `${BlockField.sequence}: ${record.sequence}\r\nContent-Length: ${isBlock ? record.storedSize : 0}\r\n`;
  if (headSize !== undefined) {
    const room = headSize - text.length - CHECKSUM_LENGTH - `${PADDING_FIELD}: \r\n`.length;
    text += `${PADDING_FIELD}: ${"-".repeat(Math.max(1, room))}\r\n`;
  }
  return withChecksum(text);
}

function withChecksum(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length + CHECKSUM_LENGTH);
  bytes.write(text, 0, "latin1");
  const checksum = crc32(bytes.subarray(0, text.length)).toString(16).padStart(8, "0");
  bytes.write(`${BlockField.checksum}: ${checksum}\r\n\r\n`, text.length, "latin1");
  return bytes;
}

interface Fields {
  /** By the name in small letters. */
  get(lowerName: string): string | undefined;
  /** All of the header, blank line included, each character one byte. */
  readonly text: string;
}

/** Whether the header is whole. */
export function holdsChecksum({ text }: Fields): boolean {
  const at = text.length - CHECKSUM_LENGTH;
  if (at < 0 || !text.startsWith(`${BlockField.checksum}: `, at)) return false;
  const told = text.slice(at + BlockField.checksum.length + 2, at + BlockField.checksum.length + 10);
  return crc32(Buffer.from(text.slice(0, at), "latin1")) === Number.parseInt(told, 16);
}

/** Absent for what is not a record of a pack volume. */
export function parseHead(fields: Fields): PackRecord | undefined {
  const text = (name: string) => fields.get(name.toLowerCase());
  const number = (name: string): number | undefined => {
    const value = text(name) ?? "";
    return /^\d{1,16}$/.test(value) ? Number(value) : undefined;
  };
  const isBlock = text("WARC-Type") === "resource";
  const change = isBlock ? "block" : text(CHANGE_FIELD);
  const [algorithm, signature] = (text(BlockField.signature) ?? "").split(":");
  const [size, references, sequence] = [
    number(BlockField.size),
    number(BlockField.references),
    number(BlockField.sequence),
  ];
  const storedSize = number(isBlock ? "Content-Length" : STORED_FIELD);
  const compression = text(BlockField.compression);
  if (change !== "block" && !isChange(change)) return undefined;
  if (algorithm === undefined || signature === undefined || !isSignatureAlgorithm(algorithm)) return undefined;
  if (signature.length !== 2 * SIGNATURE_SIZES[algorithm] || !/^[0-9A-F]+$/.test(signature)) return undefined;
  if (size === undefined || references === undefined || sequence === undefined) return undefined;
  if (storedSize === undefined || compression === undefined) return undefined;
  return {
    change,
    algorithm,
    signature,
    overflow: number(BlockField.overflow) ?? 0,
    size,
    storedSize,
    compression,
    references,
    sequence,
    requestId: text(BlockField.request),
    formerKeys: text(BlockField.former)?.split(" ") ?? [],
    leaving: text(LEAVING_FIELD) === "yes",
  };
}

function isChange(name: string | undefined): name is Change {
  return (CHANGES as readonly (string | undefined)[]).includes(name);
}

/** The record at the start of a segment. */
export function formatWarcinfo(volumeId: string, nowMs: number): Buffer {
  const text = [
    "WARC/1.1",
    "WARC-Type: warcinfo",
    `WARC-Record-ID: ${recordId(volumeId, `segment ${nowMs}`)}`,
    `WARC-Date: ${dateOf(nowMs)}`,
    `Holotype-Volume: ${volumeId}`,
    "Content-Type: application/warc-fields",
    "Content-Length: 0",
    "",
  ].join("\r\n");
  return withChecksum(text);
}
