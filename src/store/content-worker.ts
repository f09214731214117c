/** The far side of `content-threads.ts`: a thread that verifies and compares contents, several at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { ArchiveError, invariant } from "../base/index.ts";
import { Codecs } from "./codec.ts";
import { loadCodec } from "./codec-module.ts";
import { equalContents, verifyContentStream } from "./content-check.ts";
import type { CodecModule, ContentTask, FromThread, ToThread } from "./content-threads.ts";

invariant(parentPort !== null, "this module runs in a worker thread");
const port = parentPort;
const codecs = Codecs.load().then(async (loaded) => {
  for (const { name, module } of workerData as readonly CodecModule[]) loaded.register(await loadCodec(name, module));
  return loaded;
});

/** Pieces that were asked for, by job and input. */
const awaited = new Map<string, (piece: Uint8Array | undefined) => void>();

function tell(message: FromThread): void {
  port.postMessage(message);
}

async function* pieces(job: number, input: number): AsyncGenerator<Uint8Array> {
  for (;;) {
    const piece = await new Promise<Uint8Array | undefined>((resolve) => {
      awaited.set(`${job} ${input}`, resolve);
      tell({ job, wanted: input });
    });
    if (piece === undefined) return;
    yield piece;
  }
}

async function carryOut(job: number, task: ContentTask): Promise<boolean> {
  const known = await codecs;
  if (task.kind === "verify") {
    await verifyContentStream(known, task.algorithm, task.claim, pieces(job, 0));
    return true;
  }
  const { size, compressions } = task;
  const [one, other] = compressions.map((compression, i) => ({ compression, size, data: pieces(job, i) }));
  return equalContents(known, one!, other!);
}

function give(job: number, input: number, piece: Uint8Array | undefined): void {
  const name = `${job} ${input}`;
  const take = awaited.get(name);
  awaited.delete(name);
  take?.(piece);
}

port.on("message", (message: ToThread) => {
  const { job } = message;
  if ("piece" in message) give(job, message.input, message.piece);
  else if ("task" in message) {
    carryOut(job, message.task).then(
      (result) => tell({ job, result }),
      (error: unknown) => {
        const code = error instanceof ArchiveError ? error.code : undefined;
        tell({ job, error: { code, message: error instanceof Error ? error.message : String(error) } });
      },
    );
  } else {
    // The end of its data is as good as any other way to make it end.
    for (const input of [0, 1]) give(job, input, undefined);
  }
});
