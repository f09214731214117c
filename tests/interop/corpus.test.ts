import { describe, expect, test } from "vitest";
import { bufferSource, loadZstd } from "../../src/warc/index.ts";
import { writeFileSync } from "node:fs";
import { WARCParser } from "warcio";
import { archivesIn, corpusFiles, readCorpus, readFile } from "./corpus-files.ts";
import { readWithPython } from "./walib-run.ts";
await loadZstd();
test("explore", async () => {
  const out: string[] = [];
  const paths = corpusFiles();
  const py = readWithPython(paths.filter((p) => !/\.(wacz|zip|cdxj?|log|jsonl|idx|tsv|zst|lz4)$/.test(p)));
  for (const path of paths) {
    const t = performance.now();
    const bytes = readCorpus(path);
    let n = 0; let codes: string[] = [];
    for (const [source, content] of archivesIn(bufferSource(bytes, path), bytes)) {
      const file = readFile(source, content);
      n += file.records.length; codes.push(...file.codes);
      if (!file.copy.equals(content)) out.push(`COPY ${path}`);
      const p = py.get(path);
      if (p !== undefined) {
        const theirs = p.filter((r) => r.format !== "garbage");
        const a = file.records.map((r) => `${r.offset}+${r.inner} ${r.length} ${r.size} ${r.sha1.slice(0,6)}`);
        const b = theirs.map((r) => `${r.offset}+${r.inner} ${r.length} ${r.size} ${r.sha1.slice(0,6)} ${r.flags} ${r.note}`);
        const bb = theirs.map((r) => `${r.offset}+${r.inner} ${r.length} ${r.size} ${r.sha1.slice(0,6)}`);
        if (JSON.stringify(a) !== JSON.stringify(bb)) {
          const i = a.findIndex((x, k) => x !== bb[k]);
          const k = i < 0 ? a.length : i;
          out.push(`PY ${path} n=${a.length}/${b.length} at ${k}: ours ${a[k]} theirs ${b[k]} (diffs ${a.filter((x, m) => x !== bb[m]).length}) codes ${[...new Set(file.codes)]}`);
        }
      }
    }
    if (/\.(warc|gz|wat|wet)$/.test(path)) {
      const theirs: string[] = [];
      let err = "";
      try {
        const parser = new WARCParser([new Uint8Array(bytes)]);
        for await (const r of parser) { await r.skipFully(); theirs.push(`${(r as any)._offset ?? parser.offset} ${parser.recordLength}`); }
      } catch (e) { err = String(e).slice(0, 60); }
      const file = readFile(bufferSource(bytes, path), bytes);
      const ours = file.records.map((r) => `${r.offset} ${r.length}`);
      if (JSON.stringify(theirs) !== JSON.stringify(ours)) {
        const k = ours.findIndex((x, m) => x !== theirs[m]);
        out.push(`WARCIO ${path} n=${ours.length}/${theirs.length} at ${k}: ours ${ours[k]} theirs ${theirs[k]} err ${err} codes ${[...new Set(file.codes)]}`);
      }
    }
    const d = performance.now() - t;
    if (d > 500) out.push(`SLOW ${path} ${d}`);
    out.push(`FILE ${path} ${n} ${[...new Set(codes)]}`);
  }
  writeFileSync("/tmp/explore.txt", out.join("\n"));
});
