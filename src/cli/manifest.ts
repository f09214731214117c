import { DIGEST_ALGORITHMS } from "../base/index.ts";
import { writeStandardOutput } from "../disk/index.ts";
import { type Command, parseChoice, requireFiles } from "./command.ts";
import { survey, THREADS_OPTION } from "./survey-run.ts";

export const manifest: Command = {
  name: "manifest",
  purpose: "Print a line with the payload's digest for each response and resource record.",
  usage: "FILE…",
  details: `Columns, separated by tabs: file, offset, length, URI, date, digest, payload size, status, media type, framing,
record id, flags. The digest is computed from the payload, never taken from the header. Lines come in the order of the
input whatever the number of threads. With --json each line is an object.`,
  options: {
    digest: { type: "string", value: "ALGORITHM", help: DIGEST_ALGORITHMS.join(", "), default: "sha256" },
    ...THREADS_OPTION,
  },
  exits: "3 some inputs were skipped · 4 damage was found",
  examples: [
    "holotype manifest samples > manifest.tsv",
    "holotype manifest --digest sha1 --threads 2 samples | cut -f 6 | sort | uniq -d",
  ],
  async run(args) {
    const digest = parseChoice("digest", args.text("digest"), DIGEST_ALGORITHMS);
    const request = { kind: "manifest", options: { digest, json: args.flag("json") } } as const;
    const { exit } = await survey(requireFiles(manifest, args), request, args, { onText: writeStandardOutput });
    return exit;
  },
};
