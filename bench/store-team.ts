/** Servers and clients of the store's benchmark: started, told what to do, and timed from "go" to the last "done". */
import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { work } from "./corpus.ts";
import type { Done, Task } from "./store-client.ts";

const here = dirname(fileURLToPath(import.meta.url));

function heard(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null) => reject(new Error(`a process ended with ${code}`));
    child.once("exit", fail);
    child.once("message", (message) => {
      child.off("exit", fail);
      resolve(message);
    });
  });
}

export class Server {
  readonly url: string;
  readonly pid: number;
  private readonly child: ChildProcess;
  private readonly folder: string;

  static async start(kind: "ours" | "yardstick", name: string): Promise<Server> {
    const folder = join(work, `store-${name}`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(work, { recursive: true });
    const child = fork(join(here, "store-server.js"), [kind, folder], {
      env: { ...process.env, UV_THREADPOOL_SIZE: "8" },
    });
    const { url } = (await heard(child)) as { url: string };
    return new Server(child, folder, url);
  }

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.child = child;
    this.folder = folder;
    this.url = url;
    this.pid = child.pid!;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGKILL");
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Clients that are there for the whole benchmark, so that their start is not measured. */
export class Team {
  private readonly clients: ChildProcess[];

  constructor(count: number) {
    this.clients = Array.from({ length: count }, () =>
      fork(join(here, "store-client.js"), { execArgv: [...process.execArgv, "--expose-gc"] }),
    );
  }

  /** Shares the pages of the task among so many clients; how many seconds they took, and of the processor all of them. */
  async run(
    count: number,
    task: Omit<Task, "from" | "to"> & { readonly pages: number; readonly share?: number },
  ): Promise<{ readonly seconds: number; readonly cpuSeconds: number }> {
    const { pages, share = 0, ...rest } = task;
    const clients = this.clients.slice(0, count);
    const each = Math.ceil(pages / count);
    const ready = clients.map((client, i) => {
      const from = Math.min(pages, i * each);
      const to = Math.min(pages, from + each);
      const said = heard(client);
      client.send({ ...rest, from, to, duplicates: Math.round((to - from) * share) } satisfies Task);
      return said;
    });
    await Promise.all(ready);
    const done = clients.map(heard);
    const start = performance.now();
    for (const client of clients) client.send("go");
    const told = (await Promise.all(done)) as Done[];
    const seconds = (performance.now() - start) / 1000;
    return { seconds, cpuSeconds: told.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0) };
  }

  stop(): void {
    for (const client of this.clients) client.kill();
  }
}
