/** Manifests as the stages take them: files, or standard input where none is named; and lines as they come out. */
import { ArchiveError } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import {
  BY_DIGEST,
  BY_DIGEST_AND_URI,
  BY_PLACE,
  formatWarcsumLine,
  type LineOrder,
  MANIFEST_COLUMNS,
  type ManifestText,
  parseManifestLine,
  readGivenLines,
  readInputLines,
} from "../pipeline/index.ts";
import { type Arguments, type OptionSpecs, parseChoice } from "./command.ts";
import { printText } from "./talk.ts";

export const ORDERS: Readonly<Record<string, LineOrder>> = {
  digest: BY_DIGEST,
  "digest-url": BY_DIGEST_AND_URI,
  place: BY_PLACE,
};

export function takeManifests(names: readonly string[]): ManifestText[] {
  return (names.length === 0 ? ["-"] : names).map((name) => {
    if (name === "-") return { name: "standard input", lines: readInputLines() };
    if (nodeDisk.stat(name)?.kind !== "file") {
      throw new ArchiveError("HT_NOT_FOUND", `${name}: no such manifest`, { file: name });
    }
    return { name, lines: readGivenLines(nodeDisk, name) };
  });
}

const TEXT_SIZE = 1 << 16;

/** How lines are printed: ours, as JSON, or with the fields of the original tools. */
const LINE_FORMATS = ["tsv", "json", "warcsum"] as const;
export type LineFormat = (typeof LINE_FORMATS)[number];

export const FORMAT_OPTION: OptionSpecs = {
  format: { type: "string", value: "FORMAT", help: LINE_FORMATS.join(", "), default: "tsv" },
};

export function parseLineFormat(args: Arguments): LineFormat {
  const format = parseChoice("format", args.text("format"), LINE_FORMATS);
  return args.flag("json") ? "json" : format;
}

/** Gathers lines for standard output. */
export class LineOutput {
  private text = "";
  private readonly format: LineFormat;

  constructor(format: LineFormat = "tsv") {
    this.format = format;
  }

  write(line: string): void {
    const text = this.formatted(line);
    if (text === undefined) return;
    this.text += `${text}\n`;
    if (this.text.length > TEXT_SIZE) this.flush();
  }

  /** Absent where the original tools have no line for it. */
  private formatted(line: string): string | undefined {
    if (this.format === "tsv") return line;
    return this.format === "json" ? toJson(line) : formatWarcsumLine(parseManifestLine(line, "(line)"));
  }

  flush(): void {
    if (this.text !== "") printText(this.text);
    this.text = "";
  }
}

const NUMBERS: ReadonlySet<string> = new Set([
  "offset",
  "length",
  "payload size",
  "status",
  "hash extension",
  "copy number",
  "original offset",
]);

/** An object whose keys are the names of the columns. */
function toJson(line: string): string {
  const columns = line.split("\t").map((value, i): [string, unknown] => {
    const name = MANIFEST_COLUMNS[i] ?? `column ${i + 1}`;
    const key = name.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
    if (value === "-") return [key, null];
    if (name === "flags") return [key, value.split(",")];
    return [key, NUMBERS.has(name) ? Number(value) : value];
  });
  return JSON.stringify(Object.fromEntries(columns));
}
