/**
 * Real processes for tests of what only they can show: kills, pipes, races. Node 20 does not run TypeScript, so the
 * rooms are compiled once into `build/`, without checking types, from where `node_modules` is found.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { createDurably, nodeDisk, type ScratchFolder, scratchFolder } from "../disk/index.ts";

const SOURCE = dirname(dirname(fileURLToPath(import.meta.url)));

export interface CompiledRooms extends Disposable {
  /** Runs ECMAScript `code` in its own process, with the compiled rooms at `./base/index.js` and so on. */
  start(code: string): Child;
}

export interface Child {
  readonly process: ChildProcess;
  /** The next line of its standard output; rejects when there is none. */
  line(): Promise<string>;
  /** Ends it as `kill -9` does, and waits until it is gone. */
  kill(): Promise<void>;
  /** Waits for its end and gives its exit code; absent when a signal ended it. */
  exit(): Promise<number | undefined>;
}

function readText(path: string): string {
  using file = nodeDisk.open(path, "read");
  const bytes = new Uint8Array(file.size());
  file.read(bytes, 0);
  return Buffer.from(bytes).toString("utf8");
}

function compileRoom(room: string, into: ScratchFolder): void {
  const folder = join(SOURCE, room);
  nodeDisk.makeFolder(join(into.path, room));
  for (const { name } of nodeDisk.list(folder)) {
    if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
    const { outputText } = ts.transpileModule(readText(join(folder, name)), {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2022,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    });
    const target = join(into.path, room, name.replace(/\.ts$/, ".js"));
    createDurably(nodeDisk, target, (output) => output.write(Buffer.from(outputText)));
  }
}

export function compileRooms(...rooms: readonly string[]): CompiledRooms {
  const parent = join(dirname(SOURCE), "build");
  nodeDisk.makeFolder(parent);
  const folder = scratchFolder(nodeDisk, { parent });
  for (const room of rooms) compileRoom(room, folder);
  return { start: (code) => startChild(code, folder.path), [Symbol.dispose]: () => folder.remove() };
}

function startChild(code: string, cwd: string): Child {
  const child = spawn(execPath, ["--input-type=module", "-e", code], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const exit = new Promise<number | undefined>((resolve) => child.on("exit", (status) => resolve(status ?? undefined)));
  let lines: AsyncIterator<string> | undefined;
  return {
    process: child,
    line: async () => {
      lines ??= createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const next = await lines.next();
      if (next.done === true) throw new Error(`process ${child.pid} has no further line`);
      return next.value;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exit;
    },
    exit: () => exit,
  };
}
