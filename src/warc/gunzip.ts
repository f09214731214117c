/** A gzip file that is no archive, such as an index: the bytes of all its members, one behind the other. */
import { ArchiveError, formatPlace } from "../base/index.ts";
import type { ByteSource } from "./byte-source.ts";
import { GzipStream } from "./gzip-stream.ts";
import { SourceWindow, Step } from "./window.ts";

const WINDOW_SIZE = 1 << 18;

/** Pieces are valid until the next one is asked for. Throws where the file is damaged. */
export function* gunzip(source: ByteSource): Generator<Uint8Array> {
  const input = new SourceWindow(source, WINDOW_SIZE);
  const stream = new GzipStream(
    input,
    WINDOW_SIZE,
    (code, message, offset) => {
      const place = { file: source.name, offset };
      throw new ArchiveError(code, `${formatPlace(place)}: ${message}`, place);
    },
    { accelerate: false },
  );
  const { out } = stream;
  try {
    while (stream.begin(false) !== Step.END) {
      for (let step: Step = Step.MORE; step !== Step.END; ) {
        step = stream.more();
        if (out.available > 0) yield out.buffer.subarray(out.pos, out.end);
        out.pos = out.end;
        out.keep = out.pos;
      }
    }
  } finally {
    stream.release();
    input.release();
  }
}
