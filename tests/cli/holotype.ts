/** The command line in real processes, and folders for it to work in. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { tellShared } from "./shared-process.ts";

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const MAIN = join(ROOT, "dist", "bin", "holotype.js");
export const SAMPLES = join(ROOT, "samples");
export const SAMPLE = join(SAMPLES, "cabinet-2009.warc.gz");

if (!existsSync(MAIN)) throw new Error(`${MAIN} is not there: these tests run what was built; npm run build first`);

/** The program keeps a key in the home of its user; one for all tests, and not the developer's own. */
process.env["HOME"] = join(tmpdir(), `holotype-test-home-${process.getuid?.() ?? 0}`);

export interface Outcome {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Surroundings {
  readonly cwd?: string;
  readonly input?: Uint8Array;
}

const OUTPUT_MAX = 1 << 28;

/** Runs a command to its end in a process of its own, and gives what it printed as bytes. */
function runAlone(args: readonly string[], { cwd = ROOT, input }: Surroundings = {}) {
  const options = { cwd, maxBuffer: OUTPUT_MAX, ...(input === undefined ? {} : { input }) };
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [MAIN, ...args], options);
  if (error !== undefined) throw error;
  return { exit: status, out: stdout, err: stderr.toString() };
}

/**
 * Runs a command to its end, and gives what it printed as bytes. It has a fresh program, but the process that others
 * have had before it, unless it is given an input.
 */
export function holotypeBytes(args: readonly string[], surroundings: Surroundings = {}) {
  if (surroundings.input !== undefined) return runAlone(args, surroundings);
  const { exit, out, err } = tellShared(MAIN, { args, cwd: surroundings.cwd ?? ROOT });
  return { exit, out, err: err.toString() };
}

/** Where the process matters, or the work is so much that its start does not count. */
export function holotypeAlone(args: readonly string[], surroundings: Surroundings = {}): Outcome {
  const { exit, out, err } = runAlone(args, surroundings);
  return { exit, out: out.toString(), err };
}

export function holotype(args: readonly string[], surroundings: Surroundings = {}): Outcome {
  const { exit, out, err } = holotypeBytes(args, surroundings);
  return { exit, out: out.toString(), err };
}

/** Starts a command without waiting for it. */
export function startHolotype(args: readonly string[], cwd = ROOT): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [MAIN, ...args], { cwd });
}

/** Waits until a process is gone. */
export function ended(child: ChildProcessWithoutNullStreams): Promise<{ exit: number | null; err: string }> {
  let err = "";
  child.stderr.on("data", (text: Buffer) => {
    err += text.toString();
  });
  return new Promise((resolve) => child.on("close", (exit) => resolve({ exit, err })));
}

/** A folder that goes away with the test file. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "holotype-cli-"));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Writes a file into a folder and gives its path. */
export function put(folder: string, name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

export function linesOf(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

export interface Listed {
  readonly file: string;
  readonly offset: number;
  readonly length: number | null;
  readonly inner?: number;
  readonly type: string;
  readonly id: string | null;
  readonly date: string | null;
  readonly uri: string | null;
  readonly status: number | null;
  readonly mime: string | null;
  readonly payloadSize: number | null;
  readonly payloadDigest: string | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/** What `ls --json` says of a file, whatever its exit code. */
export function list(...names: readonly string[]): Listed[] {
  return linesOf(holotype(["ls", "--json", ...names]).out).map((line) => JSON.parse(line) as Listed);
}

/** A copy of a file with one byte changed. */
export function withFlippedByte(path: string, offset: number): Buffer {
  const bytes = readFileSync(path);
  bytes[offset]! ^= 0xff;
  return bytes;
}
