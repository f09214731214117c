import { formatPlace } from "../base/index.ts";
import { writeStandardOutput } from "../disk/index.ts";
import type { Arguments, Command } from "./command.ts";
import { formatCount } from "./talk.ts";
import { openFolder } from "./timeline-text.ts";

export const timelineCheck: Command = {
  name: "timeline check",
  purpose: "Look for damage in a timeline: checksums and every invariant of its pages.",
  usage: "DIR",
  details: `Reads every page of the last commit. Nothing is changed; a writer may go on meanwhile.`,
  options: {},
  exits: "4 damage was found · 20 no timeline · 22 of a newer Holotype · 23 it cannot be opened at all",
  examples: ["holotype index samples | holotype timeline load /tmp/t - > /dev/null && holotype timeline check /tmp/t"],
  run: (args) => Promise.resolve(run(args)),
};

function run(args: Arguments): number {
  const json = args.flag("json");
  const { folder, snapshot } = openFolder(timelineCheck, args);
  using _ = snapshot;
  let findings = 0;
  for (const finding of snapshot.check()) {
    findings++;
    const line = json ? JSON.stringify(finding) : `${formatPlace(finding)}: ${finding.code} ${finding.message}`;
    writeStandardOutput(`${line}\n`);
  }
  const { keys, entries, visits } = snapshot.info;
  const summary = { folder, keys, entries, visits, findings, sound: findings === 0 };
  const state = findings === 0 ? "all sound" : formatCount(findings, "finding");
  const counts = `${formatCount(keys, "key")}, ${formatCount(entries, "entry", "entries")}, ${formatCount(visits, "visit")}`;
  writeStandardOutput(json ? `${JSON.stringify({ summary })}\n` : `${folder}: ${counts}: ${state}\n`);
  return findings === 0 ? 0 : 4;
}
