/**
 * A sign of life that goes with its process, whatever container that runs in: a socket in the file system, on which the
 * process listens. Numbers of processes mean nothing in another container; whether somebody listens on a socket, the
 * kernel that both share can tell. Nothing is said over it.
 */
import { spawnSync } from "node:child_process";
import { unlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { execPath } from "node:process";
import { unlessAbsent } from "./system-call.ts";

/** Ends with 0 where somebody listens, and with 1 where nobody does for sure. */
const ASK = `const socket = require("node:net").connect(process.argv[1]);
socket.on("connect", () => process.exit(0));
socket.on("error", ({ code }) => process.exit(code === "ECONNREFUSED" ? 1 : 2));`;
const ASK_MS_MAX = 10_000;

export interface Beacon {
  remove(): void;
}

/** Absent where there can be none: on file systems without sockets, and in folders whose path is too long for one. */
export function lightBeacon(path: string): Beacon | undefined {
  const server: Server = createServer((socket) => socket.destroy());
  // That it could not be opened shows at once; the word of it comes later.
  server.on("error", () => {});
  server.listen(path);
  if (!server.listening) return undefined;
  server.unref();
  return { remove: () => void server.close() };
}

/** Whether somebody listens there. Absent where that cannot be told. In a child, because only that can be waited for. */
export function isBeaconLit(path: string): boolean | undefined {
  const { status } = spawnSync(execPath, ["-e", ASK, path], { timeout: ASK_MS_MAX, stdio: "ignore" });
  return status === 0 ? true : status === 1 ? false : undefined;
}

/** One that went out. */
export function removeBeacon(path: string): void {
  unlessAbsent(() => unlinkSync(path));
}
