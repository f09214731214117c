/** Answers to what never became a request: bytes that are not HTTP, headers that are too long or too late. */
import { ERROR_TABLE, type ErrorCode } from "../../base/index.ts";

const NO_REQUEST = "not a request of HTTP/1.1";
const TOO_LATE = "the request took too long";

type Refused = NodeJS.WritableStream & { destroy(): void };

/** After an error that `node:http` met on a connection where no answer is due. */
export function refuseGibberish(cause: NodeJS.ErrnoException, socket: Refused): void {
  if (cause.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (cause.code === "HPE_HEADER_OVERFLOW") refuse(socket, "HT_TOO_LARGE", "the header of the request is too large");
  else if (cause.code === "ERR_HTTP_REQUEST_TIMEOUT") refuseLate(socket);
  else refuseHalf(socket);
}

/** A request, or its header, took too long. */
export function refuseLate(socket: NodeJS.WritableStream): void {
  refuse(socket, "HT_CUT_OFF", TOO_LATE);
}

/** What came is no request, or only half of one. */
export function refuseHalf(socket: NodeJS.WritableStream): void {
  refuse(socket, "HT_USAGE", NO_REQUEST);
}

function refuse(socket: NodeJS.WritableStream, code: ErrorCode, message: string): void {
  const body = JSON.stringify({ error: { code, message } });
  socket.end(
    `HTTP/1.1 ${ERROR_TABLE[code].http} Refused\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}
