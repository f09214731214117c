import { dirname, join, relative, resolve } from "node:path";
import { ArchiveError } from "../base/index.ts";
import { nodeDisk, removeLeftovers } from "../disk/index.ts";
import {
  type Converted,
  type ConvertOptions,
  convertedName,
  convertInput,
  type Input,
  type SkippedInput,
} from "../pipeline/index.ts";
import { type Arguments, type Command, parseChoice, parseCount, requireFiles } from "./command.ts";
import { takeInputs } from "./survey-run.ts";
import { formatCount, formatSize, ProgressLine, report, tellSkipped } from "./talk.ts";
import { VERSION } from "./version.ts";

const COMPRESSIONS = ["gzip", "zstd", "none"] as const;
const LEVELS = { gzip: { min: 0, max: 9 }, zstd: { min: 1, max: 19 }, none: { min: 0, max: 0 } } as const;

export const convert: Command = {
  name: "convert",
  purpose: "Convert ARC to WARC, or one compression to another.",
  usage: "FILE… -o DIR",
  details: `An output gets its name only after it has been read back and every record in it was found equal to that of the
input. The header line of an ARC record is kept in the field Holotype-Arc-Header. A damaged file is not converted.
Run again after it was stopped, it keeps the outputs that are there, once they too have proved equal. The files
of a folder keep their places below it.`,
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
    const settings = parseSettings(folder, args);
    const skipped: SkippedInput[] = [];
    const onSkip = (input: SkippedInput) => {
      skipped.push(input);
      tellSkipped(input, args.flag("json"));
    };
    const inputs = takeInputs(files, onSkip);
    const outputs = new Map<string, Input>();
    const places = new Set<string>();
    const total = { files: 0, records: 0, sizeBefore: 0, sizeAfter: 0 };
    for (const input of inputs) {
      const place = join(folder, placeOf(input, files));
      const output = join(place, convertedName(input, settings.compression));
      const twin = outputs.get(output);
      outputs.set(output, input);
      if (twin === undefined) {
        if (!places.has(place)) prepare(place);
        places.add(place);
        const converted = await convertOne(input, { ...settings, folder: place }, args.flag("json"), onSkip);
        if (converted !== undefined) count(total, converted);
      } else {
        const message = `${input.name}: its output would have the same name as that of ${twin.name}`;
        onSkip({ name: input.name, error: new ArchiveError("HT_EXISTS", message, { file: input.name }) });
      }
    }
    if (!args.flag("json") && total.files > 1) report(formatTotal(total));
    return skipped.length > 0 ? 3 : 0;
  },
};

function prepare(folder: string): void {
  nodeDisk.makeFolder(folder);
  removeLeftovers(nodeDisk, folder);
}

/** Where a file of a folder that was named lies below that folder. */
function placeOf({ path }: Input, names: readonly string[]): string {
  const above = names.find((name) => resolve(path).startsWith(`${resolve(name)}/`));
  return above === undefined ? "" : relative(resolve(above), dirname(resolve(path)));
}

interface Total {
  files: number;
  records: number;
  sizeBefore: number;
  sizeAfter: number;
}

function count(total: Total, { records, sizeBefore = 0, sizeAfter }: Converted): void {
  total.files++;
  total.records += records;
  total.sizeBefore += sizeBefore;
  total.sizeAfter += sizeAfter;
}

function formatTotal({ files, records, sizeBefore, sizeAfter }: Total): string {
  const sizes = `${formatSize(sizeBefore)} → ${formatSize(sizeAfter)}`;
  return `${formatCount(files, "file")}, ${formatCount(records, "record")}, ${sizes}\n`;
}

function parseSettings(folder: string, args: Arguments): ConvertOptions {
  const compression = parseChoice("to", args.text("to"), COMPRESSIONS);
  const { min, max } = LEVELS[compression];
  const level = args.text("level");
  const dictionary = args.text("dictionary");
  if (dictionary !== undefined && compression !== "zstd") {
    throw new ArchiveError("HT_USAGE", "a dictionary is for --to zstd only");
  }
  return {
    folder,
    compression,
    replace: args.flag("replace"),
    software: `Holotype/${VERSION}`,
    level: level === undefined ? undefined : parseCount("level", level, min, max),
    dictionary: dictionary === undefined ? undefined : readWhole(dictionary),
  };
}

async function convertOne(
  input: Input,
  settings: ConvertOptions,
  json: boolean,
  onSkip: (skipped: SkippedInput) => void,
): Promise<Converted | undefined> {
  const progress = new ProgressLine();
  try {
    const converted = await convertInput(nodeDisk, input, {
      ...settings,
      onProgress: (bytesDone, records) =>
        progress.update({ file: input.name, bytesDone, bytesTotal: input.size ?? 0, records }),
    });
    progress.clear();
    report(json ? `${JSON.stringify({ input: input.name, ...converted })}\n` : formatLine(input, converted));
    return converted;
  } catch (error) {
    progress.clear();
    if (!(error instanceof ArchiveError) || error.code === "HT_NO_SPACE") throw error;
    onSkip({ name: input.name, error });
    return undefined;
  }
}

function formatLine(input: Input, { output, records, sizeBefore, sizeAfter, kept }: Converted): string {
  const sizes = `${sizeBefore === undefined ? "" : `${formatSize(sizeBefore)} → `}${formatSize(sizeAfter)}`;
  return `${input.name} → ${output}: ${formatCount(records, "record")}, ${sizes}, ${kept ? "there already and equal" : "verified"}\n`;
}

const DICTIONARY_SIZE_MAX = 8 << 20;

function readWhole(path: string): Uint8Array {
  using file = nodeDisk.open(path, "read");
  if (file.size() > DICTIONARY_SIZE_MAX) throw new ArchiveError("HT_USAGE", `${path}: too large for a dictionary`);
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}
