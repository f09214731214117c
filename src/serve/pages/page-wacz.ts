/** `/<coll>/page.wacz?url=…`: what is shown, and all its parts that are known, as a WACZ that stands by itself. */
import { exportArchive } from "../../archive/index.ts";
import { ArchiveError } from "../../base/index.ts";
import { type Disk, type ScratchFolder, scratchFolder } from "../../disk/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import type { Headers } from "../answers.ts";
import type { Asked } from "../route.ts";
import { partsOfShown } from "./parts-page.ts";
import { askedShown } from "./replay-page.ts";
import { findShown } from "./shown.ts";

/** Others are told to come again: each takes a file on disk. */
const AT_ONCE_MAX = 4;
const PIECE_SIZE = 1 << 18;
let underWay = 0;

/** HT_BLOCKED where the collection has rules: a record may say more than a capture that may be seen. */
export async function pageWacz(asked: Asked): Promise<ServerAnswer> {
  const { collection, request } = asked;
  collection.requireFiles();
  const { memento } = askedShown(asked);
  const shown = await findShown(asked, memento);
  const { parts } = await partsOfShown(asked, shown);
  const captures = new Set(
    [shown.capture, ...parts.flatMap(({ capture }) => capture ?? [])].map(({ cursor }) => cursor),
  );
  const host = /^[a-z]+:\/\/([\w.-]+)/i.exec(shown.url)?.[1] ?? "page";
  const headers: Headers = [
    ["Content-Type", "application/wacz"],
    ["Content-Disposition", `attachment; filename="${host}-${shown.stamp}.wacz"`],
    ["Cache-Control", "no-cache"],
  ];
  if (request.method === "HEAD") return { status: 200, headers };
  if (underWay >= AT_ONCE_MAX) throw new ArchiveError("HT_BUSY", "too many files are being made; try again");
  const { disk, folder } = collection.archive.place;
  const file = new PassingFile(disk);
  // A stream that is never begun is never ended, either.
  request.signal.addEventListener("abort", () => file.remove(), { once: true });
  try {
    await exportArchive(disk, folder, {
      selection: { captures },
      description: `${shown.url} as captured ${shown.stamp}, with what its HTML and CSS refer to`,
      output: file.path,
      format: "wacz",
      software: "holotype",
      signal: request.signal,
    });
    return { status: 200, headers, body: file.pieces() };
  } catch (error) {
    file.remove();
    throw error;
  }
}

/** A file that is gone when it has been given, or nobody waits for it any more. */
class PassingFile {
  readonly path: string;
  private readonly disk: Disk;
  private readonly scratch: ScratchFolder;
  private isRemoved = false;

  constructor(disk: Disk) {
    this.disk = disk;
    this.scratch = scratchFolder(disk);
    this.path = `${this.scratch.path}/page.wacz`;
    underWay++;
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
