// The program for the command line, made of few files: most of a small command's time is the reading of modules. What
// programs import (`holotype/warc` and so on) stays as the compiler makes it.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { root } from "./prepare.mjs";

/** The program, and every thread that it starts by the name of a file beside its own. */
const ENTRIES = {
  holotype: "cli/main.js",
  "record-worker": "pipeline/record-worker.js",
  "stage-worker": "pipeline/stage-worker.js",
  "survey-worker": "pipeline/survey/survey-worker.js",
  "http-source-worker": "pipeline/http-source-worker.js",
  "content-worker": "store/content-worker.js",
};

const dist = join(root, "dist");
const inRoom = (room) => new RegExp(`/dist/${room}/`);
/** What whoever reads an archive takes from the pipeline, and what all commands share. */
const OF_RECORDS =
  /\/dist\/pipeline\/(?:inputs|http-source|part|record-facts|seen-payloads|arc-conversion|restore\/record|reversal|rewrite|manifest-line)\.js$/;
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
  format: "esm",
  chunkFileNames: "[name]-[hash].js",
  // One file for each of the rooms that most commands use: it is files that take time, not bytes.
  codeSplitting: {
    groups: [
      ...["base", "disk", "warc", "url", "temporal"].map((name) => ({ name, test: inRoom(name) })),
      { name: "record", test: OF_RECORDS },
      { name: "cli", test: OF_COMMANDS },
    ],
  },
});
await made.close();
