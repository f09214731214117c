import { type ExportFormat, type ExportProgress, type ExportReport, exportArchive } from "../archive/index.ts";
import { ArchiveError, formatIso, type Warning } from "../base/index.ts";
import { mimeMatcher } from "../dedup/index.ts";
import { nodeDisk, writeStandardError, writeStandardOutput } from "../disk/index.ts";
import { loadZstd } from "../warc/index.ts";
import {
  ARCHIVE_OPTION,
  archiveFolder,
  parseAsOf,
  parseScope,
  parseSince,
  SCOPE_OPTIONS,
  siteOf,
} from "./archive-option.ts";
import { type Arguments, type Command, parseChoice, parseCount } from "./command.ts";
import { Interruption } from "./interruption.ts";
import { formatCount, formatNumber, formatSize, WarningTeller } from "./talk.ts";
import { VERSION } from "./version.ts";

const FORMATS = ["warc", "wacz"] as const;
const SIZE_MIN = 1 << 20;

export const exportCommand: Command = {
  name: "export",
  purpose: "Write captures of the archive as WARC or WACZ that needs nothing else.",
  usage: "[URL] -o FILE [--archive DIR]",
  details: `Takes the captures of a URL, of a site, of a prefix or (--all) of everything; of a span of time, or with --slice
of each URL the one that was valid then. Records are copied as they are, with their requests and metadata. A revisit
stays one where its original is exported too, and is the full record otherwise. A damaged capture is exported as far as
it can be read, or skipped; either way it is named. --all also exports the records that belong to no capture: warcinfo,
conversions, requests by themselves. The name of the output gives the format: x.warc.gz or x.wacz. It gets that name
after it has been read back and proven; stopped before, it leaves nothing.`,
  options: {
    ...ARCHIVE_OPTION,
    output: { type: "string", short: "o", value: "FILE", help: "x.warc.gz or x.wacz" },
    ...SCOPE_OPTIONS,
    all: { type: "boolean", help: "everything" },
    from: { type: "string", value: "TIME", help: "only captures from this time on" },
    to: { type: "string", value: "TIME", help: "only captures up to this time" },
    slice: { type: "string", value: "TIME", help: "only what was valid at this time, one capture a URL" },
    mime: { type: "string", value: "LIST", help: "only these media types: image/*,text/css" },
    format: { type: "string", value: "FORMAT", help: "warc or wacz, whatever the name says" },
    size: { type: "string", value: "BYTES", help: "start a new WARC file after BYTES: x-00001.warc.gz" },
    cdxj: { type: "boolean", help: "write an index beside the WARC files: x.cdxj (a WACZ has one in it)" },
    replace: { type: "boolean", help: "replace what is there under that name" },
    "dry-run": { type: "boolean", help: "tell what would be written, and write nothing" },
  },
  exits: "3 damaged or incomplete captures, or revisits without an original · 20 nothing found · 23 not proven",
  examples: [
    "holotype add samples --archive /tmp/cabinet && holotype export --all --archive /tmp/cabinet -o /tmp/cabinet.wacz",
  ],
  async run(args) {
    const json = args.flag("json");
    const output = parseOutput(args);
    const talk = new ExportTalk(json);
    using _ = talk;
    using interruption = new Interruption("stopping; nothing is left");
    await loadZstd();
    const size = args.text("size");
    const report = await exportArchive(nodeDisk, archiveFolder(args), {
      ...parseSelection(args),
      ...output,
      sizeBytes: size === undefined ? undefined : parseCount("size", size, SIZE_MIN, Number.MAX_SAFE_INTEGER),
      cdxj: args.flag("cdxj"),
      replace: args.flag("replace"),
      dryRun: args.flag("dry-run"),
      software: `Holotype/${VERSION}`,
      signal: interruption.signal,
      onProgress: talk.progress,
      onWarning: talk.warn,
    });
    talk.clear();
    writeStandardOutput(json ? `${JSON.stringify(report)}\n` : format(report, args.flag("dry-run")));
    return report.orphan > 0 || report.left > 0 || report.mended > 0 || report.incomplete > 0 ? 3 : 0;
  },
};

function parseOutput(args: Arguments): { output: string; format: ExportFormat } {
  const output = args.text("output");
  if (output === undefined) throw new ArchiveError("HT_USAGE", "say where to with -o FILE");
  const told = args.text("format");
  if (told !== undefined) return { output, format: parseChoice("format", told, FORMATS) };
  if (/\.wacz$/i.test(output)) return { output, format: "wacz" };
  if (/\.warc\.gz$/i.test(output)) return { output, format: "warc" };
  throw new ArchiveError("HT_USAGE", `${output}: neither .warc.gz nor .wacz; say which with --format`);
}

function parseSelection(args: Arguments) {
  const [url, more] = args.positionals;
  const [site, prefix, mime] = [siteOf(args), args.text("prefix"), args.text("mime")];
  const [from, to, slice] = [args.text("from"), args.text("to"), args.text("slice")];
  if (more !== undefined) throw new ArchiveError("HT_USAGE", "one URL at a time; --prefix and --site take more");
  if (slice !== undefined && (from ?? to) !== undefined)
    throw new ArchiveError("HT_USAGE", "--slice or a span, not both");
  const places = [url, site, prefix].filter((place) => place !== undefined);
  const isWhole = args.flag("all");
  if (places.length + Number(isWhole) > 1) throw new ArchiveError("HT_USAGE", "one of URL, --site, --prefix and --all");
  if (places.length === 0 && !isWhole && (from ?? to ?? slice ?? mime) === undefined) {
    throw new ArchiveError("HT_USAGE", "say what: a URL, --site, --prefix, --from, --to, --slice, --mime or --all");
  }
  const fromMs = from === undefined ? undefined : parseSince(from);
  const toMs = to === undefined ? undefined : parseAsOf(to);
  const sliceMs = slice === undefined ? undefined : parseAsOf(slice);
  const types = mime?.split(",").map((pattern) => pattern.trim());
  const words = [
    places[0] ?? "all captures",
    ...(fromMs === undefined ? [] : [`from ${formatIso(fromMs)}`]),
    ...(toMs === undefined ? [] : [`up to ${formatIso(toMs)}`]),
    ...(sliceMs === undefined ? [] : [`as of ${formatIso(sliceMs)}`]),
    ...(types === undefined ? [] : [`of type ${types.join(", ")}`]),
  ];
  const selection = {
    url,
    range: parseScope(args),
    fromMs,
    toMs,
    sliceMs,
    mime: types === undefined ? undefined : mimeMatcher(types),
  };
  return { selection, description: words.join(" ") };
}

const REDRAW_MS = 200;
const CLEAR = "\r\x1b[K";

/** Tells what happens while it happens. */
class ExportTalk implements Disposable {
  private readonly warnings: WarningTeller;
  private drawnMs = 0;
  private isDrawn = false;

  constructor(json: boolean) {
    this.warnings = new WarningTeller(json, "… and more");
  }

  readonly progress = ({ stage, captures, bytes }: ExportProgress): void => {
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.drawnMs < REDRAW_MS) return;
    this.drawnMs = now;
    this.isDrawn = true;
    const things = formatCount(captures, stage === "checking" ? "record" : "capture");
    writeStandardError(`${CLEAR}${stage}  ${things}  ${formatSize(bytes)}`);
  };

  readonly warn = (warning: Warning): void => {
    this.clear();
    this.warnings.tell(warning);
  };

  clear(): void {
    if (this.isDrawn) writeStandardError(CLEAR);
    this.isDrawn = false;
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

const ODD_PLACE = "in a WARC file of their own (.odd)";

/** Nothing where there is nothing to count. */
function rowOf(name: string, counts: Readonly<Record<string, number>>, what = ""): [string, string][] {
  const told = Object.entries(counts).map(([type, count]) => `${formatNumber(count)} ${type}`);
  return told.length === 0 ? [] : [[name, `${told.join(", ")} ${what}`.trim()]];
}

function format(report: ExportReport, isDry: boolean): string {
  const { captures, left, revisit, restored, expanded, orphan, incomplete, pages, bytes, files } = report;
  const became = [
    [revisit, "as revisits"],
    [restored + expanded, "revisits as full records"],
    [orphan, "revisits without an original"],
    [incomplete, "with segments missing"],
  ] as const;
  const told = became.flatMap(([count, name]) => (count > 0 ? [`${formatNumber(count)} ${name}`] : []));
  const rows: [string, string][] = [
    ["captures", [formatNumber(captures), ...told].join(", ")],
    ...rowOf("records", report.unlinked, "of no capture"),
    ...rowOf("damaged", {
      ...(report.mended > 0 ? { "exported as far as they can be read": report.mended } : {}),
      ...(left > 0 ? { skipped: left } : {}),
    }),
    ...rowOf("left out", report.unselected, "of no capture (--all exports them)"),
    ...(report.odd > 0
      ? [["odd", `${formatNumber(report.odd)} that other readers stop at, ${ODD_PLACE}`] as [string, string]]
      : []),
    ["size", `${formatSize(bytes)} of WARC`],
    ...(pages > 0 ? [["pages", formatNumber(pages)] as [string, string]] : []),
    ...files.map((file, i): [string, string] => [i === 0 ? "written" : "", file]),
  ];
  if (isDry) rows.push(["", "nothing was written"]);
  return rows.map(([name, value]) => `${name.padEnd(10)}${value}\n`).join("");
}
