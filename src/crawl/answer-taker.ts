/** Takes an answer from the wire: keeps its bytes, and computes the digests of block and payload while they pass. */
import { createHasher, type Digest, type Hasher } from "../base/index.ts";
import type { Answer, MessageSink } from "../http/index.ts";
import type { HttpHead } from "../warc/index.ts";
import type { TruncatedReason, WireCapture } from "./capture-records.ts";
import type { WireSpool } from "./wire-spool.ts";

export class AnswerTaker implements MessageSink {
  private readonly spool: WireSpool;
  private readonly onHead: (head: HttpHead | undefined) => "abort" | undefined;
  private readonly block: Hasher = createHasher("sha1");
  private readonly payload: readonly Hasher[] = [createHasher("sha1"), createHasher("sha256")];

  /** `onHead` may end the answer behind its header. */
  constructor(spool: WireSpool, onHead: (head: HttpHead | undefined) => "abort" | undefined) {
    this.spool = spool;
    this.onHead = onHead;
  }

  head(head: HttpHead | undefined): "abort" | undefined {
    return this.onHead(head);
  }

  raw(bytes: Uint8Array): void {
    this.spool.push(bytes);
    this.block.update(bytes);
  }

  entity(bytes: Uint8Array): void {
    for (const hasher of this.payload) hasher.update(bytes);
  }

  /** The capture that the answer is, once it has ended. */
  finish(answer: Answer): WireCapture {
    return {
      uri: answer.url,
      timeMs: answer.startMs,
      address: answer.remoteAddress,
      protocols: answer.protocols,
      request: answer.request,
      answer: this.spool,
      head: answer.head,
      framing: answer.framing,
      payloadSize: answer.entitySize,
      payloadDigests: this.payload.map((hasher): Digest => hasher.finish()),
      blockDigest: this.block.finish(),
      truncated: truncatedBy(answer),
    };
  }
}

/** What follows a chunk that is broken is not part of the payload, so that payload is not whole. */
function truncatedBy({ end, flaws }: Answer): TruncatedReason | undefined {
  if (end !== "complete" && end !== "aborted") return end;
  return flaws.includes("chunk-broken") ? "unspecified" : undefined;
}
