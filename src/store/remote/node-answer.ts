/** Answers as `node:http` gives them, gathered; large ones are handed on as they come. */
import type { ClientRequest, IncomingMessage } from "node:http";
import { notOurs } from "../wire/block-json.ts";
import type { Reply } from "./link.ts";

const EMPTY = Buffer.alloc(0);

/** Bodies of up to `sizeMax` bytes are held. Of larger ones `rest` is given where `mayStream` says so; else it rejects. */
export function receive(
  request: ClientRequest,
  response: IncomingMessage,
  sizeMax: number,
  mayStream: boolean,
): Promise<Reply> {
  const { statusCode: status = 0, headers } = response;
  const size = Number(headers["content-length"] ?? 0);
  if (mayStream && size > sizeMax && status < 300) {
    request.setTimeout(0);
    // Nobody may be there to hear of it.
    response.on("error", () => {});
    return Promise.resolve({ status, headers, body: EMPTY, rest: response });
  }
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let held = 0;
    response.on("data", (piece: Buffer) => {
      held += piece.length;
      if (held > sizeMax) response.destroy(notOurs("too large"));
      pieces.push(piece);
    });
    response.on("end", () => {
      // What was still to be sent has been answered already.
      if (!request.writableFinished) request.destroy();
      resolve({ status, headers, body: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces) });
    });
    response.on("error", reject);
  });
}
