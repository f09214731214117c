import { ArchiveError, systemClock, systemRandom } from "../base/index.ts";
import { type FetchJobOptions, runFetchJob } from "../crawl/index.ts";
import { DigestIndex, OriginalFiles } from "../digests/index.ts";
import { nodeDisk } from "../disk/index.ts";
import type { Command } from "./command.ts";
import {
  FETCH_OPTIONS,
  identityOf,
  openClient,
  parseFetchSettings,
  parseParallel,
  parseSeconds,
  takeUrls,
} from "./fetch-options.ts";
import { FetchTalk } from "./fetch-talk.ts";
import { Interruption } from "./interruption.ts";
import { accessOfNames, makeFolderFor } from "./output-access.ts";
import { parseSizeOption } from "./volume-option.ts";

export const fetchCommand: Command = {
  name: "fetch",
  purpose: "Fetch URLs into WARC files, but not what is unchanged since earlier crawls.",
  usage: "[URL…] [-i FILE] -o DIR [--digests INDEX]… [--archive DIR]",
  details: `Asks for each document only if it has changed since the crawl in --digests or --archive. If the server says it has
not (304), a revisit record is written and no body is sent. A body with the digest of a known capture becomes a revisit
as well. Without --digests and --archive, everything is fetched. For the next crawl, pass --digests DIR/digests.

Run the same command again after an interruption, a crash or a full disk: finished URLs are skipped.

--by abort reads the header of each answer and stops there if the header predicts no change. That is a prediction, not
a capture: it appears only in the log and the report, unless you give --write-predicted. --audit fetches a share of the
documents in full: the only way to measure how often headers are wrong.`,
  options: FETCH_OPTIONS,
  exits: "3 some URLs failed; run it again · 20 no index or list · 21 DIR or the archive is in use · 24 no space",
  examples: [
    "holotype fetch https://cabinet.example/ -o /tmp/first",
    "holotype fetch https://cabinet.example/ -o /tmp/second --digests /tmp/first/digests --originals /tmp/first",
  ],
  async run(args) {
    const folder = args.text("output");
    if (folder === undefined) throw new ArchiveError("HT_USAGE", "-o DIR is missing (see holotype fetch --help)");
    const [json, settings, urls] = [args.flag("json"), parseFetchSettings(args), takeUrls(args)];
    const fileSize = args.text("max-file");
    const talk = new FetchTalk(json);
    const folders = args.list("originals");
    await using originals = folders.length === 0 ? undefined : new OriginalFiles(nodeDisk, folders);
    const known = args.list("digests").map((path) => DigestIndex.open(nodeDisk, path, { originals }));
    const archives = [args.text("archive") ?? []].flat();
    const told = ["input", "digests", "originals"].flatMap((name) => args.list(name));
    const access = await accessOfNames([...told, ...archives]);
    using interruption = new Interruption("stopping; run the same command again to continue");
    try {
      const job: FetchJobOptions = {
        disk: nodeDisk,
        clock: systemClock,
        random: systemRandom,
        folder,
        urls,
        identity: identityOf(args),
        settings,
        client: openClient(args),
        known,
        against: [...archives, ...args.list("digests")].join(", "),
        archive: archives[0],
        delayMs: parseSeconds("delay", args),
        parallel: parseParallel(args),
        prefix: args.text("prefix") ?? "",
        ...(fileSize === undefined ? {} : { fileSizeMaxBytes: parseSizeOption("max-file", fileSize) }),
        signal: interruption.signal,
        onRetrieval: talk.retrieval,
        onWarning: talk.warn,
      };
      for (const made of [folder, ...archives]) makeFolderFor(made, access);
      const result = await runFetchJob(job);
      talk.clear();
      talk.report(result);
      if (result.isInterrupted)
        throw new ArchiveError("HT_INTERRUPTED", "interrupted; run the same command again to continue");
      return result.tally.counts.outcomes.failed > 0 ? 3 : 0;
    } finally {
      talk.clear();
      for (const index of known) await index.close();
    }
  },
};
