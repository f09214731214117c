/** Plain HTTP for tests of servers: one request, and all that comes back. */
import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { connect } from "node:net";

export interface Asked {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The code of the error in the body, if there is one. */
  readonly code: string | undefined;
}

const agent = new Agent({ keepAlive: false });

export function ask(url: string, { method = "GET", headers = {}, body }: Asked = {}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () => {
        const all = Buffer.concat(pieces);
        resolve({ status: response.statusCode!, headers: response.headers, body: all, code: codeIn(all) });
      });
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

function codeIn(body: Buffer): string | undefined {
  try {
    return (JSON.parse(body.toString()) as { error?: { code?: string } }).error?.code;
  } catch {
    return undefined;
  }
}

/** Sends bytes as they are, waits until the other side closes, and gives all that it said. */
export function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding("latin1");
    socket.on("data", (piece: string) => {
      said += piece;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(said));
  });
}
