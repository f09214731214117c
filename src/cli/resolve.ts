import { availableParallelism } from "node:os";
import type { Warning } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { BY_DIGEST, mergeManifests, resolveManifest, sortManifests, WarcsumIntake } from "../pipeline/index.ts";
import { type Command, parseCount } from "./command.ts";
import { FORMAT_OPTION, LineOutput, parseLineFormat, takeManifests } from "./manifest-text.ts";
import { formatCount, StageLine, say, tellWarning } from "./talk.ts";

export const resolve: Command = {
  name: "resolve",
  purpose: "Compare the payloads of manifest lines with one digest byte for byte.",
  usage: "[MANIFEST…]",
  details: `Adds the hash extension, column 13: a number that tells payloads apart which have one digest and other bytes.
Also notes in the flags what a revisit must tell so that the record can be restored. Files are found by their
names as paths, in the folders, or through a list of names and paths or URLs (fetched by range requests). Reads
standard input where no manifest is named. Lines of the original warcsum (six fields, blanks, hex digests) are taken,
too: each record is read, and what the fields do not tell is added. With --format warcsum lines have seven fields.`,
  options: {
    folder: { type: "string", multiple: true, value: "DIR", help: "search this folder for files by their names" },
    paths: { type: "string", value: "FILE", help: "lines of name, tab, path or URL" },
    sorted: { type: "boolean", help: "the lines are sorted by digest already; do not sort them again" },
    ...FORMAT_OPTION,
    threads: { type: "string", short: "j", value: "N", help: "worker threads (default: one a core)" },
  },
  exits: "4 a record could not be read, or is not as the manifest has it",
  examples: ["holotype manifest samples | holotype resolve > resolved.tsv"],
  async run(args) {
    const threads = args.text("threads");
    const json = args.flag("json");
    const output = new LineOutput(parseLineFormat(args));
    const line = new StageLine();
    let unreadable = 0;
    const onWarning = (warning: Warning) => {
      unreadable++;
      line.clear();
      tellWarning(warning, json);
    };
    const locator = { folders: args.list("folder"), index: args.text("paths") };
    using intake = await WarcsumIntake.create(nodeDisk, locator, onWarning);
    const manifests = takeManifests(args.positionals).map((manifest) => intake.complete(manifest));
    const lines = args.flag("sorted")
      ? mergeManifests(manifests, BY_DIGEST)
      : sortManifests(nodeDisk, manifests, BY_DIGEST);
    const { compared, collisions } = await resolveManifest(nodeDisk, lines, {
      locator,
      threads: threads === undefined ? availableParallelism() : parseCount("threads", threads, 1, 256),
      onText: (text) => output.write(text.slice(0, -1)),
      onProgress: (done, total) => line.update({ stage: "comparing", done, total, saved: 0 }),
      onWarning,
    });
    output.flush();
    line.clear();
    if (!json) say(`${formatCount(compared, "comparison")}, ${formatCount(collisions, "collision")}`);
    return unreadable > 0 ? 4 : 0;
  },
};
