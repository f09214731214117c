import { ArchiveError, DIGEST_ALGORITHMS } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { HalfManifest } from "../pipeline/index.ts";
import { type Command, parseChoice, requireFiles } from "./command.ts";
import { survey, THREADS_OPTION } from "./survey-run.ts";
import { printText } from "./talk.ts";

export const manifest: Command = {
  name: "manifest",
  purpose: "Print a line with the payload's digest for each response and resource record.",
  usage: "FILE…",
  details: `Columns, separated by tabs: file, offset, length, URI, date, digest, payload size, status, media type, framing,
record id, flags. The digest is computed from the payload, not taken from the header; with --trust-headers it is
where there is one, and the flags say so. Lines come in the order of the input whatever the number of threads.`,
  options: {
    digest: { type: "string", value: "ALGORITHM", help: DIGEST_ALGORITHMS.join(", "), default: "sha256" },
    "trust-headers": { type: "boolean", help: "take digests from headers where they are of that algorithm" },
    revisits: { type: "boolean", help: "lines for revisit records too, with what they refer to" },
    format: {
      type: "string",
      value: "FORMAT",
      help: "tsv, json, or warcsum: the six fields of the original tool",
      default: "tsv",
    },
    resume: { type: "string", value: "FILE", help: "go on with this half-written manifest; lines are added to it" },
    ...THREADS_OPTION,
  },
  exits: "3 some inputs were skipped · 4 damage was found",
  examples: [
    "holotype manifest samples > manifest.tsv",
    "holotype manifest --digest sha1 --threads 2 samples | cut -f 6 | sort | uniq -d",
  ],
  async run(args) {
    const digest = parseChoice("digest", args.text("digest"), DIGEST_ALGORITHMS);
    const format = parseChoice("format", args.text("format"), ["tsv", "json", "warcsum"]);
    const json = args.flag("json") || format === "json";
    const warcsum = !json && format === "warcsum";
    const trustHeaders = args.flag("trust-headers");
    const request = {
      kind: "manifest",
      options: { digest, json, warcsum, trustHeaders, revisits: args.flag("revisits") },
    } as const;
    const files = requireFiles(manifest, args);
    const path = args.text("resume");
    if (path === undefined) return (await survey(files, request, args, { onText: printText })).exit;
    if (json || warcsum) throw new ArchiveError("HT_USAGE", "only a manifest of columns can be resumed");
    using half = new HalfManifest(nodeDisk, path);
    const run = { onText: half.write, from: half.restart };
    const { exit } = await survey(files, request, args, run);
    half.finish();
    return exit;
  },
};
