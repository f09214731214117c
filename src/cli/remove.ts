import { ArchiveWriter, type RemovedCapture, type RemoveReport, type Selection } from "../archive/index.ts";
import { ArchiveError, parseDigest } from "../base/index.ts";
import { ClosedPipe, nodeDisk } from "../disk/index.ts";
import { ARCHIVE_OPTION, archiveFolder, parseAsOf, parseSince, SCOPE_OPTIONS, siteOf } from "./archive-option.ts";
import type { Arguments, Command } from "./command.ts";
import { LineOutput } from "./manifest-text.ts";
import { formatCount, say } from "./talk.ts";

export const remove: Command = {
  name: "remove",
  purpose: "Take captures out of the archive, with a reason that is kept.",
  usage: "URL | --site HOST | --prefix URL | --digest DIGEST",
  details: `The captures are out of every answer at once, with their requests, their metadata and all other records that belong to
them, and with what crawlers file about them: screenshots, page descriptions, DNS lookups of a --site. They do not
come back when the files that they came from are added again, unless you add those with --readmit. The archive's
journal says what was removed, when and why. The bytes leave the disk with the next holotype compact. A content that
other captures share stays; compact then writes it as the record of the earliest of them. Nothing can be undone then.
Adopted files keep their bytes: the ones concerned are named. Each capture is listed: date, digest, URL.`,
  options: {
    ...ARCHIVE_OPTION,
    ...SCOPE_OPTIONS,
    digest: { type: "string", value: "DIGEST", help: "only captures with this payload, of whatever URL: sha256:…" },
    from: { type: "string", value: "TIME", help: "only captures from this time on" },
    to: { type: "string", value: "TIME", help: "only captures up to this time" },
    reason: { type: "string", value: "TEXT", help: "why; kept in the journal" },
    "dry-run": { type: "boolean", help: "list what would be removed, and remove nothing" },
  },
  exits: "20 no archive, or no such capture · 21 another writer is there",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype remove --prefix http://cabinet.example/press/ --from 2014 --dry-run --archive /tmp/cabinet",
    "holotype remove http://cabinet.example/guestbook.html --reason 'a guest asked for it' --archive /tmp/cabinet",
  ],
  async run(args) {
    const selection = parseSelection(args);
    const dryRun = args.flag("dry-run");
    const reason = args.text("reason")?.trim() ?? "";
    if (reason === "" && !dryRun) throw new ArchiveError("HT_USAGE", "say why with --reason, or try with --dry-run");
    await using writer = ArchiveWriter.open(nodeDisk, archiveFolder(args));
    const json = args.flag("json");
    const output = new LineOutput();
    let closed: ClosedPipe | undefined;
    const onCapture = (capture: RemovedCapture) => {
      try {
        if (closed === undefined) output.write(json ? JSON.stringify(capture) : format(capture));
      } catch (error) {
        // Who reads the list may go; what was asked for is done all the same.
        if (!(error instanceof ClosedPipe)) throw error;
        closed = error;
      }
    };
    const report = await writer.remove(selection, { reason, dryRun, onCapture });
    if (closed !== undefined) throw closed;
    const { captures, notes, adopted } = report;
    if (captures + notes === 0) throw new ArchiveError("HT_NOT_FOUND", "the archive has no such capture");
    output.write(json ? JSON.stringify({ summary: { ...report, dryRun } }) : summarize(report, dryRun));
    output.flush();
    if (!json) for (const name of adopted) say(`${name} was adopted and keeps its bytes, what is removed included`);
    return 0;
  },
};

function summarize({ captures, contents, notes, revisits }: RemoveReport, dryRun: boolean): string {
  const count = formatCount(captures, "capture");
  const other = notes === 0 ? "" : ` and ${formatCount(notes, "other record")}`;
  if (dryRun) return `${count}${other} would be removed`;
  const named = revisits === 0 ? "" : `; ${formatCount(revisits, "revisit")} in the archive still name them`;
  return `${count}${other} removed, and ${formatCount(contents, "content")} that no other capture has${named}`;
}

function parseSelection(args: Arguments): Selection {
  const [url, ...more] = args.positionals;
  const [digest, from, to] = [args.text("digest"), args.text("from"), args.text("to")];
  const selection = {
    url,
    site: siteOf(args),
    prefix: args.text("prefix"),
    sha256: digest === undefined ? undefined : parseSha256(digest),
  };
  const count = Object.values(selection).filter((each) => each !== undefined).length;
  if (count !== 1 || more.length > 0) throw new ArchiveError("HT_USAGE", `usage: holotype remove ${remove.usage}`);
  return {
    ...selection,
    fromMs: from === undefined ? undefined : parseSince(from),
    toMs: to === undefined ? undefined : parseAsOf(to),
  };
}

function parseSha256(text: string): string {
  const digest = parseDigest(text, "sha256");
  if (digest?.algorithm === "sha256") return digest.hex;
  throw new ArchiveError("HT_USAGE", `--digest takes a sha256, not ${text}`);
}

function format({ date, sha256, url }: RemovedCapture): string {
  return `${date} ${(sha256 ?? "-").slice(0, 12).padEnd(12)} ${url}`;
}
