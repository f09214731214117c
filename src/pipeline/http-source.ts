/**
 * A file behind a URL as a source that answers at once: each read is a range request. The request is made by a thread of
 * its own while this one waits, so that all that reads from a disk reads from a server as well.
 */
import { createRequire } from "node:module";
import type * as WorkerThreads from "node:worker_threads";
import { ArchiveError } from "../base/index.ts";
import type { ByteSource } from "../warc/index.ts";

/** State and length of the answer, then its bytes. */
export const ANSWER_HEAD_SIZE = 16;
export const ANSWER_SIZE_MAX = 1 << 20;

export const Answer = { waiting: 0, bytes: 1, failed: 2 } as const;

export interface RangeRequest {
  readonly url: string;
  readonly start: number;
  /** Bytes wanted; 0 asks for the size of the file alone. */
  readonly length: number;
  /** Of the file, as it was told before. */
  readonly size: number;
  readonly answer: SharedArrayBuffer;
}

const ANSWER_WAIT_MS = 300_000;

export function isUrl(path: string): boolean {
  return /^https?:\/\//i.test(path);
}

let thread: WorkerThreads.Worker | undefined;
let shared: SharedArrayBuffer | undefined;

/** Asks the thread and waits. Returns the length of the answer, whose bytes are in the shared memory. */
function ask(url: string, start: number, length: number, fileSize: number): { length: number; bytes: Uint8Array } {
  if (thread === undefined) {
    // Loaded here: every command comes through this file, and few ask a server.
    const threads = createRequire(import.meta.url)("node:worker_threads") as typeof WorkerThreads;
    thread = new threads.Worker(new URL("./http-source-worker.js", import.meta.url));
    thread.unref();
  }
  shared ??= new SharedArrayBuffer(ANSWER_HEAD_SIZE + ANSWER_SIZE_MAX);
  const state = new Int32Array(shared, 0, 2);
  const size = new Float64Array(shared, 8, 1);
  Atomics.store(state, 0, Answer.waiting);
  thread.postMessage({ url, start, length, size: fileSize, answer: shared } satisfies RangeRequest);
  if (Atomics.wait(state, 0, Answer.waiting, ANSWER_WAIT_MS) === "timed-out") {
    // An answer that comes now would fall into the next one's memory.
    void thread.terminate();
    thread = undefined;
    shared = undefined;
    throw new ArchiveError("HT_PEER_UNAVAILABLE", `${url}: no answer within ${ANSWER_WAIT_MS / 1000} s`, { file: url });
  }
  const bytes = new Uint8Array(shared, ANSWER_HEAD_SIZE);
  if (Atomics.load(state, 0) === Answer.failed) {
    const reason = Buffer.from(bytes.subarray(0, size[0])).toString();
    throw new ArchiveError("HT_PEER_UNAVAILABLE", `${url}: ${reason}`, { file: url, offset: start });
  }
  return { length: size[0]!, bytes };
}

export function openUrl(url: string, name = url): ByteSource {
  const { length: size } = ask(url, 0, 0, 0);
  return {
    name,
    seekable: true,
    size,
    read(into, position) {
      const wanted = Math.min(into.length, size - position);
      let done = 0;
      while (done < wanted) {
        const { length, bytes } = ask(url, position + done, Math.min(wanted - done, ANSWER_SIZE_MAX), size);
        into.set(bytes.subarray(0, length), done);
        done += length;
      }
      return done;
    },
  };
}
