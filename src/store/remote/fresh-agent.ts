/**
 * Connections for streams. Each is used once, and what it reads comes by way of one buffer: Node takes 64 KiB for every
 * read, however little comes, and its garbage collector goes by what was taken. Blocks come in pieces of some KiB, and
 * of the time of a client that reads many a third went to collecting.
 */
import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";

const READ_SIZE = 256 << 10;

export function freshAgent(isSecure: boolean, options: AgentOptions): HttpAgent | HttpsAgent {
  const agent = isSecure
    ? new HttpsAgent({ ...options, keepAlive: false })
    : new HttpAgent({ ...options, keepAlive: false });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (to, callback) => {
    const buffer = Buffer.allocUnsafeSlow(READ_SIZE);
    // A copy of what came is as large as that. False where no more is to be read for now.
    const take = (size: number): boolean => socket.push(Buffer.from(buffer.subarray(0, size)));
    const onread = { buffer, callback: take };
    const socket = connect({ ...to, onread } as typeof to, callback) as Socket;
    return socket;
  };
  return agent;
}
