/** Logs and indexes of other tools as sources of captures: which of them a text is, and what its lines tell. */
import {
  type CdxLayout,
  decodeUri,
  detectCdxLayout,
  parseCdxHeader,
  parseCdxjHeader,
  parseCdxjLine,
  parseCdxLine,
  parseCrawlLogLine,
} from "../warc/index.ts";
import { LINE_MAX, type Stretch } from "./byte-lines.ts";
import { entryOfCdx } from "./cdx-entries.ts";
import { CrawlLogScanner } from "./crawl-log-scanner.ts";
import type { DigestEntry } from "./entry.ts";
import type { Intake, SkipReason } from "./intake.ts";
import { entryOfLog } from "./log-entries.ts";

/** What a text is, by its first line that is anything. */
export type TextKind =
  | { readonly kind: "crawl-log" }
  | { readonly kind: "cdxj" }
  | { readonly kind: "cdx"; readonly layout: CdxLayout };

function kindOfLine(line: string): TextKind | undefined {
  const layout = parseCdxHeader(line);
  if (layout !== undefined) return { kind: "cdx", layout };
  if (parseCdxjHeader(line) !== undefined || parseCdxjLine(line) !== undefined) return { kind: "cdxj" };
  if (parseCrawlLogLine(line) !== undefined) return { kind: "crawl-log" };
  const detected = detectCdxLayout(line);
  return detected === undefined ? undefined : { kind: "cdx", layout: detected };
}

/** Absent where no line in these first bytes is of a kind that is known. */
export function detectText(head: Buffer): TextKind | undefined {
  for (const line of head.toString("latin1").split("\n")) {
    const kind = line.trim() === "" ? undefined : kindOfLine(line);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** Gives all lines of stretches to the intake. */
export class TextReader {
  private readonly intake: Intake;
  private readonly file: string;
  private readonly kind: TextKind;
  private readonly scanner: CrawlLogScanner | undefined;
  private line = 0;

  constructor(intake: Intake, file: string, kind: TextKind) {
    this.intake = intake;
    this.file = file;
    this.kind = kind;
    this.scanner = kind.kind === "crawl-log" ? new CrawlLogScanner(intake) : undefined;
  }

  take({ buffer, start, end }: Stretch): void {
    for (let at = start; at < end; ) {
      const newline = buffer.indexOf(10, at);
      const next = newline < 0 || newline >= end ? end : newline + 1;
      let lineEnd = next;
      while (lineEnd > at && (buffer[lineEnd - 1] === 10 || buffer[lineEnd - 1] === 13)) lineEnd--;
      this.line++;
      if (this.scanner?.take(buffer, at, lineEnd) !== true) this.takeOdd(buffer, at, lineEnd);
      at = next;
    }
  }

  private takeOdd(buffer: Buffer, start: number, end: number): void {
    if (end - start >= LINE_MAX) return this.tellFault("a line of more than a megabyte");
    const line = decodeUri(buffer.toString("latin1", start, end));
    if (line.trim() === "" || this.isHeader(line)) return;
    const entry = this.parse(line);
    if (entry === undefined) this.tellFault(`not a line of ${NAMES[this.kind.kind]}`);
    else this.intake.take(entry);
  }

  /** Files that were put together have headers in their middle. */
  private isHeader(line: string): boolean {
    if (this.kind.kind === "cdxj") return parseCdxjHeader(line) !== undefined;
    return this.kind.kind === "cdx" && parseCdxHeader(line) !== undefined;
  }

  private parse(line: string): DigestEntry | SkipReason | undefined {
    if (this.kind.kind === "crawl-log") {
      const entry = parseCrawlLogLine(line);
      return entry === undefined ? undefined : entryOfLog(entry);
    }
    const entry = this.kind.kind === "cdxj" ? parseCdxjLine(line) : parseCdxLine(line, this.kind.layout);
    return entry === undefined ? undefined : entryOfCdx(entry);
  }

  private tellFault(message: string): void {
    this.intake.tellFault({ file: this.file, line: this.line, message });
  }
}

const NAMES = { "crawl-log": "a crawl.log", cdx: "this CDX file", cdxj: "CDXJ" } as const;
