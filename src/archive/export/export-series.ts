/** The WARC files of an export, one after the other: each begins with a warcinfo, and is closed when it is large enough. */
import { formatIso } from "../../base/index.ts";
import type { ByteSink } from "../../disk/index.ts";
import { derivedId } from "../../pipeline/index.ts";
import { WarcWriter } from "../../warc/index.ts";

/** Where WARC files are written to. */
export interface WarcTarget {
  begin(name: string): ByteSink;
  end(): void;
}

export interface SeriesParts {
  readonly target: WarcTarget;
  /** The name of the file with this number, which begins with 1. */
  readonly nameOf: (number: number) => string;
  /** A file is closed behind the capture with which it has become so large; absent for one file whatever its size. */
  readonly sizeBytes: number | undefined;
  /** The id of the archive. */
  readonly archiveId: string;
  readonly software: string;
  readonly description: string;
  readonly nowMs: number;
}

export class WarcSeries implements ByteSink {
  readonly names: string[] = [];
  /** Of all files. */
  bytes = 0;
  private readonly parts: SeriesParts;
  private sink: ByteSink | undefined;
  private size = 0;

  constructor(parts: SeriesParts) {
    this.parts = parts;
  }

  write(bytes: Uint8Array): void {
    this.sink!.write(bytes);
    this.size += bytes.length;
    this.bytes += bytes.length;
  }

  /** To be called before each capture with what belongs to it. */
  makeRoom(): void {
    const { sizeBytes = Number.POSITIVE_INFINITY, target, nameOf } = this.parts;
    if (this.sink !== undefined && this.size < sizeBytes) return;
    this.end();
    const name = nameOf(this.names.length + 1);
    this.names.push(name);
    this.sink = target.begin(name);
    this.size = 0;
    this.writeWarcinfo(name);
  }

  private writeWarcinfo(name: string): void {
    const { archiveId, software, description, nowMs } = this.parts;
    const lines = [
      `software: ${software}`,
      "format: WARC File Format 1.1",
      "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
      `isPartOf: ${archiveId}`,
      `description: ${description.replace(/[\r\n]+/g, " ")}`,
    ];
    new WarcWriter(this).write({
      fields: [
        ["WARC-Type", "warcinfo"],
        ["WARC-Record-ID", derivedId("export", archiveId, name, description, String(nowMs))],
        ["WARC-Date", formatIso(nowMs)],
        ["WARC-Filename", name.replace(/[\r\n]/g, " ")],
        ["Content-Type", "application/warc-fields"],
      ],
      block: Buffer.from(`${lines.join("\r\n")}\r\n`),
    });
  }

  end(): void {
    if (this.sink !== undefined) this.parts.target.end();
    this.sink = undefined;
  }
}
