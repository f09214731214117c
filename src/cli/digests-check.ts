import { formatIso } from "../base/index.ts";
import { checkIndex, OriginalFiles, type ProofCounts, proveIndex } from "../digests/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import type { Arguments, Command } from "./command.ts";
import { requireOneIndex } from "./digests-option.ts";
import { formatCount, report, say } from "./talk.ts";

const SHOWN_MAX = 20;

export const digestsCheck: Command = {
  name: "digests check",
  purpose: "Check a digest index for damage, and its originals against the archive files.",
  usage: "INDEX [--originals DIR]…",
  details: `Reads every page and checks that each URL and digest leads to its record. What an index says about originals is a
claim. With --originals, the archive files are read, and each claim is proven, contradicted or out of reach.`,
  options: {
    originals: {
      type: "string",
      value: "DIR",
      multiple: true,
      help: "an archive file, or a folder of them; may be repeated",
    },
  },
  exits: "4 damage found, or an original is not what the index says · 20 no index · 22 made by a newer Holotype",
  examples: [
    "holotype digests build samples -o /tmp/d --equivalent --etag",
    "holotype digests check /tmp/d --originals samples --json",
  ],
  run,
};

async function run(args: Arguments): Promise<number> {
  const folder = requireOneIndex(digestsCheck, args);
  const json = args.flag("json");
  const names = args.list("originals");
  let damaged = 0;
  for (const finding of checkIndex(nodeDisk, folder)) {
    if (++damaged <= SHOWN_MAX || json) say(json ? JSON.stringify({ finding }) : `${finding.file}: ${finding.message}`);
  }
  const proofs = damaged > 0 || names.length === 0 ? undefined : await prove(folder, names, json);
  if (json) report(`${JSON.stringify({ folder, damaged, ...(proofs === undefined ? {} : { originals: proofs }) })}\n`);
  else writeStandardOutput(`${describe(folder, damaged, proofs).join("\n")}\n`);
  return damaged > 0 || (proofs?.contradicted ?? 0) > 0 ? 4 : 0;
}

async function prove(folder: string, names: readonly string[], json: boolean): Promise<ProofCounts> {
  await using originals = new OriginalFiles(nodeDisk, names);
  let shown = 0;
  return await proveIndex(nodeDisk, folder, originals, ({ uri, timeMs, original }) => {
    const told = { uri, date: formatIso(timeMs), original };
    if (json) say(JSON.stringify({ contradicted: told }));
    else if (++shown <= SHOWN_MAX) say(`${uri}: its original of ${original!.date} has another content`);
  });
}

function describe(folder: string, damaged: number, proofs: ProofCounts | undefined): string[] {
  const lines = [`${folder}: ${damaged === 0 ? "no damage" : formatCount(damaged, "finding")}`];
  if (proofs === undefined) return lines;
  const { proven, claimed, contradicted, unreferable } = proofs;
  return [
    ...lines,
    `${formatCount(proven, "original")} proven, ${claimed} out of reach, ${contradicted} contradicted`,
    `${formatCount(unreferable, "entry", "entries")} without an original to refer to`,
  ];
}
