/** What a capture holds, as text: content codings undone, characters found out, cut off where it is too long. */
import type { Capture, OpenedCapture } from "../../archive/index.ts";
import { ArchiveError } from "../../base/index.ts";
import { decodeContent, loadZstd } from "../../warc/index.ts";
import { decoderFor } from "../static/charset.ts";
import { ArchivedHead } from "./archived-head.ts";
import { codingsOf } from "./coded.ts";
import { FoundPayload } from "./found-payload.ts";

export interface ArchivedText {
  readonly text: string;
  /** There is more of it. */
  readonly isCut: boolean;
  /** Why it is not all there, or not there at all. */
  readonly damage: string | undefined;
  readonly contentType: string | undefined;
  /** It has bytes that no text has. */
  readonly isBinary: boolean;
}

const NUL = 0;
const LOOKED_SIZE = 8192;

/** Closes nothing: whoever opened the capture does. */
export async function archivedText(
  opened: OpenedCapture,
  capture: Capture,
  sizeMax: number,
  signal: AbortSignal,
): Promise<ArchivedText> {
  const head = new ArchivedHead(opened, capture);
  const { contentType } = head;
  const pieces: Uint8Array[] = [];
  let size = 0;
  let damage: string | undefined;
  try {
    const payload = await FoundPayload.of(opened, signal);
    ({ damage } = payload);
    const codings = codingsOf(head.value("content-encoding"), await payload.start());
    if (codings.includes("zstd")) await loadZstd();
    const body = await payload.body();
    const bytes = body instanceof Uint8Array ? [body] : body;
    for await (const piece of codings.length === 0 ? bytes : decodeContent(bytes, codings)) {
      pieces.push(Buffer.from(piece.subarray(0, Math.max(0, sizeMax - size))));
      size += piece.length;
      if (size > sizeMax) break;
    }
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    damage = error.code === "HT_NOT_FOUND" ? "its content is not in the archive" : "it cannot be read to its end";
  }
  const all = Buffer.concat(pieces);
  const isBinary =
    all.subarray(0, LOOKED_SIZE).includes(NUL) && !/^(?:\xff\xfe|\xfe\xff)/.test(all.toString("latin1", 0, 2));
  const isCss = /^\s*text\/css\b/i.test(contentType ?? "");
  const text = isBinary ? "" : decoderFor(all, contentType, isCss).decode(all);
  return { text, isCut: size > sizeMax, damage, contentType, isBinary };
}
