/** Bodies of requests, gathered in memory within limits. */
import type { IncomingMessage } from "node:http";
import { ArchiveError } from "../../base/index.ts";

/** The memory for bodies that all requests of a server share. */
export class BodyMemory {
  private readonly sizeMax: number;
  private readonly heldMax: number;
  private held = 0;

  constructor(sizeMax: number, heldMax: number) {
    this.sizeMax = sizeMax;
    this.heldMax = heldMax;
  }

  checkSize(size: number): void {
    if (size > this.sizeMax) throw new ArchiveError("HT_TOO_LARGE", `a body has at most ${this.sizeMax} bytes here`);
  }

  /** Throws HT_BUSY where too much is held. */
  hold(bytes: number): void {
    if (this.held > 0 && this.held + bytes > this.heldMax) {
      throw new ArchiveError("HT_BUSY", "too much is being received at the moment");
    }
    this.held += bytes;
  }

  release(bytes: number): void {
    this.held -= bytes;
  }
}

/** Rejects with HT_TOO_LARGE, HT_BUSY or HT_CUT_OFF. The bytes count as held until all of them are there. */
export async function readRequestBody(request: IncomingMessage, memory: BodyMemory): Promise<Uint8Array> {
  memory.checkSize(Number(request.headers["content-length"] ?? 0));
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      memory.checkSize(size + piece.length);
      memory.hold(piece.length);
      size += piece.length;
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    throw new ArchiveError("HT_CUT_OFF", "the connection was closed in the middle of a body", {}, error);
  } finally {
    memory.release(size);
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, size);
}
