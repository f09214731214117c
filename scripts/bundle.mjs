// The program for the command line, made of few files: most of a small command's time is the reading of modules. What
// programs import (`holotype/warc` and so on) stays as the compiler makes it.
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { root } from "./prepare.mjs";

/** The program, and every thread that it starts by the name of a file beside its own. */
const ENTRIES = {
  main: "cli/main.js",
  "record-worker": "pipeline/record-worker.js",
  "stage-worker": "pipeline/stage-worker.js",
  "survey-worker": "pipeline/survey/survey-worker.js",
  "http-source-worker": "pipeline/http-source-worker.js",
  "content-worker": "store/content-worker.js",
  "diff-worker": "serve/pages/compare/diff-worker.js",
};

const dist = join(root, "dist");
const inRoom = (room) => new RegExp(`/dist/${room}/`);
const named = (room, names) => new RegExp(`/dist/${room}/(?:${names.join("|")})\\.js$`);
/** What whoever asks an archive needs of the larger rooms. */
const OF_READING = named("warc", [
  "(?:block|byte|compressed|content|field|gzip|http|inflater|member|plain|zstd)-[a-z-]+",
  "chunked|inflater|load-pako|payload|reader|record|record-(?:finder|head|opening|start)|warning-log|whole-members|window",
]);
const OF_ANSWERS = named("temporal", [
  "bytes|change-map|check|entry|key-range|leaf|node|page-file|query|run|slot|timeline",
]);
const OF_INPUTS = named("pipeline", ["compression|http-source|inputs|part|record-damage"]);
/** What whoever takes records in, or gives them out, takes from the pipeline. */
const OF_RECORDS = named("pipeline", [
  "arc-conversion|manifest-line|record-facts|restore/record|reversal|rewrite|seen-payloads",
]);
const OF_COMMANDS = /\/dist\/cli\/(?:command|talk|version)\.js$/;
const made = await rolldown({
  input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(dist, path)])),
  platform: "node",
  external: [/^node:/, /^[^./]/],
  // No module of ours does anything by being loaded, so a command gets only what it names.
  treeshake: { moduleSideEffects: false },
});
const folder = join(dist, "bin");
rmSync(folder, { recursive: true, force: true });
await made.write({
  dir: folder,
  // Node reads and links modules of this kind in less time than the other.
  format: "cjs",
  chunkFileNames: "[name]-[hash].js",
  // Few files, each of what is used together: both files and bytes take time.
  codeSplitting: {
    groups: [
      // A group takes along what its modules import, unless one before it has that.
      ...["base", "disk", "url"].map((name) => ({ name, test: inRoom(name) })),
      { name: "reading", test: OF_READING },
      { name: "answers", test: OF_ANSWERS },
      { name: "inputs", test: OF_INPUTS },
      ...["warc", "temporal"].map((name) => ({ name, test: inRoom(name) })),
      { name: "record", test: OF_RECORDS },
      { name: "cli", test: OF_COMMANDS },
    ],
  },
});
await made.close();
writeFileSync(join(folder, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);

// The scripts for browsers, files beside the program, which serves them: that of the pages, and two of the replay origin.
for (const [input, file] of [
  ["pages.ts", "pages-script.js"],
  ["replay-boot.ts", "replay-boot.js"],
  ["replay-guard.ts", "replay-guard.js"],
]) {
  const script = await rolldown({ input: join(root, "ui", input), platform: "browser" });
  await script.write({ file: join(folder, file), format: "iife", minify: true });
  await script.close();
}

// Last: where it is there, all is.
copyFileSync(join(root, "scripts", "launcher.cjs"), join(folder, "holotype.js"));
