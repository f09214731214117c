import { nodeDisk } from "../disk/index.ts";
import { planManifests } from "../pipeline/index.ts";
import type { Command } from "./command.ts";
import { POLICY_OPTIONS, parsePolicy } from "./dedup.ts";
import { FORMAT_OPTION, LineOutput, parseLineFormat, takeManifests } from "./manifest-text.ts";
import { formatCount, formatSize, say } from "./talk.ts";

export const plan: Command = {
  name: "plan",
  purpose: "Decide which records of a manifest are originals and which are copies.",
  usage: "[MANIFEST…]",
  details: `Adds the copy number (column 14: 1 for an original) and for copies the URI, date, id, file and offset of the original
(columns 15 to 19). The original is the earliest capture that can be referred to. Lines may come in any order, from
manifest or from resolve; without resolve, digests are believed in. Lines of one payload come out together. What
revisits in the files refer to stays as it is where manifest --revisits has told of them, and all lines are planned
together. Up to 300 million lines can be planned at once, in up to 1.5 GB of memory; above that more and more records
stay as they are, and plan says so. With --format warcsum lines have the eight or ten fields of warcsumproc.`,
  options: {
    ...POLICY_OPTIONS,
    known: {
      type: "string",
      multiple: true,
      value: "FILE",
      help: "manifest, CDX or CDXJ of earlier holdings that may be referred to",
    },
    ...FORMAT_OPTION,
    "copies-only": { type: "boolean", help: "print only the lines that rewrite needs" },
  },
  examples: ["holotype manifest --revisits samples | holotype resolve | holotype plan > plan.tsv"],
  run(args) {
    const json = args.flag("json");
    const format = parseLineFormat(args);
    const output = new LineOutput(format);
    const copiesOnly = args.flag("copies-only");
    let [records, copies, bytes, compared] = [0, 0, 0, 0];
    let [isCopy, isPlanned] = [false, false];
    for (const line of planManifests(nodeDisk, takeManifests(args.positionals), {
      policy: parsePolicy(args),
      known: args.list("known"),
      onTell: (message) => {
        if (!json) say(message);
      },
      onPlanned: ({ line: planned, decision }) => {
        records++;
        isCopy = decision?.kind === "duplicate";
        isPlanned = isCopy || decision?.kind === "original";
        if (!isCopy) return;
        copies++;
        bytes += planned.length ?? 0;
        if (planned.extension !== undefined) compared++;
      },
    })) {
      if (copiesOnly ? isCopy : format !== "warcsum" || isPlanned) output.write(line);
    }
    output.flush();
    if (!json) {
      say(
        `${formatCount(records, "line")}, ${formatCount(copies, "copy", "copies")} of ${formatSize(bytes)} in their files`,
      );
      if (compared < copies) say(`${formatCount(copies - compared, "payload")} not compared: see holotype resolve`);
    }
    return Promise.resolve(0);
  },
};
