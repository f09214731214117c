/** `fetch` in processes of its own, beside servers that the test runs or starts. */
import { type ChildProcess, spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { type Outcome, startHolotype } from "./holotype.ts";

/** Runs a command to its end without stopping the test, which may be the server. */
export async function runHolotype(args: readonly string[]): Promise<Outcome> {
  const child = startHolotype(args);
  const pieces: Buffer[] = [];
  let err = "";
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
  child.stderr.on("data", (piece: Buffer) => {
    err += piece.toString();
  });
  const exit = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { exit, out: Buffer.concat(pieces).toString(), err };
}

/** What `fetch --json` says of a URL. */
export interface ToldRetrieval {
  readonly url: string;
  readonly status: number;
  readonly outcome: string;
  readonly failure?: string;
  readonly flaws?: readonly string[];
  readonly truncated?: string;
  readonly asked?: readonly string[];
  readonly again?: boolean;
}

export function retrievalsOf(out: string): ToldRetrieval[] {
  const lines = out.split("\n").filter((line) => line.startsWith('{"url"'));
  return lines.map((line) => JSON.parse(line) as ToldRetrieval);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function isListening(port: number, host: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, host, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

export interface ServerProcess extends AsyncDisposable {
  readonly port: number;
}

/** Starts a server that is told its port; waits until it listens. */
export async function startServer(
  script: string,
  args: (port: number) => readonly string[],
  host: string,
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  const port = await freePort();
  const child: ChildProcess = spawn(process.execPath, [script, ...args(port)], {
    env: { ...process.env, ...env },
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  while (!(await isListening(port, host))) {
    if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
