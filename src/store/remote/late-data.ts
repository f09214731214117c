/** Data of a block that is too large to hold: taken from the answer while it is there, or asked for once more. */
import type { BlockData } from "../volume.ts";
import { timedOut } from "./deadlines.ts";
import type { Link, StreamedBody } from "./link.ts";

/** An answer that nobody takes for so long is let go, for it keeps a connection. */
const LEFT_ALONE_MS = 5000;

/** `again` asks for the data anew, where it was left alone for long. */
export function lateData(link: Link, answer: StreamedBody, again: () => Promise<BlockData>): BlockData {
  let isLetGo = false;
  const timer = setTimeout(() => {
    isLetGo = true;
    answer.destroy();
  }, LEFT_ALONE_MS).unref();
  return (async function* () {
    clearTimeout(timer);
    if (!isLetGo) yield* receivedPieces(link, answer);
    else {
      const data = await again();
      if (data instanceof Uint8Array) yield data;
      else yield* data;
    }
  })();
}

/** The body of an answer as it comes. Leaving off closes the connection. */
export async function* receivedPieces(link: Link, answer: StreamedBody): AsyncGenerator<Uint8Array> {
  const pieces = answer[Symbol.asyncIterator]();
  try {
    for (;;) {
      // Only while we wait: a reader may take its time.
      const { idleTimeoutMs } = link.deadlines;
      const late = () => answer.destroy(timedOut("no more of the answer", idleTimeoutMs));
      const timer = setTimeout(late, idleTimeoutMs);
      const { done, value } = await pieces.next().finally(() => clearTimeout(timer));
      if (done === true) return;
      yield value;
    }
  } catch (error) {
    throw link.unavailable(error);
  } finally {
    answer.destroy();
  }
}
