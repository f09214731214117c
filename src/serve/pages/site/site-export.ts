/**
 * `/<coll>/site/<host>/export`: a site as of a day, as WACZ. It is made and proven in a scratch folder of its own, never
 * in the archive, then sent, and removed.
 */
import { join } from "node:path";
import { exportArchive } from "../../../archive/index.ts";
import { ArchiveError, formatIso } from "../../../base/index.ts";
import { type DiskFile, type ScratchFolder, scratchFolder } from "../../../disk/index.ts";
import type { ServerAnswer } from "../../../http/index.ts";
import type { Headers } from "../../answers.ts";
import type { Asked } from "../../route.ts";
import { EXPORT_URLS_MAX } from "./export-section.ts";
import { siteQuestion } from "./site-question.ts";

const PIECE_SIZE = 1 << 18;
/** Each takes a core and room on disk. */
const AT_ONCE_MAX = 2;
let underWay = 0;

/** HT_BLOCKED where the collection has rules, HT_TOO_LARGE for a site that is, HT_BUSY while others are exported. */
export async function siteExportAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection, request } = asked;
  collection.requireFiles();
  const question = await siteQuestion(asked);
  const { host, range, timeMs, at, mime } = question;
  const urls = await collection.countSlice(timeMs, { ...range, mime }, EXPORT_URLS_MAX + 1);
  if (urls > EXPORT_URLS_MAX)
    throw new ArchiveError("HT_TOO_LARGE", `${host} has more than ${EXPORT_URLS_MAX} URLs; use holotype export`);
  const name = `${host.replace(/[^\w.-]/g, "-")}-${at}.wacz`;
  const headers: Headers = [
    ["Content-Type", "application/wacz"],
    ["Content-Disposition", `attachment; filename="${name}"`],
    ["Content-Security-Policy", "sandbox; default-src 'none'"],
    ["X-Content-Type-Options", "nosniff"],
    ["Cache-Control", "no-cache"],
  ];
  if (request.method === "HEAD") return { status: 200, headers };
  if (underWay >= AT_ONCE_MAX) throw new ArchiveError("HT_BUSY", "other exports are under way; try again in a minute");
  const { disk, folder } = collection.archive;
  const scratch = scratchFolder(disk);
  const end = begin(scratch, request.signal);
  try {
    const output = join(scratch.path, name);
    await exportArchive(disk, folder, {
      selection: { range, sliceMs: timeMs, mime },
      description: `${host} as of ${formatIso(timeMs)}`,
      output,
      format: "wacz",
      software: "Holotype",
      signal: request.signal,
    });
    const file = disk.open(output, "read");
    const size = file.size();
    return { status: 200, headers: [...headers, ["Content-Length", `${size}`]], body: sent(file, size, end) };
  } catch (error) {
    end();
    throw error;
  }
}

/** What it returns ends it; so does a client that is gone before the first byte was taken. */
function begin(scratch: ScratchFolder, signal: AbortSignal): () => void {
  underWay++;
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    underWay--;
    signal.removeEventListener("abort", end);
    scratch.remove();
  };
  signal.addEventListener("abort", end);
  return end;
}

async function* sent(file: DiskFile, size: number, end: () => void): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; at < size; ) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_SIZE, size - at));
      const count = file.read(piece, at);
      if (count === 0) return;
      yield await Promise.resolve(piece.subarray(0, count));
      at += count;
    }
  } finally {
    file.close();
    end();
  }
}
