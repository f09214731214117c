/**
 * Blocks as the records of bulk streams. Contents to be stored and blocks that were asked for are `resource` records;
 * what could not be given is a `metadata` record with the error. Obeys docs/protocol/bulk.md.
 */
import { ArchiveError, type Clock, type Random, systemClock, systemRandom } from "../../base/index.ts";
import { BLOCK_URI_PREFIX, BlockField } from "../block-fields.ts";
import { type BlockAddress, formatAddress, parseAddress } from "../content-key.ts";
import { checkRequestId } from "../request-id.ts";
import { isSignatureAlgorithm, parseSignature, type SignatureAlgorithm } from "../signature.ts";
import { type BlockInfo, STORE_MODES, type StoreMode } from "../volume.ts";
import { membersOf, notOurs, parseJson } from "./block-json.ts";
import { fromWireError, MediaType, parseSize, type WireError } from "./protocol.ts";
import type { WireHead } from "./record-parser.ts";

const SEPARATOR = "\r\n\r\n";
const BREAK_URI = "urn:holotype:break";

/** The mode of a request without data: a reference is counted, or nothing happens. */
const REFERENCE = "reference";

/** What a request of a bulk store says beside its data. */
export interface StoreHead {
  readonly algorithm: SignatureAlgorithm;
  readonly signature: string;
  readonly size: number;
  readonly compression: string;
  readonly mode: StoreMode | typeof REFERENCE;
  readonly requestId?: string | undefined;
}

/** What names a content that is hoped to be there. */
export type ReferenceHead = Omit<StoreHead, "compression" | "mode">;

/** Makes the fields that every record must have, and that say nothing here: its id and its date. */
export class RecordStamp {
  private readonly clock: Clock;
  private readonly random: Random;
  private second = Number.NaN;
  private date = "";

  constructor(clock: Clock = systemClock, random: Random = systemRandom) {
    this.clock = clock;
    this.random = random;
  }

  fields(): string {
    const second = Math.floor(this.clock.now() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.date = new Date(second * 1000).toISOString().replace(".000Z", "Z");
    }
    return `WARC-Record-ID: <urn:uuid:${this.random.uuid()}>\r\nWARC-Date: ${this.date}\r\n`;
  }
}

/** Head, block and separator as one. */
export function encodeRecord(head: string, block: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + block.length + SEPARATOR.length);
  bytes.write(head, 0, "latin1");
  bytes.set(block, head.length);
  bytes.write(SEPARATOR, head.length + block.length, "latin1");
  return bytes;
}

export const RECORD_SEPARATOR = Buffer.from(SEPARATOR);

function formatResource(stamp: RecordStamp, address: string, length: number, fields: string): string {
  return `WARC/1.1\r\nWARC-Type: resource\r\n${stamp.fields()}WARC-Target-URI: ${BLOCK_URI_PREFIX}${address}\r\nContent-Type: ${MediaType.bytes}\r\n${fields}Content-Length: ${length}\r\n\r\n`;
}

export function formatStoreHead(stamp: RecordStamp, head: StoreHead, length: number): string {
  const { algorithm, signature, size, compression, mode, requestId } = head;
  const request = requestId === undefined ? "" : `${BlockField.request}: ${requestId}\r\n`;
  return formatResource(
    stamp,
    signature,
    length,
    `${BlockField.signature}: ${algorithm}:${signature}\r\n${BlockField.compression}: ${compression}\r\n${BlockField.size}: ${size}\r\n${BlockField.mode}: ${mode}\r\n${request}`,
  );
}

export function formatReferenceHead(stamp: RecordStamp, head: ReferenceHead): string {
  return formatStoreHead(stamp, { ...head, compression: "none", mode: REFERENCE }, 0);
}

export function formatBlockHead(stamp: RecordStamp, algorithm: SignatureAlgorithm, block: BlockInfo): string {
  const { signature, overflow, compression, size, storedSize, references } = block;
  const suffix = overflow === 0 ? "" : `${BlockField.overflow}: ${overflow}\r\n`;
  return formatResource(
    stamp,
    formatAddress(block),
    storedSize,
    `${BlockField.signature}: ${algorithm}:${signature}\r\n${suffix}${BlockField.compression}: ${compression}\r\n${BlockField.size}: ${size}\r\n${BlockField.references}: ${references}\r\n`,
  );
}

export interface EncodedRecord {
  readonly head: string;
  readonly block: Uint8Array;
}

/** The record that stands for a block that could not be given. */
export function formatRefusal(stamp: RecordStamp, address: BlockAddress, error: WireError): EncodedRecord {
  return formatMetadata(stamp, `${BLOCK_URI_PREFIX}${formatAddress(address)}`, { error });
}

/** The last record where the addresses could not be read to their end. */
export function formatBreakRecord(stamp: RecordStamp, error: WireError): EncodedRecord {
  return formatMetadata(stamp, BREAK_URI, { break: error });
}

function formatMetadata(stamp: RecordStamp, uri: string, value: unknown): EncodedRecord {
  const block = Buffer.from(JSON.stringify(value));
  const head = `WARC/1.1\r\nWARC-Type: metadata\r\n${stamp.fields()}WARC-Target-URI: ${uri}\r\nContent-Type: ${MediaType.json}\r\nContent-Length: ${block.length}\r\n\r\n`;
  return { head, block };
}

/** Throws HT_USAGE where a field is missing or is not what it should be. */
export function parseStoreHead({ fields, length }: WireHead): StoreHead {
  requireType(fields, "resource");
  const { algorithm, signature } = parseSigned(requireField(fields, BlockField.signature));
  const requestId = fields.get(BlockField.request.toLowerCase());
  checkRequestId(requestId);
  const mode = fields.get(BlockField.mode.toLowerCase()) ?? "regular";
  if (mode === REFERENCE && length > 0) throw new ArchiveError("HT_USAGE", "a reference with data");
  return {
    algorithm,
    signature,
    size: parseSize(requireField(fields, BlockField.size), BlockField.size),
    compression: requireField(fields, BlockField.compression),
    mode: mode === REFERENCE ? mode : parseMode(mode),
    requestId,
  };
}

/** The header of a block that was asked for, or word that there is none: the record's block says why. */
export function parseBlockHead({ fields, length }: WireHead): BlockInfo | "refusal" {
  if (fields.get("warc-type") === "metadata") return "refusal";
  requireType(fields, "resource");
  const { signature } = parseSigned(requireField(fields, BlockField.signature));
  const overflow = fields.get(BlockField.overflow.toLowerCase());
  return {
    signature,
    overflow: overflow === undefined ? 0 : parseSize(overflow, BlockField.overflow),
    size: parseSize(requireField(fields, BlockField.size), BlockField.size),
    storedSize: length,
    compression: requireField(fields, BlockField.compression),
    references: parseSize(requireField(fields, BlockField.references), BlockField.references),
  };
}

/** Why a block could not be given, or why no more come. */
export function readRefusal(block: Uint8Array): { readonly error: ArchiveError } | { readonly broken: ArchiveError } {
  const { error, break: broken } = membersOf(parseJson(Buffer.from(block).toString()));
  const told = fromWireError(error ?? broken);
  if (told === undefined) throw notOurs("a record that is no answer");
  return error === undefined ? { broken: told } : { error: told };
}

/** `sha256:ADEE…` */
export function parseSigned(text: string): { readonly algorithm: SignatureAlgorithm; readonly signature: string } {
  const colon = text.indexOf(":");
  const algorithm = text.slice(0, Math.max(0, colon));
  if (!isSignatureAlgorithm(algorithm)) {
    throw new ArchiveError("HT_USAGE", `not an algorithm and a signature: ${text.slice(0, 200)}`);
  }
  return { algorithm, signature: parseSignature(text.slice(colon + 1), algorithm) };
}

export function parseMode(text: string): StoreMode {
  const mode = STORE_MODES.find((name) => name === text);
  if (mode === undefined) throw new ArchiveError("HT_USAGE", `not a store mode: ${text.slice(0, 100)}`);
  return mode;
}

export function parseBlockAddress(text: string): BlockAddress {
  const address = parseAddress(text);
  if (address === undefined) throw new ArchiveError("HT_USAGE", `not the address of a block: ${text.slice(0, 200)}`);
  return address;
}

function requireType(fields: ReadonlyMap<string, string>, type: string): void {
  if (fields.get("warc-type") !== type) throw new ArchiveError("HT_USAGE", `a record whose type is not ${type}`);
}

function requireField(fields: ReadonlyMap<string, string>, name: string): string {
  const value = fields.get(name.toLowerCase());
  if (value === undefined) throw new ArchiveError("HT_USAGE", `a record without ${name}`);
  return value;
}
