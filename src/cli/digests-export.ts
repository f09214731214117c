import { ArchiveError } from "../base/index.ts";
import { DigestIndex, EXPORT_FORMATS, type ExportFormat, formatExported, WGET_HEADER } from "../digests/index.ts";
import { createDurably, nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { LineSorter } from "../pipeline/index.ts";
import { CDX_11, formatCdxHeader } from "../warc/index.ts";
import { type Arguments, type Command, parseChoice } from "./command.ts";
import { requireOneIndex } from "./digests-option.ts";
import { accessOfNames } from "./output-access.ts";
import { formatCount, say } from "./talk.ts";

const HEADERS: Readonly<Partial<Record<ExportFormat, string>>> = { wget: WGET_HEADER, cdx11: formatCdxHeader(CDX_11) };

export const digestsExport: Command = {
  name: "digests export",
  purpose: "Export a digest index for crawlers and other tools.",
  usage: "INDEX [-o FILE]",
  details: `wget is for wget --warc-dedup: URL, sha1 and record id. It lists only entries with a record id, which WARC files and
wget's own CDX have; wget computes another digest for chunked payloads and does not find those. cdx11 and cdxj have one
line per content of a URL; if its record is not known, or belongs to another URL, the line is a warc/revisit. jsonl has
everything. Lines are sorted bytewise.`,
  options: {
    format: { type: "string", value: "FORMAT", help: EXPORT_FORMATS.join(", "), default: "cdxj" },
    output: { type: "string", short: "o", value: "FILE", help: "write to a file instead of standard output" },
    replace: { type: "boolean", help: "replace an existing output file" },
    json: { type: "boolean", help: "print errors as JSON; the lines keep the format of --format" },
  },
  exits: "20 no index · 23 damaged · 24 no space",
  examples: [
    "holotype digests build samples -o /tmp/d --equivalent --etag",
    "holotype digests export /tmp/d --format wget -o /tmp/d.cdx",
  ],
  run,
};

async function run(args: Arguments): Promise<number> {
  const folder = requireOneIndex(digestsExport, args);
  const format = parseChoice("format", args.text("format"), EXPORT_FORMATS);
  const output = args.text("output");
  const replace = args.flag("replace");
  if (output !== undefined && !replace && nodeDisk.stat(output) !== undefined) {
    throw new ArchiveError("HT_EXISTS", `${output}: exists already (see --replace)`, { file: output });
  }
  using sorter = new LineSorter(nodeDisk);
  let left = 0;
  await using index = DigestIndex.open(nodeDisk, folder);
  for (const entry of index.entries()) {
    const line = formatExported(entry, format);
    if (line === undefined) left++;
    else sorter.add(line);
  }
  const write = (sink: (bytes: Uint8Array) => void) => {
    const header = HEADERS[format];
    if (header !== undefined) sink(Buffer.from(`${header}\n`));
    for (const chunk of sorter.sorted()) sink(chunk);
  };
  if (output === undefined) write(writeStandardOutput);
  else {
    const access = await accessOfNames([folder]);
    createDurably(nodeDisk, output, (file) => write((bytes) => file.write(bytes)), { replace, access });
  }
  if (left > 0 && !args.flag("json"))
    say(`${formatCount(left, "entry", "entries")} without a record id or sha1 skipped`);
  return 0;
}
