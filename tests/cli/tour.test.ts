/** The tours do what they show: each of their commands is run in a shell, and prints what stands below it. */
import { spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { MAIN, ROOT, temporaryFolder } from "./holotype.ts";

interface Step {
  readonly command: string;
  readonly shown: readonly string[];
}

function stepsOf(page: string): Step[] {
  return [...page.matchAll(/^```console\n(.*?)^```/gms)].flatMap(([, block = ""]) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = "", ...shown] = text.trimEnd().split("\n");
        return { command, shown };
      }),
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** One shell for all commands, so that jobs of one are known to the next. A mark after each tells its end. */
const MARK = "==end==";

function runAll(commands: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const shell = spawn("bash", ["-m"], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    let out = "";
    shell.stdout.on("data", (text: Buffer) => {
      out += text.toString();
    });
    shell.on("error", reject);
    shell.on("close", () => resolve(out.split(`${MARK}\n`)));
    shell.stdin.write("exec 2>&1\n");
    for (const command of commands) shell.stdin.write(`${command}\necho ${MARK}\n`);
    shell.stdin.end("kill %1 %2\n");
  });
}

/** A file that somebody is told to write. */
const FILES = /^```xml\n<!-- (\S+) -->\n(.*?)^```/gms;

/** Times of now, what follows from how long a path is, and the widths of columns are other ones each time. */
function settle(line: string): string {
  return line
    .replaceAll(/\b202[5-9]-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "(now)")
    .replace(/(?<=\.warc\.gz:)\d+$/, "(offset)")
    .replace(/\d+\.\d kB(?= in 1 segment)/, "(size)")
    .replaceAll(/ +/g, " ")
    .trimEnd();
}

it.each(["tour.md", "tour-fetch.md"])("%s prints what it shows", { timeout: 300_000 }, async (name) => {
  const folder = temporaryFolder();
  const port = await freePort();
  const program = join(folder, "holotype");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(program, 0o755);
  // What the commands leave behind must not lie in the clone.
  const clone = join(folder, "clone");
  mkdirSync(clone);
  for (const part of ["samples", "scripts"]) cpSync(join(ROOT, part), join(clone, part), { recursive: true });
  const page = readFileSync(join(ROOT, "docs", name), "utf8").replaceAll(/8080|8123/g, String(port));
  for (const [, file, text] of page.matchAll(FILES)) writeFileSync(join(clone, file!), text!);
  const steps = stepsOf(page.replaceAll("/tmp/", `${folder}/`));
  expect(steps.length).toBeGreaterThan(6);
  // Nobody types so fast that the server is not there yet.
  const wait = `until node -e "fetch('http://127.0.0.1:${port}/').catch(() => process.exit(1))"; do sleep 0.1; done`;
  const commands = steps.map(({ command }) => (command.endsWith("&") ? `${command}\n${wait}` : command));
  const printed = await runAll(commands, clone, { ...process.env, PATH: `${folder}:${process.env["PATH"]}` });
  for (const [i, { command, shown }] of steps.entries()) {
    const lines = (printed[i] ?? "").split("\n");
    for (const line of shown) expect(lines.map(settle), command).toContain(settle(line));
  }
});
