/** A volume behind a volume server. Obeys docs/protocol. */
import type { OutgoingHttpHeaders } from "node:http";
import { checkAdoption } from "../adoption.ts";
import { BlockField } from "../block-fields.ts";
import { type BlockAddress, formatAddress } from "../content-key.ts";
import type { CompactResult } from "../pack/compact.ts";
import { checkRequestId } from "../request-id.ts";
import { FILTER_SIZE_MAX, SignatureFilter } from "../signature-filter.ts";
import type { Source } from "../source.ts";
import type {
  AdoptRequest,
  BlockData,
  BlockInfo,
  BulkRequest,
  ByteRange,
  LeavingBlock,
  OpenBlock,
  ReferRequest,
  StoreAnswer,
  StoreReceipt,
  StoreRequest,
  Volume,
  VolumeDescription,
  VolumeState,
} from "../volume.ts";
import { notOurs, parseJson, readAddress, readBlockInfo, readDescription, readReceipt } from "../wire/block-json.ts";
import { RecordStamp } from "../wire/block-record.ts";
import { FIND_COUNT_MAX, LIST_COUNT_DEFAULT, MediaType, WIRE_HELD_SIZE_MAX } from "../wire/protocol.ts";
import { emptyRange, formerKeysIn, openedBlock } from "./block-reply.ts";
import { compactRemotely } from "./compact-run.ts";
import { type Call, Link, type RemoteOptions, type Reply } from "./link.ts";
import { wrongSize } from "./pump.ts";
import { checkCodecName, checkSignatureText, checkSize } from "./request-check.ts";
import { RetrieveRun } from "./retrieve-run.ts";
import { StoreRun } from "./store-run.ts";

export class RemoteVolume implements Volume {
  private readonly link: Link;
  private readonly stamp: RecordStamp;
  private description: Promise<VolumeDescription> | undefined;
  private filterSeen: { readonly tag: string; readonly filter: SignatureFilter } | undefined;

  /** Connects when it is asked for something. Throws HT_USAGE for what is not the URL of a server. */
  constructor(options: RemoteOptions) {
    this.link = new Link(options);
    this.stamp = new RecordStamp(undefined, options.random);
  }

  /** The answer, if it is a good one; absent where the server says that there is no such thing. */
  private async ask(call: Call): Promise<Reply | undefined> {
    const reply = await this.link.call(call);
    if (reply.status < 300) return reply;
    const error = this.link.refusal(reply);
    if (error.code === "HT_NOT_FOUND") return undefined;
    throw error;
  }

  private async demand(call: Call): Promise<Reply> {
    const reply = await this.ask(call);
    if (reply === undefined) throw notOurs("it denies something that must be there");
    return reply;
  }

  async describe(): Promise<VolumeDescription> {
    return readDescription(jsonOf(await this.demand({ method: "GET", path: "/volume" })));
  }

  /** What is the same for as long as the volume is there. */
  private async constants(): Promise<VolumeDescription> {
    this.description ??= this.describe();
    try {
      return await this.description;
    } catch (error) {
      this.description = undefined;
      throw error;
    }
  }

  private requestHeaders(requestId: string | undefined): OutgoingHttpHeaders {
    checkRequestId(requestId);
    return { [BlockField.request]: requestId ?? this.link.newRequestId() };
  }

  async refer(request: ReferRequest): Promise<StoreReceipt | undefined> {
    const { signature, size, compared, requestId } = request;
    checkSize(size);
    const headers = this.requestHeaders(requestId);
    headers[BlockField.size] = size;
    headers["Content-Length"] = 0;
    if (compared !== undefined) {
      checkCodecName(compared.compression);
      headers[BlockField.mode] = "compare";
      headers[BlockField.compression] = compared.compression;
      setLength(headers, compared.data);
    }
    const path = `${blockPath(signature)}/references`;
    const reply = await this.ask({ method: "POST", path, headers, body: compared?.data });
    return reply && readReceipt(jsonOf(reply));
  }

  async store(request: StoreRequest): Promise<StoreReceipt> {
    const { signature, size, mode, compression, data, requestId } = request;
    checkSize(size);
    checkCodecName(compression);
    const headers = this.requestHeaders(requestId);
    headers[BlockField.size] = size;
    headers[BlockField.compression] = compression;
    headers[BlockField.mode] = mode;
    setLength(headers, data);
    const path = blockPath(signature);
    return readReceipt(jsonOf(await this.demand({ method: "PUT", path, headers, body: data })));
  }

  async *storeAll(requests: Source<BulkRequest>): AsyncGenerator<StoreAnswer> {
    const { signature: algorithm } = await this.constants();
    const { link, stamp } = this;
    yield* new StoreRun({ link, stamp, algorithm, storeOne: (request) => this.store(request) }, requests).answers();
  }

  async find(signatures: readonly string[]): Promise<readonly (readonly BlockInfo[])[]> {
    signatures.forEach(checkSignatureText);
    const found: (readonly BlockInfo[])[] = [];
    for (let at = 0; at < signatures.length; at += FIND_COUNT_MAX) {
      const some = signatures.slice(at, at + FIND_COUNT_MAX);
      const body = Buffer.from(`${some.join("\n")}\n`, "latin1");
      const headers = { "Content-Type": MediaType.text, "Content-Length": body.length };
      const reply = await this.demand({ method: "POST", path: "/find", headers, body });
      const lines = linesOf(reply);
      if (lines.length !== some.length) throw notOurs("another number of lines");
      for (const line of lines) found.push((parseJson(line) as unknown[]).map(readBlockInfo));
    }
    return found;
  }

  async open(address: BlockAddress, range?: ByteRange): Promise<OpenBlock | undefined> {
    // A range of nothing cannot be said in HTTP; one byte more can.
    const end = range && Math.max(range.end, range.start + 1);
    const headers = range === undefined ? {} : { Range: `bytes=${range.start}-${end! - 1}` };
    const call = { method: "GET", path: blockPath(formatAddress(address)), headers, heldSizeMax: WIRE_HELD_SIZE_MAX };
    const reply = await this.link.call(call);
    if (reply.status < 300) {
      const block = takeLarge(reply, () => {
        if (range !== undefined && reply.status !== 206) throw notOurs("no range");
        return openedBlock(this.link, address, reply, () => this.openAgain(address, range));
      });
      return range !== undefined && end !== range.end ? { ...block, data: new Uint8Array(0) } : block;
    }
    const empty = reply.status === 416 && range !== undefined ? emptyRange(address, reply, range) : undefined;
    if (empty !== undefined) return empty;
    const error = this.link.refusal(reply);
    if (error.code === "HT_NOT_FOUND") return undefined;
    throw error;
  }

  private async openAgain(address: BlockAddress, range: ByteRange | undefined): Promise<BlockData> {
    const block = await this.open(address, range);
    if (block === undefined) throw notOurs(`${formatAddress(address)} is gone`);
    return block.data;
  }

  openAll(addresses: Source<BlockAddress>): AsyncIterable<OpenBlock | undefined> {
    return new RetrieveRun(this.link, addresses).blocks();
  }

  async remove(address: BlockAddress, requestId?: string): Promise<BlockInfo | undefined> {
    const headers = this.requestHeaders(requestId);
    const reply = await this.ask({ method: "DELETE", path: blockPath(formatAddress(address)), headers });
    return reply && readBlockInfo(jsonOf(reply));
  }

  async *list(after?: BlockAddress): AsyncGenerator<BlockInfo> {
    for (let from = after; ; ) {
      const query = from === undefined ? "" : `&after=${encodeURIComponent(formatAddress(from))}`;
      const reply = await this.demand({ method: "GET", path: `/blocks?limit=${LIST_COUNT_DEFAULT}${query}` });
      const blocks = linesOf(reply).map((line) => readBlockInfo(parseJson(line)));
      yield* blocks;
      if (blocks.length < LIST_COUNT_DEFAULT) return;
      from = blocks.at(-1);
    }
  }

  /** The same object as before where nothing has changed. */
  async filter(): Promise<SignatureFilter> {
    const seen = this.filterSeen;
    const headers = seen === undefined ? {} : { "If-None-Match": seen.tag };
    const sizeMax = FILTER_SIZE_MAX + 1024;
    const reply = await this.link.call({ method: "GET", path: "/filter", headers, heldSizeMax: sizeMax });
    if (reply.status === 304 && seen !== undefined) return seen.filter;
    if (reply.status !== 200) throw this.link.refusal(reply);
    const filter = takeLarge(reply, () => SignatureFilter.decode(reply.body));
    const { etag } = reply.headers;
    if (typeof etag === "string") this.filterSeen = { tag: etag, filter };
    return filter;
  }

  async leave(address: BlockAddress): Promise<LeavingBlock | undefined> {
    const path = `/moves/leave/${encodeURIComponent(formatAddress(address))}`;
    const reply = await this.ask({ method: "POST", path, heldSizeMax: WIRE_HELD_SIZE_MAX });
    if (reply === undefined) return undefined;
    return takeLarge(reply, () => {
      const block = openedBlock(this.link, address, reply, () => this.openAgain(address, undefined));
      return { ...block, formerKeys: formerKeysIn(reply.headers) };
    });
  }

  async adopt(request: AdoptRequest): Promise<StoreReceipt> {
    checkAdoption(request);
    checkSize(request.size);
    checkCodecName(request.compression);
    const { data, formerKeys, size, storedSize, compression, references, requestId } = request;
    const headers = this.requestHeaders(requestId);
    headers[BlockField.size] = size;
    headers[BlockField.compression] = compression;
    headers[BlockField.references] = references;
    headers["Content-Length"] = storedSize;
    if (formerKeys.length > 0) headers[BlockField.former] = formerKeys.join(" ");
    if (data instanceof Uint8Array && data.length !== storedSize) throw wrongSize(storedSize);
    const path = `/moves/adopt/${encodeURIComponent(formatAddress(request))}`;
    return readReceipt(jsonOf(await this.demand({ method: "POST", path, headers, body: data })));
  }

  async left(address: BlockAddress): Promise<void> {
    await this.demand({ method: "POST", path: `/moves/left/${encodeURIComponent(formatAddress(address))}` });
  }

  async follow(formerKey: string): Promise<BlockAddress | undefined> {
    const reply = await this.ask({ method: "GET", path: `/moves/follow/${encodeURIComponent(formerKey)}` });
    return reply && readAddress(jsonOf(reply));
  }

  /** Of a volume in a folder of the server's machine. */
  async setState(state: VolumeState): Promise<void> {
    const body = Buffer.from(state);
    const headers = { "Content-Type": MediaType.text, "Content-Length": body.length };
    await this.demand({ method: "PUT", path: "/state", headers, body });
  }

  /** Gives back the space of deleted blocks; the server goes on meanwhile. HT_UNSUPPORTED where there is none to give. */
  compact(onProgress?: (done: number, total: number) => void): Promise<CompactResult> {
    return compactRemotely(this.link, onProgress);
  }

  /** Closes the connections; what is under way fails. The server goes on. */
  [Symbol.asyncDispose](): Promise<void> {
    this.link.close();
    return Promise.resolve();
  }
}

/** An answer that comes in pieces and is not what it should be is not left open. */
function takeLarge<T>(reply: Reply, take: () => T): T {
  try {
    return take();
  } catch (error) {
    reply.rest?.destroy();
    throw error;
  }
}

function blockPath(name: string): string {
  return `/blocks/${encodeURIComponent(name)}`;
}

/** Of what comes in pieces the length is not known. */
function setLength(headers: OutgoingHttpHeaders, body: BlockData): void {
  if (body instanceof Uint8Array) headers["Content-Length"] = body.length;
  else delete headers["Content-Length"];
}

function jsonOf(reply: Reply): unknown {
  return parseJson(reply.body.toString());
}

function linesOf(reply: Reply): string[] {
  return reply.body.toString().split("\n").slice(0, -1);
}
