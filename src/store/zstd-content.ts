/**
 * Contents as Zstandard frames, one for every 4 MB, each with its size and checksum. Frames of other makers are read as
 * long as one of them can be held in memory.
 */
import { ArchiveError } from "../base/index.ts";
import { decodeFrame, decodeUnsized, encodeFrame, parseFrameHeader, ZSTD_LEVEL_DEFAULT } from "../warc/index.ts";

const FRAME_CONTENT_SIZE = 4 << 20;
const FRAME_SIZE_MAX = 80 << 20;
const BLOCK_HEADER_SIZE = 3;
const CHECKSUM_SIZE = 4;

export function encodeZstd(content: Uint8Array): Uint8Array {
  if (content.length <= FRAME_CONTENT_SIZE) return encodeFrame(content, ZSTD_LEVEL_DEFAULT, undefined);
  const frames: Uint8Array[] = [];
  for (let at = 0; at < content.length; at += FRAME_CONTENT_SIZE) {
    frames.push(encodeFrame(content.subarray(at, at + FRAME_CONTENT_SIZE), ZSTD_LEVEL_DEFAULT, undefined));
  }
  return Buffer.concat(frames);
}

export async function* encodeZstdStream(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  let frames = 0;
  const flush = () => {
    const frame = encodeFrame(Buffer.concat(held), ZSTD_LEVEL_DEFAULT, undefined);
    held = [];
    size = 0;
    frames++;
    return frame;
  };
  for await (const piece of content) {
    for (let at = 0; at < piece.length; ) {
      const part = Buffer.from(piece.subarray(at, at + FRAME_CONTENT_SIZE - size));
      held.push(part);
      size += part.length;
      at += part.length;
      if (size === FRAME_CONTENT_SIZE) yield flush();
    }
  }
  if (size > 0 || frames === 0) yield flush();
}

/** Throws where the bytes are not whole frames, or hold more than `sizeMax` bytes. */
export function decodeZstd(stored: Uint8Array, sizeMax: number): Uint8Array {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const pieces: Uint8Array[] = [];
  let left = sizeMax;
  for (let at = 0; at < bytes.length || at === 0; ) {
    const end = frameEnd(bytes, at);
    if (end === undefined) throw new RangeError("cut off");
    const piece = decodeOne(bytes.subarray(at, end), left);
    left -= piece.length;
    pieces.push(piece);
    at = end;
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

export async function* decodeZstdStream(stored: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held = Buffer.alloc(0);
  let frames = 0;
  for await (const piece of stored) {
    held = Buffer.concat([held, piece]);
    for (let end = frameEnd(held, 0); end !== undefined; end = frameEnd(held, 0)) {
      yield decodeOne(held.subarray(0, end), FRAME_SIZE_MAX);
      frames++;
      held = held.subarray(end);
    }
    if (held.length > FRAME_SIZE_MAX) {
      throw new ArchiveError("HT_TOO_LARGE", `a zstd frame of more than ${FRAME_SIZE_MAX} bytes`);
    }
  }
  if (held.length > 0 || frames === 0) throw new RangeError("cut off");
}

function decodeOne(frame: Buffer, sizeMax: number): Uint8Array {
  const header = parseFrameHeader(frame, 0, frame.length);
  if (header === undefined || header === 0) throw new TypeError("not a zstd frame");
  if (header.dictionaryId !== 0) throw new TypeError("a frame that needs a dictionary");
  if (header.contentSize === undefined) return decodeUnsized(frame, header, sizeMax);
  if (header.contentSize > sizeMax) throw new RangeError("larger than it was said to be");
  return decodeFrame(frame, header.contentSize, undefined);
}

/** The offset behind the frame at `at`; absent where it is not all there. */
function frameEnd(bytes: Buffer, at: number): number | undefined {
  if (bytes.length - at < 5) return undefined;
  const header = parseFrameHeader(bytes, at, bytes.length);
  if (header === undefined) throw new TypeError("not a zstd frame");
  if (header === 0) return undefined;
  let end = at + header.size;
  for (let last = false; !last; ) {
    if (end + BLOCK_HEADER_SIZE > bytes.length) return undefined;
    const block = bytes.readUIntLE(end, BLOCK_HEADER_SIZE);
    // A block of one repeated byte has only that byte.
    end += BLOCK_HEADER_SIZE + (((block >> 1) & 3) === 1 ? 1 : block >> 3);
    last = (block & 1) === 1;
  }
  end += header.hasChecksum ? CHECKSUM_SIZE : 0;
  return end <= bytes.length ? end : undefined;
}
