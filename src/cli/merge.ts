import { nodeDisk } from "../disk/index.ts";
import { mergeManifests, sortManifests } from "../pipeline/index.ts";
import { type Command, parseChoice } from "./command.ts";
import { LineOutput, ORDERS, takeManifests } from "./manifest-text.ts";

export const merge: Command = {
  name: "merge",
  purpose: "Make one sorted manifest of several, sorted or not.",
  usage: "[MANIFEST…]",
  details: `The order is that of GNU sort with LC_ALL=C on the same columns:
  digest      -k 6,6 -k 13,13 -k 5,5 -k 1,1 -k 2,2n            what resolve takes
  digest-url  -k 6,6 -k 13,13 -k 4,4 -k 5,5 -k 1,1 -k 2,2n
  place       -k 1,1 -k 2,2n                                   what rewrite takes`,
  options: {
    by: { type: "string", value: "ORDER", help: "digest, digest-url or place", default: "digest" },
    sorted: {
      type: "boolean",
      help: "they are in that order already: merge them, refuse one that is not",
    },
  },
  examples: ["holotype manifest samples | holotype merge --by digest | cut -f 4,5,6"],
  run(args) {
    const order = ORDERS[parseChoice("by", args.text("by"), Object.keys(ORDERS))]!;
    const manifests = takeManifests(args.positionals);
    const output = new LineOutput(args.flag("json") ? "json" : "tsv");
    const lines = args.flag("sorted") ? mergeManifests(manifests, order) : sortManifests(nodeDisk, manifests, order);
    for (const line of lines) output.write(line);
    output.flush();
    return Promise.resolve(0);
  },
};
