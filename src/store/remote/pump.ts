/** Sending what comes in pieces. */
import type { ClientRequest } from "node:http";
import { ArchiveError } from "../../base/index.ts";

/**
 * Sends all pieces and ends the request. Each is the caller's again before the next one is asked for. Rejects with the
 * error of the source, or where there is more or less than was promised: what goes wrong with the request is told by the
 * request.
 */
export async function pump(
  request: ClientRequest,
  pieces: AsyncIterable<Uint8Array>,
  promised: number | undefined,
): Promise<void> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (promised !== undefined && size > promised) throw wrongSize(promised);
    if (request.destroyed || !(await isWritten(request, piece))) return;
  }
  if (promised !== undefined && size < promised) throw wrongSize(promised);
  request.end();
}

export function wrongSize(promised: number): ArchiveError {
  return new ArchiveError("HT_SIGNATURE", `the data has not the ${promised} bytes that it is said to have`);
}

function isWritten(request: ClientRequest, piece: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    request.write(piece, (error) => resolve(error === undefined || error === null));
  });
}
