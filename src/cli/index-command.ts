import { ArchiveError } from "../base/index.ts";
import { type Access, createDurably, nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { accessOf, LineSorter } from "../pipeline/index.ts";
import { CDX_11, formatCdxHeader } from "../warc/index.ts";
import { type Command, parseChoice, requireFiles } from "./command.ts";
import { survey, THREADS_OPTION } from "./survey-run.ts";

export const index: Command = {
  name: "index",
  purpose: "Write a sorted CDX index of the captures in archive files.",
  usage: "FILE… [-o FILE]",
  details: `Indexes response, revisit, resource, conversion and metadata records. Sorts by bytes, in bounded memory. An
output file gets its name only when it is complete.`,
  options: {
    format: { type: "string", value: "FORMAT", help: "cdxj or cdx11", default: "cdxj" },
    output: { type: "string", short: "o", value: "FILE", help: "write to a file instead of standard output" },
    replace: { type: "boolean", help: "replace the output file if it is there" },
    json: { type: "boolean", help: "print warnings and errors as JSON; the index is what --format says" },
    "keep-www": { type: "boolean", help: "keep www. in keys, as some tools of the Webrecorder family do" },
    "full-path": { type: "boolean", help: "write file names with their folders" },
    ...THREADS_OPTION,
  },
  exits: "3 some inputs were skipped · 4 damage was found",
  examples: ["holotype index samples -o /tmp/samples.cdxj", "holotype index --format cdx11 samples | head -n 4"],
  async run(args) {
    const format = parseChoice("format", args.text("format"), ["cdxj", "cdx11"] as const);
    const options = { format, stripWww: !args.flag("keep-www"), fullPath: args.flag("full-path") };
    const output = args.text("output");
    const replace = args.flag("replace");
    // Told before the long work; who writes the file will see to it again.
    if (output !== undefined && !replace && nodeDisk.stat(output) !== undefined) {
      throw new ArchiveError("HT_EXISTS", `${output}: there already (see --replace)`, { file: output });
    }
    using sorter = new LineSorter(nodeDisk);
    let access: Access | undefined;
    const { exit } = await survey(requireFiles(index, args), { kind: "cdx", options }, args, {
      from: (inputs) => {
        access = accessOf(nodeDisk, inputs);
        return inputs;
      },
      onText: (text) => sorter.addText(text),
    });
    const write = (sink: (bytes: Uint8Array) => void) => {
      if (format === "cdx11") sink(Buffer.from(`${formatCdxHeader(CDX_11)}\n`));
      for (const chunk of sorter.sorted()) sink(chunk);
    };
    if (output === undefined) write(writeStandardOutput);
    else createDurably(nodeDisk, output, (file) => write((bytes) => file.write(bytes)), { replace, access });
    return exit;
  },
};
