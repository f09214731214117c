/** The far side of `http-source.ts`: makes the range requests. What fails for a while is tried again. */
import { parentPort } from "node:worker_threads";
import { invariant } from "../base/index.ts";
import { ANSWER_HEAD_SIZE, ANSWER_SIZE_MAX, Answer, type RangeRequest } from "./http-source.ts";

invariant(parentPort !== null, "this module runs in a worker thread");

const TRIES = 4;
const PAUSE_MS = 250;
const REQUEST_MS = 60_000;

class Refused extends Error {}

async function fetchSize(url: string): Promise<number> {
  const response = await fetch(url, {
    headers: { range: "bytes=0-0", "accept-encoding": "identity" },
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  await response.body?.cancel();
  // Of an empty file no byte can be asked for.
  if (response.status === 416) return Number(/\/(\d+)$/.exec(response.headers.get("content-range") ?? "/0")?.[1] ?? 0);
  if (response.status !== 206) throw refusal(response.status);
  const total = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
  if (total === undefined) throw new Refused("the server does not tell the size of the file");
  return Number(total);
}

async function fetchRange({ url, start, length, size }: RangeRequest): Promise<Uint8Array> {
  const response = await fetch(url, {
    headers: { range: `bytes=${start}-${start + length - 1}`, "accept-encoding": "identity" },
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  const [, first, last, total] = CONTENT_RANGE.exec(response.headers.get("content-range") ?? "") ?? [];
  if (response.status !== 206 || Number(first) !== start) {
    await response.body?.cancel();
    throw refusal(response.status);
  }
  if (total !== "*" && Number(total) !== size) {
    await response.body?.cancel();
    throw new Refused(`the file has changed: ${total} bytes instead of ${size}`);
  }
  const told = Number(last) - start + 1;
  // A part of what was asked for is an answer, but crumbs would take for ever.
  if (told < Math.min(length, PART_SIZE_MIN)) {
    await response.body?.cancel();
    throw new Error(`the server sent ${Math.max(0, told)} bytes of ${length} that it was asked for`);
  }
  const bytes = await readUpTo(response, length);
  // Fewer would be taken for the end of the file, and other ones where a content coding was undone that is the file's own.
  if (bytes.length !== told) throw new Error(`the server sent ${bytes.length} bytes where it told of ${told}`);
  return bytes;
}

const PART_SIZE_MIN = 4096;

/** The body of an answer. It may have no end, so nothing is read beyond what was asked for. */
async function readUpTo(response: Response, sizeMax: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(sizeMax);
  let size = 0;
  for await (const piece of response.body ?? []) {
    if (size + piece.length > sizeMax) throw new Refused("the server sent more than it was asked for");
    bytes.set(piece, size);
    size += piece.length;
  }
  return bytes.subarray(0, size);
}

const CONTENT_RANGE = /^bytes (\d+)-(\d+)\/(\d+|\*)$/;

/** Only what may pass is worth another try. */
function refusal(status: number): Error {
  const message = status === 200 ? "the server does not answer range requests" : `the server answered ${status}`;
  return status >= 500 || status === 429 ? new Error(message) : new Refused(message);
}

async function answer(request: RangeRequest): Promise<void> {
  const { url, length, answer: shared } = request;
  const state = new Int32Array(shared, 0, 2);
  const size = new Float64Array(shared, 8, 1);
  const bytes = new Uint8Array(shared, ANSWER_HEAD_SIZE);
  try {
    if (length === 0) size[0] = await persist(() => fetchSize(url));
    else {
      const found = await persist(() => fetchRange(request));
      bytes.set(found);
      size[0] = found.length;
    }
    Atomics.store(state, 0, Answer.bytes);
  } catch (error) {
    const { message, cause } = error as Error;
    const text = Buffer.from(cause instanceof Error ? `${message}: ${cause.message}` : message);
    bytes.set(text.subarray(0, ANSWER_SIZE_MAX));
    size[0] = Math.min(text.length, ANSWER_SIZE_MAX);
    Atomics.store(state, 0, Answer.failed);
  }
  Atomics.notify(state, 0);
}

async function persist<T>(request: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      if (error instanceof Refused || attempt === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** attempt));
    }
  }
}

parentPort.on("message", (request: RangeRequest) => void answer(request));
