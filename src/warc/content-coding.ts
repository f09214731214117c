/** Undoes content codings (gzip, deflate, br, zstd) of a payload, on request: payloads are kept and compared coded. */
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { ArchiveError, type ErrorCode, formatPlace, type Place } from "../base/index.ts";
import { iterableSource } from "./byte-source.ts";
import { SourceWindow, Step } from "./window.ts";
import { ZstdStream } from "./zstd-stream.ts";

export type ContentCoding = "gzip" | "deflate" | "br" | "zstd";

const NAMES: ReadonlyMap<string, ContentCoding> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
  ["zstd", "zstd"],
]);

/**
 * The codings of a Content-Encoding value in the order they were applied; throws for one that is not known. `place` is
 * that of the record.
 */
export function parseContentCodings(value: string | undefined, place: Place = {}): ContentCoding[] {
  const names = (value ?? "").split(",").map((name) => name.trim().toLowerCase());
  return names
    .filter((name) => name !== "" && name !== "identity")
    .map((name) => {
      const coding = NAMES.get(name);
      if (coding === undefined) throw failure("HT_UNSUPPORTED", `content coding not known: ${name}`, place);
      return coding;
    });
}

/** The payload of the record in that place with its codings undone, last one first. Damage ends it with `HT_CORRUPT`. */
export async function* decodeContent(
  payload: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  codings: readonly ContentCoding[],
  place: Place = {},
): AsyncGenerator<Uint8Array> {
  let bytes = inTurn(payload);
  for (const coding of codings.toReversed()) {
    bytes = coding === "zstd" ? unzstd(bytes, place) : undo(bytes, coding, place);
  }
  yield* bytes;
}

function failure(code: ErrorCode, message: string, place: Place, cause?: unknown): ArchiveError {
  const where = formatPlace(place);
  return new ArchiveError(code, where === "" ? message : `${where}: ${message}`, place, cause);
}

async function* inTurn(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield piece;
}

/** The same bytes, but first two or more of them, where there are as many: a zlib header takes two to be seen. */
async function* withWideStart(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of pieces) {
    if (start === undefined) yield piece;
    else {
      start = Buffer.concat([start, piece]);
      if (start.length < 2) continue;
      yield start;
      start = undefined;
    }
  }
  if (start !== undefined && start.length > 0) yield start;
}

async function* undo(payload: AsyncIterable<Uint8Array>, coding: Exclude<ContentCoding, "zstd">, place: Place) {
  const iterator = withWideStart(payload);
  const first = await iterator.next();
  if (first.done === true) return;
  const decoder = createDecoder(coding, first.value);
  const feed = async () => {
    for (let step = first as IteratorResult<Uint8Array>; step.done !== true; step = await iterator.next()) {
      if (decoder.destroyed) return;
      // The piece is valid until the next one is asked for, and the decoder keeps it longer.
      const copy = Buffer.from(step.value);
      if (!decoder.write(copy)) await drained(decoder);
    }
    decoder.end();
  };
  const feeding = feed().catch((cause: unknown) => void decoder.destroy(cause as Error));
  try {
    for await (const chunk of decoder) yield chunk as Uint8Array;
    await feeding;
  } catch (cause) {
    // The payload's own error is not one of its coding.
    if (cause instanceof ArchiveError) throw cause;
    throw failure("HT_CORRUPT", `the ${coding} content coding is broken`, place, cause);
  }
}

/** Resolves when it takes more, or nothing more. */
function drained(stream: Transform): Promise<void> {
  return new Promise((resolve) => {
    const goOn = () => {
      stream.off("drain", goOn).off("close", goOn);
      resolve();
    };
    stream.on("drain", goOn).on("close", goOn);
  });
}

function createDecoder(coding: Exclude<ContentCoding, "zstd">, first: Uint8Array): Transform {
  if (coding === "br") return createBrotliDecompress();
  if (coding === "gzip") return createGunzip();
  // "deflate" should have a zlib header, and often has none.
  const hasHeader = first.length >= 2 && (first[0]! & 15) === 8 && ((first[0]! << 8) | first[1]!) % 31 === 0;
  return hasHeader ? createInflate() : createInflateRaw();
}

async function* unzstd(payload: AsyncIterable<Uint8Array>, place: Place): AsyncGenerator<Uint8Array> {
  const report = (_code: string, message: string) => {
    throw failure("HT_CORRUPT", `the zstd content coding is broken: ${message}`, place);
  };
  const stream = new ZstdStream(new SourceWindow(iterableSource(payload), 1 << 20), 1 << 20, report);
  const { out } = stream;
  for (;;) {
    const between = stream.memberEnded;
    const step = between ? stream.begin(false) : stream.more();
    if (step === Step.NEED) await stream.load();
    else if (between && step === Step.END) return;
    if (out.available > 0) {
      yield out.buffer.subarray(out.pos, out.end);
      out.clear();
    }
  }
}
