/** One capture, as the archive shows it. Everything here stands in its row: no record is read for it. */
import { formatDigest } from "../../base/index.ts";
import { urlKeyOf } from "../catalogue/capture-key.ts";
import { type CaptureRow, Flag, has, type VisitClass } from "../catalogue/capture-row.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { isPending } from "../catalogue/visit-class.ts";
import type { RecordShelf } from "../segments/segments.ts";

export type CaptureFlag = "pending" | "cut-off" | "digest-lies" | "odd-date" | "segmented" | "replaced" | "removed";

/** Names that many captures share. */
export class CaptureNames {
  private readonly catalogue: CatalogueView;
  private readonly shelf: RecordShelf;
  private readonly files = new Map<number, string>();
  private readonly sources = new Map<number, string | undefined>();

  constructor(catalogue: CatalogueView, shelf: RecordShelf) {
    this.catalogue = catalogue;
    this.shelf = shelf;
  }

  file(segment: number): string {
    const known = this.files.get(segment);
    if (known !== undefined) return known;
    const name = this.shelf.nameOf(segment);
    this.files.set(segment, name);
    return name;
  }

  source(number: number): string | undefined {
    if (!this.sources.has(number)) this.sources.set(number, this.catalogue.source(number)?.name);
    return this.sources.get(number);
  }
}

const TYPES = { response: "response", resource: "resource", revisit: "revisit", replaced: "response" } as const;

export class Capture {
  private readonly found: FoundCapture;
  private readonly names: CaptureNames;

  constructor(found: FoundCapture, names: CaptureNames) {
    this.found = found;
    this.names = names;
  }

  private get row(): CaptureRow {
    return this.found.row;
  }

  /** Where it stands among all: later questions can go on behind it. */
  get cursor(): string {
    return this.found.under ?? this.found.key;
  }

  /** The key of its URL. */
  get key(): string {
    return urlKeyOf(this.found.key);
  }

  /** As it was captured. */
  get url(): string {
    return this.row.url;
  }

  /** Absent for one without a date that can be read. */
  get timeMs(): number | undefined {
    return has(this.row, Flag.undated) ? undefined : this.found.timeMs;
  }

  /** What the visit is, see docs/lifespans.md. */
  get class(): VisitClass {
    return this.row.class;
  }

  /** What the record was when it came. */
  get type(): "response" | "resource" | "revisit" {
    return has(this.row, Flag.resource) ? "resource" : TYPES[this.row.kind];
  }

  /** Of a revisit without a header of its own, and of a 304, that of what it stands for. */
  get status(): number | undefined {
    return this.row.status;
  }

  get mime(): string | undefined {
    return this.row.mime;
  }

  /** Where a redirect leads. */
  get location(): string | undefined {
    return this.row.location;
  }

  /** The method of the request, where that is known. */
  get method(): string | undefined {
    return this.row.request?.method;
  }

  /** Of the payload, in hex; absent where that is not known. */
  get sha256(): string | undefined {
    return this.row.payload?.sha256.toString("hex");
  }

  /** Of the payload, as crawlers write it. */
  get sha1(): string | undefined {
    const { payload } = this.row;
    return payload && formatDigest({ algorithm: "sha1", hex: payload.sha1.toString("hex") });
  }

  /** The digest in its header, where it is neither of these. */
  get claim(): string | undefined {
    return this.row.claim;
  }

  get size(): number | undefined {
    return this.row.payload?.size;
  }

  /** The file that it came with. */
  get source(): string | undefined {
    return has(this.row, Flag.removed) ? undefined : this.names.source(this.row.source);
  }

  /** Which of the archive's sources that is. */
  get sourceNumber(): number | undefined {
    return has(this.row, Flag.removed) ? undefined : this.row.source;
  }

  /** The file that its record lies in, and where. */
  get file(): string {
    return this.names.file(this.row.place.segment);
  }

  get offset(): number {
    return this.row.place.offset;
  }

  /** 0 for a record that shares its compressed member with others. */
  get length(): number {
    return this.row.place.length;
  }

  get flags(): CaptureFlag[] {
    const { row } = this;
    const flags: CaptureFlag[] = [];
    if (isPending(row)) flags.push("pending");
    if (has(row, Flag.cutOff)) flags.push("cut-off");
    if (has(row, Flag.segmented)) flags.push("segmented");
    if (has(row, Flag.lies)) flags.push("digest-lies");
    if (has(row, Flag.oddDate)) flags.push("odd-date");
    if (row.kind === "replaced") flags.push("replaced");
    if (has(row, Flag.removed)) flags.push("removed");
    return flags;
  }

  /** The row behind it, for this room. */
  static foundIn({ found }: Capture): FoundCapture {
    return found;
  }
}
