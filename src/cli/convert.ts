import { ArchiveError } from "../base/index.ts";
import { nodeDisk, removeLeftovers, writeStandardOutput } from "../disk/index.ts";
import { type Converted, convertInput, findInputs, type Input, type SkippedInput } from "../pipeline/index.ts";
import { type Arguments, type Command, parseChoice, parseCount, requireFiles } from "./command.ts";
import { formatCount, formatSize, formatSkipped, ProgressLine, say } from "./talk.ts";
import { VERSION } from "./version.ts";

const COMPRESSIONS = ["gzip", "zstd", "none"] as const;
const LEVELS = { gzip: { min: 0, max: 9 }, zstd: { min: 1, max: 19 }, none: { min: 0, max: 0 } } as const;

export const convert: Command = {
  name: "convert",
  purpose: "Convert ARC to WARC, or one compression to another.",
  usage: "FILE… -o DIR",
  details: `An output gets its name only after it has been read back and every record in it was found equal to that of the
input. The header line of an ARC record is kept in the field Holotype-Arc-Header. A damaged file is not converted; an
output that is there already is left alone, so that the same command can be run again after it was stopped.`,
  options: {
    output: { type: "string", short: "o", value: "DIR", help: "folder for the converted files" },
    to: { type: "string", value: "COMPRESSION", help: "gzip, zstd or none", default: "gzip" },
    level: { type: "string", value: "N", help: "gzip 0 (stored) to 9, zstd 1 to 19" },
    dictionary: { type: "string", value: "FILE", help: "zstd dictionary to compress with; it is put into each file" },
    replace: { type: "boolean", help: "replace outputs that are there already" },
  },
  exits: "3 some inputs were not converted",
  examples: ["holotype convert samples --to zstd -o /tmp/zstd", "holotype check /tmp/zstd"],
  async run(args) {
    const files = requireFiles(convert, args);
    const folder = args.text("output");
    if (folder === undefined) throw new ArchiveError("HT_USAGE", "say where to with -o DIR");
    nodeDisk.makeFolder(folder);
    removeLeftovers(nodeDisk, folder);
    const skipped: SkippedInput[] = [];
    const onSkip = (input: SkippedInput) => {
      skipped.push(input);
      say(formatSkipped(input));
    };
    const inputs = findInputs(nodeDisk, files, onSkip);
    for (const input of inputs) await convertOne(input, folder, args, onSkip);
    return skipped.length > 0 ? 3 : 0;
  },
};

async function convertOne(input: Input, folder: string, args: Arguments, onSkip: (skipped: SkippedInput) => void) {
  const compression = parseChoice("to", args.text("to"), COMPRESSIONS);
  const level = args.text("level");
  const dictionary = args.text("dictionary");
  const progress = new ProgressLine();
  try {
    const converted = await convertInput(nodeDisk, input, {
      folder,
      compression,
      replace: args.flag("replace"),
      software: `Holotype/${VERSION}`,
      ...(level === undefined
        ? {}
        : { level: parseCount("level", level, LEVELS[compression].min, LEVELS[compression].max) }),
      ...(dictionary === undefined ? {} : { dictionary: readWhole(dictionary) }),
      onProgress: (bytesDone, records) =>
        progress.update({ file: input.name, bytesDone, bytesTotal: input.size ?? 0, records }),
    });
    progress.clear();
    writeStandardOutput(
      args.flag("json") ? `${JSON.stringify({ input: input.name, ...converted })}\n` : formatLine(input, converted),
    );
  } catch (error) {
    progress.clear();
    if (!(error instanceof ArchiveError) || error.code === "HT_NO_SPACE" || error.code === "HT_USAGE") throw error;
    onSkip({ name: input.name, error });
  }
}

function formatLine(input: Input, { output, records, sizeBefore, sizeAfter }: Converted): string {
  const sizes = `${sizeBefore === undefined ? "" : `${formatSize(sizeBefore)} → `}${formatSize(sizeAfter)}`;
  return `${input.name} → ${output}: ${formatCount(records, "record")}, ${sizes}, verified\n`;
}

const DICTIONARY_SIZE_MAX = 8 << 20;

function readWhole(path: string): Uint8Array {
  using file = nodeDisk.open(path, "read");
  if (file.size() > DICTIONARY_SIZE_MAX) throw new ArchiveError("HT_USAGE", `${path}: too large for a dictionary`);
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}
