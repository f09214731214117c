/** Servers as processes, what they cost, and a client that asks over connections that stay open. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

/** A server under measurement: its processor time is that of its process and all below it. */
export class ServerProcess implements AsyncDisposable {
  readonly port: number;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.child = child;
    this.port = port;
  }

  /** Resolves when `target` is answered with 200. */
  static async start(
    command: string,
    args: (port: number) => readonly string[],
    options: { readonly cwd: string; readonly target: string },
  ): Promise<ServerProcess> {
    const port = await freePort();
    const child = spawn(command, args(port), { cwd: options.cwd, stdio: "ignore" });
    const server = new ServerProcess(child, port);
    for (let i = 0; child.exitCode === null && i < 6000; i++) {
      const answer = await fetch(`http://127.0.0.1:${port}${options.target}`).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.status === 200) return server;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await server[Symbol.asyncDispose]();
    throw new Error(`${command} does not answer ${options.target}`);
  }

  cpuSeconds(): number {
    return processesBelow(this.child.pid!).reduce((sum, pid) => sum + ticksOf(pid), 0) / 100;
  }

  residentMb(): number {
    const sizes = processesBelow(this.child.pid!).map(
      (pid) => Number(/^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1000,
    );
    return Math.max(...sizes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGTERM");
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 20_000);
    await ended;
    clearTimeout(timer);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function processesBelow(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(processesBelow)];
}

/** User and system time, in hundredths of a second. */
function ticksOf(pid: number): number {
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ");
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

export interface Load {
  readonly cpuMsEach: number;
  readonly p99Ms: number;
  readonly bytes: number;
}

/** Asks for all targets, so many at a time; every answer must be 200 and whole. */
export async function askAll(server: ServerProcess, targets: readonly string[], connections: number): Promise<Load> {
  const before = server.cpuSeconds();
  const times: number[] = [];
  let next = 0;
  let bytes = 0;
  const work = async () => {
    await using connection = await Connection.open(server.port);
    while (next < targets.length) {
      const start = performance.now();
      const size = await connection.get(targets[next++]!);
      bytes += size;
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: Math.min(connections, targets.length) }, work));
  times.sort((one, other) => one - other);
  const cpuMsEach = ((server.cpuSeconds() - before) * 1000) / targets.length;
  return { cpuMsEach, p99Ms: times[Math.floor(times.length * 0.99)] ?? 0, bytes };
}

/** One connection, one request after the other; it knows lengths and chunks, and opens again where a server closes. */
class Connection implements AsyncDisposable {
  private readonly port: number;
  private socket: Socket;
  private held = Buffer.alloc(0);
  private isClosed = false;
  private wake: () => void = () => {};

  private constructor(port: number, socket: Socket) {
    this.port = port;
    this.socket = socket;
    this.listen();
  }

  static async open(port: number): Promise<Connection> {
    return new Connection(port, await dial(port));
  }

  private listen(): void {
    const { socket } = this;
    socket.on("data", (piece) => {
      this.held = this.held.length === 0 ? piece : Buffer.concat([this.held, piece]);
      this.wake();
    });
    socket.on("close", () => {
      if (socket === this.socket) this.isClosed = true;
      this.wake();
    });
    socket.on("error", () => {});
  }

  private async reopen(): Promise<void> {
    this.socket.destroy();
    this.socket = await dial(this.port);
    this.isClosed = false;
    this.held = Buffer.alloc(0);
    this.listen();
  }

  /** Resolves to the size of the body. */
  async get(target: string): Promise<number> {
    if (this.isClosed) await this.reopen();
    this.socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost:${this.port}\r\nAccept-Encoding: identity\r\n\r\n`);
    while (this.held.length === 0 && !this.isClosed) await this.more();
    // The server had closed it after the answer before.
    if (this.held.length === 0) return this.get(target);
    const head = (await this.until("\r\n\r\n")).toString("latin1");
    if (!/^HTTP\/1\.[01] 200 /.test(head)) throw new Error(`${target}: ${head.split("\r\n")[0]}`);
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    if (length !== undefined) return (await this.take(Number(length))).length;
    if (!/^transfer-encoding: *chunked/im.test(head)) return this.untilClosed();
    let size = 0;
    for (;;) {
      const count = Number.parseInt((await this.until("\r\n")).toString("latin1"), 16);
      await this.take(count + 2);
      if (count === 0) return size;
      size += count;
    }
  }

  private async until(mark: string): Promise<Buffer> {
    for (;;) {
      const at = this.held.indexOf(mark);
      if (at >= 0) return this.cut(at + mark.length);
      await this.more();
    }
  }

  private async take(count: number): Promise<Buffer> {
    while (this.held.length < count) await this.more();
    return this.cut(count);
  }

  private async untilClosed(): Promise<number> {
    while (!this.isClosed) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.held.length;
  }

  private cut(count: number): Buffer {
    const piece = this.held.subarray(0, count);
    this.held = this.held.subarray(count);
    return piece;
  }

  private async more(): Promise<void> {
    if (this.isClosed) throw new Error("the connection was closed within an answer");
    await new Promise<void>((resolve) => (this.wake = resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    return Promise.resolve();
  }
}

function dial(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket)).once("error", reject);
  });
}
