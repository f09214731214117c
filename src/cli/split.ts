import { ArchiveError } from "../base/index.ts";
import { commonAccess, DurableOutput, nodeDisk } from "../disk/index.ts";
import { partOf } from "../pipeline/index.ts";
import { type Command, parseCount } from "./command.ts";
import { takeManifests } from "./manifest-text.ts";
import { formatCount, say } from "./talk.ts";

const PARTS_MAX = 1000;
const TEXT_SIZE = 1 << 16;

export const split: Command = {
  name: "split",
  purpose: "Partition manifests so that lines of one digest stay together.",
  usage: "N [MANIFEST…] -o PREFIX",
  details: `Writes PREFIX000.tsv to PREFIX(N-1).tsv. Which part a line goes to depends on its digest alone, so manifests that
were made on several machines can be split on each, and parts of one number belong together. The order of lines stays.`,
  options: {
    output: { type: "string", short: "o", value: "PREFIX", help: "how the names of the parts begin" },
    replace: { type: "boolean", help: "replace parts that are there already" },
  },
  examples: ["holotype manifest samples | holotype split 4 -o /tmp/part-"],
  run(args) {
    const [number, ...names] = args.positionals;
    if (number === undefined) throw new ArchiveError("HT_USAGE", "say into how many parts: holotype split N");
    const count = parseCount("parts", number, 1, PARTS_MAX);
    const prefix = args.text("output");
    if (prefix === undefined) throw new ArchiveError("HT_USAGE", "say where to with -o PREFIX");
    const paths = Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(3, "0")}.tsv`);
    const replace = args.flag("replace");
    const access = commonAccess(names.flatMap((name) => nodeDisk.stat(name) ?? []));
    const outputs = paths.map((path) => DurableOutput.begin(nodeDisk, path, { replace, access }));
    try {
      const texts = paths.map(() => "");
      let lines = 0;
      for (const { lines: text } of takeManifests(names)) {
        for (const line of text) {
          const part = partOf(line, count);
          texts[part] += `${line}\n`;
          lines++;
          if (texts[part]!.length < TEXT_SIZE) continue;
          outputs[part]!.write(Buffer.from(texts[part]!));
          texts[part] = "";
        }
      }
      for (const [i, output] of outputs.entries()) {
        output.write(Buffer.from(texts[i]!));
        output.commit();
      }
      if (!args.flag("json")) say(`${formatCount(lines, "line")} in ${formatCount(count, "part")}`);
    } finally {
      for (const output of outputs) output.abort();
    }
    return Promise.resolve(0);
  },
};
