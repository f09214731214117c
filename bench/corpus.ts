/** The files that benchmarks read: made once, by the generator under shared/tools where it is, else by our own. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { WarcWriter } from "holotype/warc";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const tools = join(root, "..", "shared", "tools");
export const work = join(root, ".bench");

export interface CorpusSize {
  readonly files: number;
  readonly megabytesEach: number;
}

/** The .warc.gz files of a corpus of that size. */
export function prepareCorpus({ files, megabytesEach }: CorpusSize): string[] {
  const folder = join(work, `corpus-${files}x${megabytesEach}M`);
  if (!existsSync(folder)) {
    const partial = `${folder}.partial`;
    rmSync(partial, { recursive: true, force: true });
    mkdirSync(partial, { recursive: true });
    console.error(`making ${files} files of ${megabytesEach} MB …`);
    if (!runSynth(partial, files, megabytesEach)) makeOwn(partial, files, megabytesEach);
    renameSync(partial, folder);
  }
  const names = readdirSync(folder).filter((name) => name.endsWith(".warc.gz"));
  return names.sort().map((name) => join(folder, name));
}

function runSynth(folder: string, files: number, megabytesEach: number): boolean {
  const script = join(tools, "synth.py");
  if (!existsSync(script)) return false;
  const args = [script, "--out", folder, "--files", String(files), "--size", `${megabytesEach}M`];
  return spawnSync("python3", args, { stdio: ["ignore", "ignore", "inherit"] }).status === 0;
}

/** Pages of words that follow Zipf's law roughly and pictures of noise, from a small generator with a fixed seed. */
function makeOwn(folder: string, files: number, megabytesEach: number): void {
  let state = 1;
  const random = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  const words = Array.from({ length: 2000 }, () => Math.floor(random() * 36 ** 6).toString(36));
  const page = (size: number) => {
    let text = "";
    while (text.length < size) text += `<p class="entry">${words[Math.floor(words.length * random() ** 3)]} </p>\n`;
    return Buffer.from(text);
  };
  const noise = (size: number) => Buffer.from(Uint8Array.from({ length: size }, () => random() * 256));
  for (let k = 0; k < files; k++) {
    const parts: Buffer[] = [];
    const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) });
    for (let i = 0; writer.offset < megabytesEach << 20; i++) {
      const size = Math.floor(2000 + 30_000 * random() ** 2);
      const body = random() < 0.8 ? page(size) : noise(size);
      const head = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n`;
      const fields = [
        ["WARC-Type", "response"],
        ["WARC-Record-ID", `<urn:holotype:bench:${k}:${i}>`],
        ["WARC-Date", "2019-04-01T00:00:00Z"],
        ["WARC-Target-URI", `http://bench.example/${k}/${i}.html`],
        ["Content-Type", "application/http; msgtype=response"],
      ] as const;
      writer.write({ fields, block: Buffer.concat([Buffer.from(head), body]) });
    }
    writeFileSync(join(folder, `own-${k}.warc.gz`), Buffer.concat(parts));
  }
}

/** The yardstick in C, compiled; absent without its source, a compiler, zlib or OpenSSL. */
export function compileLimit(): string | undefined {
  const source = join(tools, "limit.c");
  const program = join(work, "limit");
  if (!existsSync(source)) return undefined;
  if (existsSync(program) && statSync(program).mtimeMs > statSync(source).mtimeMs) return program;
  mkdirSync(work, { recursive: true });
  const args = ["-O2", "-o", program, source, "-lz", "-lcrypto"];
  return spawnSync("cc", args, { stdio: "ignore" }).status === 0 ? program : undefined;
}
