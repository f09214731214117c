/** Twenty million lines of a manifest through plan and split: memory must stay where it is. */
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { root, work } from "./corpus.ts";
import { interleave } from "./measure.ts";
import { limitRow, type Row } from "./report.ts";

export async function run(quick: boolean): Promise<Row[]> {
  const millions = quick ? 1 : 20;
  const manifest = makeManifest(millions);
  const main = join(root, "dist/bin/holotype.js");
  const out = join(work, "out-lines");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const best = await interleave(
    [
      { name: "plan", command: process.execPath, args: [main, "plan", manifest] },
      {
        name: "split",
        command: process.execPath,
        args: [main, "split", "16", manifest, "-o", `${out}/part-`, "--replace"],
      },
    ],
    1,
  );
  const row = (name: string) => {
    const cost = best.get(name);
    const metric = `${name} of ${millions} million lines, ${cost?.wallSeconds.toFixed(0)} s: memory`;
    return limitRow(metric, cost?.residentMb, "MB", 300);
  };
  return [row("plan"), row("split")];
}

/** Lines as `manifest` writes them, of captures of which every other is a duplicate. */
function makeManifest(millions: number): string {
  const path = join(work, `manifest-${millions}M.tsv`);
  if (existsSync(path)) return path;
  mkdirSync(work, { recursive: true });
  console.error(`making ${millions} million lines …`);
  const file = openSync(`${path}.partial`, "w");
  let state = 1;
  const random = () => {
    state = (state * 48271) % 2147483647;
    return state;
  };
  let text = "";
  for (let i = 0; i < millions * 1_000_000; i++) {
    const content = random() % (millions * 500_000);
    const digest = (content * 2654435761).toString(16).padStart(16, "0").repeat(4).slice(0, 64);
    const day = String(1 + (i % 28)).padStart(2, "0");
    text +=
      `crawl-${Math.floor(i / 50_000)}.warc.gz\t${(i % 50_000) * 9000}\t8000\thttp://host-${random() % 5000}.example/${i}\t` +
      `2019-04-${day}T${String(i % 24).padStart(2, "0")}:00:${String(i % 60).padStart(2, "0")}Z\tsha256:${digest}\t` +
      `${20_000 + (content % 1000)}\t200\ttext/html\tplain\turn:uuid:${i}\theader-digest:transferred\n`;
    if (text.length < 1 << 20) continue;
    writeSync(file, text);
    text = "";
  }
  writeSync(file, text);
  closeSync(file);
  renameSync(`${path}.partial`, path);
  return path;
}
