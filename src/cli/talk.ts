/** Talk to people goes to standard error: progress on a terminal, warnings, summaries. Data goes to standard output. */
import { isatty } from "node:tty";
import { type ArchiveError, formatPlace, type Warning } from "../base/index.ts";
import { ClosedPipe, writeStandardError, writeStandardOutput } from "../disk/index.ts";
import type { DedupProgress, RunProgress, SkippedInput } from "../pipeline/index.ts";

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"] as const;

export function formatSize(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  return power === 0 ? `${bytes} B` : `${(bytes / 1000 ** power).toFixed(1)} ${UNITS[power]}`;
}

/** A whole number with its thousands apart. Not `toLocaleString`: its first call takes 25 ms, a tenth of a small command. */
export function formatNumber(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** Tells what was done, of work that goes on whether or not anybody reads it. */
export function report(text: string): void {
  try {
    writeStandardOutput(text);
  } catch (error) {
    if (!(error instanceof ClosedPipe)) throw error;
  }
}

/** All control characters but tabs and line ends. */
const CONTROLS = /[^\P{Cc}\t\n]/gu;

/** A text in which a terminal finds nothing to obey: names and addresses are what somebody put on the web. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** Prints lines of text: as they are for a program or a file, and so that it obeys nothing in them for a terminal. */
export function printText(text: string | Uint8Array): void {
  if (!isatty(1)) writeStandardOutput(text);
  else writeStandardOutput(escapeControls(typeof text === "string" ? text : Buffer.from(text).toString()));
}

export function say(line: string): void {
  writeStandardError(`${escapeControls(line)}\n`);
}

const REDRAW_MS = 200;
const CLEAR = "\r\x1b[K";

/** A line of progress that redraws itself; silent where standard error is no terminal. */
export class ProgressLine {
  private readonly startMs = performance.now();
  private drawnMs = 0;
  private shown = false;

  readonly update = (progress: RunProgress): void => {
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.drawnMs < REDRAW_MS) return;
    this.drawnMs = now;
    this.shown = true;
    const seconds = (now - this.startMs) / 1000;
    const rate = progress.bytesDone / seconds;
    const left = rate > 0 ? (progress.bytesTotal - progress.bytesDone) / rate : 0;
    const share = progress.bytesTotal > 0 ? Math.min(1, progress.bytesDone / progress.bytesTotal) : 0;
    const parts = [
      `${(share * 100).toFixed(0).padStart(3)} %`,
      formatCount(progress.records, "record"),
      `${formatSize(rate)}/s`,
      `${formatDuration(left)} left`,
      progress.file,
    ];
    writeStandardError(CLEAR + parts.join("  ").slice(0, (process.stderr.columns ?? 80) - 1));
  };

  clear(): void {
    if (this.shown) writeStandardError(CLEAR);
    this.shown = false;
  }
}

/** The same for a job of several stages. */
export class StageLine {
  private stage = "";
  private startMs = 0;
  private drawnMs = 0;
  private shown = false;

  readonly update = ({ stage, done, total, saved }: Omit<DedupProgress, "stage"> & { stage: string }): void => {
    const now = performance.now();
    if (stage !== this.stage) {
      this.stage = stage;
      this.startMs = now;
    }
    if (!process.stderr.isTTY || now - this.drawnMs < REDRAW_MS) return;
    this.drawnMs = now;
    this.shown = true;
    const rate = done / ((now - this.startMs) / 1000);
    const parts = [stage.padEnd(9), `${((total > 0 ? done / total : 1) * 100).toFixed(0).padStart(3)} %`];
    if (done > 0 && rate > 0) parts.push(`${formatSize(rate)}/s`, `${formatDuration((total - done) / rate)} left`);
    if (saved > 0) parts.push(`${formatSize(saved)} saved`);
    writeStandardError(CLEAR + parts.join("  ").slice(0, (process.stderr.columns ?? 80) - 1));
  };

  clear(): void {
    if (this.shown) writeStandardError(CLEAR);
    this.shown = false;
  }
}

function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function formatWarning(warning: Warning): string {
  return `${formatPlace(warning)}: ${warning.code} ${warning.message}`;
}

export function formatSkipped({ name, error }: SkippedInput): string {
  const text = error.message.startsWith(name) ? error.message : `${name}: ${error.message}`;
  return `skipped ${text} (${error.code})`;
}

/** As one line of JSON where the command was asked for that. */
export function tellWarning(warning: Warning, json: boolean): void {
  say(json ? JSON.stringify({ warning }) : formatWarning(warning));
}

const WARNINGS_SHOWN_MAX = 20;

/** Tells warnings: for people the first ones, for programs all. */
export class WarningTeller {
  private readonly json: boolean;
  private readonly more: string;
  private shown = 0;

  constructor(json: boolean, more = "… and more; holotype check tells all") {
    this.json = json;
    this.more = more;
  }

  tell(warning: Warning): void {
    this.shown++;
    if (this.json || this.shown <= WARNINGS_SHOWN_MAX) tellWarning(warning, this.json);
    else if (this.shown === WARNINGS_SHOWN_MAX + 1) say(this.more);
  }
}

export function tellDamage({ code, message, place }: ArchiveError, json: boolean): void {
  say(json ? JSON.stringify({ damage: { code, message, ...place } }) : `${code} ${message}`);
}

export function tellSkipped(skipped: SkippedInput, json: boolean): void {
  const { name, error } = skipped;
  say(json ? JSON.stringify({ skipped: { name, code: error.code, message: error.message } }) : formatSkipped(skipped));
}

const NAMES_SHOWN_MAX = 10;

/** The first of many names, and how many there are. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(", ");
  const more = names.length - NAMES_SHOWN_MAX;
  return more > 0 ? `${shown} and ${formatNumber(more)} more` : shown;
}
