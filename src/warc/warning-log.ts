/** Takes damage and oddities as they are found, and knows which of them belong to the record at hand. */
import { ArchiveError, type Warning } from "../base/index.ts";
import type { Report } from "./member-stream.ts";

export interface WarningOptions {
  /** The first warning becomes an error. */
  readonly strict?: boolean | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
}

export class WarningLog {
  /** Those of the record at hand. */
  current: Warning[] = [];
  /** Whether anything was found but bytes that are no archive at all. */
  damaged = false;
  private readonly file: string;
  private readonly options: WarningOptions;

  constructor(file: string, options: WarningOptions) {
    this.file = file;
    this.options = options;
  }

  readonly report: Report = (code, message, offset) => {
    if (code !== "HT_GARBAGE" && code !== "HT_PADDING") this.damaged = true;
    const warning: Warning = { code, message, file: this.file, offset };
    if (this.options.strict === true) throw new ArchiveError(code, `${this.file}:${offset}: ${message}`, warning);
    this.current.push(warning);
    this.options.onWarning?.(warning);
  };

  /** What comes from now on belongs to another record. */
  turnOver(): void {
    if (this.current.length > 0) this.current = [];
  }
}
