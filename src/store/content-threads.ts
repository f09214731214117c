/**
 * Verifying and comparing large contents in threads, so that whoever waits for something small does not wait for them.
 * A thread asks for the pieces that it needs, one at a time, so that nobody holds more than that.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { ArchiveError, type ErrorCode } from "../base/index.ts";
import type { Compressed, ContentClaim } from "./content-check.ts";
import type { SignatureAlgorithm } from "./signature.ts";
import type { BlockData } from "./volume.ts";

/** A codec that threads load by themselves, see `loadCodec`. */
export interface CodecModule {
  readonly name: string;
  readonly module: string;
}

/** What a thread is asked to do; its data comes piece by piece. */
export type ContentTask =
  | { readonly kind: "verify"; readonly algorithm: SignatureAlgorithm; readonly claim: ContentClaim }
  | { readonly kind: "equal"; readonly size: number; readonly compressions: readonly [string, string] };

export type ToThread =
  | { readonly job: number; readonly task: ContentTask }
  | { readonly job: number; readonly input: number; readonly piece: Uint8Array | undefined }
  | { readonly job: number; readonly isGivenUp: true };

export type FromThread =
  | { readonly job: number; readonly wanted: number }
  | { readonly job: number; readonly result: boolean }
  | { readonly job: number; readonly error: { readonly code: ErrorCode | undefined; readonly message: string } };

const THREADS_MAX = 4;

interface Job {
  readonly inputs: readonly AsyncIterator<Uint8Array>[];
  readonly resolve: (result: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export class ContentThreads implements AsyncDisposable {
  private readonly codecs: readonly CodecModule[];
  private readonly count: number;
  private readonly threads: Thread[] = [];

  /** Threads are started when there is something for them to do. */
  constructor(codecs: readonly CodecModule[] = [], count = Math.min(availableParallelism(), THREADS_MAX)) {
    this.codecs = codecs;
    this.count = count;
  }

  /** As `verifyContentStream`. */
  async verify(algorithm: SignatureAlgorithm, claim: ContentClaim, data: BlockData): Promise<void> {
    const { signature, size, compression } = claim;
    await this.thread().run({ kind: "verify", algorithm, claim: { signature, size, compression } }, [data]);
  }

  /** As `equalContents`. */
  equal(one: Compressed, other: Compressed): Promise<boolean> {
    const task = { kind: "equal", size: one.size, compressions: [one.compression, other.compression] } as const;
    return this.thread().run(task, [one.data, other.data]);
  }

  /** The one with the least to do. */
  private thread(): Thread {
    const [idlest] = this.threads.toSorted((one, other) => one.load - other.load);
    if (idlest !== undefined && (idlest.load === 0 || this.threads.length >= this.count)) return idlest;
    const thread = new Thread(this.codecs, () => this.threads.splice(this.threads.indexOf(thread), 1));
    this.threads.push(thread);
    return thread;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.end()));
  }
}

class Thread {
  private readonly worker: Worker;
  private readonly jobs = new Map<number, Job>();
  private count = 0;

  constructor(codecs: readonly CodecModule[], onEnd: () => void) {
    this.worker = new Worker(new URL("./content-worker.js", import.meta.url), { workerData: codecs });
    this.worker.on("message", (message: FromThread) => this.receive(message));
    this.worker.on("error", (error) => {
      for (const { reject } of this.jobs.values()) reject(error);
      this.jobs.clear();
    });
    this.worker.on("exit", onEnd);
    // It keeps nobody from ending; whoever waits for a job waits for something else too.
    this.worker.unref();
  }

  get load(): number {
    return this.jobs.size;
  }

  async run(task: ContentTask, data: readonly BlockData[]): Promise<boolean> {
    const inputs = data.map((each) => (each instanceof Uint8Array ? once(each) : each)[Symbol.asyncIterator]());
    const job = this.count++;
    if (this.jobs.size === 0) this.worker.ref();
    try {
      return await new Promise<boolean>((resolve, reject) => {
        this.jobs.set(job, { inputs, resolve, reject });
        this.send({ job, task });
      });
    } finally {
      this.jobs.delete(job);
      if (this.jobs.size === 0) this.worker.unref();
      await Promise.all(inputs.map(async (input) => await input.return?.()));
    }
  }

  private send(message: ToThread, transfer: ArrayBuffer[] = []): void {
    this.worker.postMessage(message, transfer);
  }

  private receive(message: FromThread): void {
    const job = this.jobs.get(message.job);
    if (job === undefined) {
      if ("wanted" in message) this.send({ job: message.job, isGivenUp: true });
      return;
    }
    if ("result" in message) job.resolve(message.result);
    else if ("error" in message) job.reject(revive(message.error));
    else {
      this.give(message.job, job, message.wanted).catch((error: unknown) => {
        // It is the source's error that comes through, not what the thread makes of it.
        job.reject(error);
        this.send({ job: message.job, isGivenUp: true });
      });
    }
  }

  private async give(id: number, job: Job, input: number): Promise<void> {
    const { done, value } = await job.inputs[input]!.next();
    // The piece is only lent, and may be part of something larger.
    const piece = done === true ? undefined : new Uint8Array(value);
    this.send({ job: id, input, piece }, piece === undefined ? [] : [piece.buffer]);
  }

  end(): Promise<unknown> {
    return this.worker.terminate();
  }
}

function revive({ code, message }: { readonly code: ErrorCode | undefined; readonly message: string }): Error {
  return code === undefined ? new Error(message) : new ArchiveError(code, message);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
