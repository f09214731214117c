/**
 * Captures as a WACZ that stands by itself, as a download. The file is made and proven in a scratch folder of its own,
 * never in the archive; it is gone when it has been given, or nobody waits for it any more.
 */
import { type ExportSelection, exportArchive } from "../../archive/index.ts";
import { ArchiveError } from "../../base/index.ts";
import { type Disk, type ScratchFolder, scratchFolder } from "../../disk/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import type { Headers } from "../answers.ts";
import type { Asked } from "../route.ts";

/** Others are told to come again: each takes a core, and a file on disk. */
const AT_ONCE_MAX = 4;
const PIECE_SIZE = 1 << 18;
let underWay = 0;

export interface WaczOrder {
  /** With its ending; only letters, digits, dots and dashes of it are used. */
  readonly name: string;
  readonly selection: ExportSelection;
  /** What is in it, for people. */
  readonly description: string;
}

/** HT_BUSY while others are made. Whoever calls has asked `requireFiles` of the collection. */
export async function waczAnswer({ collection, request }: Asked, order: WaczOrder): Promise<ServerAnswer> {
  const headers: Headers = [
    ["Content-Type", "application/wacz"],
    ["Content-Disposition", `attachment; filename="${order.name.replace(/[^\w.-]/g, "-")}"`],
    ["Content-Security-Policy", "sandbox; default-src 'none'"],
    ["X-Content-Type-Options", "nosniff"],
    ["Cache-Control", "no-cache"],
  ];
  if (request.method === "HEAD") return { status: 200, headers };
  if (underWay >= AT_ONCE_MAX) throw new ArchiveError("HT_BUSY", "too many files are being made; try again");
  const { disk, folder } = collection.archive.place;
  const file = new PassingFile(disk);
  // A stream that is never begun is never ended, either.
  request.signal.addEventListener("abort", () => file.remove(), { once: true });
  try {
    const { selection, description } = order;
    const { signal } = request;
    const options = {
      selection,
      description,
      output: file.path,
      format: "wacz",
      software: "Holotype",
      signal,
    } as const;
    await exportArchive(disk, folder, options);
    return { status: 200, headers: [...headers, ["Content-Length", `${file.size}`]], body: file.pieces() };
  } catch (error) {
    file.remove();
    throw error;
  }
}

class PassingFile {
  readonly path: string;
  private readonly disk: Disk;
  private readonly scratch: ScratchFolder;
  private isRemoved = false;

  constructor(disk: Disk) {
    this.disk = disk;
    this.scratch = scratchFolder(disk);
    this.path = `${this.scratch.path}/export.wacz`;
    underWay++;
  }

  get size(): number {
    using file = this.disk.open(this.path, "read");
    return file.size();
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    try {
      using file = this.disk.open(this.path, "read");
      const size = file.size();
      for (let at = 0, count = -1; at < size && count !== 0; at += count) {
        const piece = Buffer.alloc(Math.min(PIECE_SIZE, size - at));
        count = file.read(piece, at);
        yield await Promise.resolve(piece.subarray(0, count));
      }
    } finally {
      this.remove();
    }
  }

  remove(): void {
    if (this.isRemoved) return;
    this.isRemoved = true;
    underWay--;
    this.scratch.remove();
  }
}
