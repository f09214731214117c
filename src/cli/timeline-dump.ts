import { nodeDisk } from "../disk/index.ts";
import { openTimeline, prefixRange, TIME_MAX } from "../temporal/index.ts";
import { type Arguments, type Command, requireFiles } from "./command.ts";
import { LineOutput } from "./manifest-text.ts";
import { digestHex, escapeBytes, formatValue, unescapeBytes } from "./timeline-text.ts";

export const timelineDump: Command = {
  name: "timeline dump",
  purpose: "Write every visit of a timeline as a line of text, which load takes back.",
  usage: "DIR",
  details: `Columns, with a tab between them: key, time in milliseconds since 1970, digest in hex or the word gone, value.
Sorted by key and time. Bytes that are no printed characters are told as \\xNN. All visits of an entry have the value
of its first.`,
  options: { prefix: { type: "string", value: "KEY", help: "only keys that begin so" } },
  exits: "20 no timeline · 22 of a newer Holotype · 23 damaged",
  examples: ["holotype index samples | holotype timeline load /tmp/t - > /dev/null && holotype timeline dump /tmp/t"],
  run: (args) => Promise.resolve(run(args)),
};

function run(args: Arguments): number {
  const [folder] = requireFiles(timelineDump, args);
  using snapshot = openTimeline(nodeDisk, folder!);
  const prefix = unescapeBytes(args.text("prefix") ?? "", "--prefix").toString("latin1");
  const json = args.flag("json");
  const output = new LineOutput();
  const write = (key: string, time: number, digest: string | undefined, value: string) => {
    const hex = digest === undefined ? "gone" : digestHex(digest);
    const name = escapeBytes(key);
    output.write(json ? JSON.stringify({ key: name, time, digest: hex, value }) : [name, time, hex, value].join("\t"));
  };
  // Keys come once for each of their entries and ends, one after another.
  let last: string | undefined;
  for (const { key } of snapshot.events(-TIME_MAX - 1, TIME_MAX, prefixRange(prefix))) {
    if (key === last) continue;
    last = key;
    const entries = snapshot.history(key);
    let at = 0;
    for (const { time, digest } of snapshot.visits(key)) {
      while (digest !== undefined && at + 1 < entries.length && !isIn(entries[at]!, time, digest)) at++;
      write(key, time, digest, digest === undefined ? "" : formatValue(entries[at]!.value));
    }
  }
  output.flush();
  return 0;
}

/** Whether a visit belongs to this entry: entries of one moment are told apart by their digests. */
function isIn(entry: { digest: string; birth: number; lastSeen: number }, time: number, digest: string): boolean {
  return entry.digest === digest && entry.birth <= time && time <= entry.lastSeen;
}
