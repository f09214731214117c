/** What keeps a volume in order while it is served. Not every volume can do it. */
import { ArchiveError } from "../base/index.ts";
import {
  type CompactOptions,
  type CompactResult,
  gather,
  MediaType,
  toWireError,
  VOLUME_STATES,
  type VolumeState,
} from "../store/index.ts";
import { readBody } from "./body.ts";
import type { NodeExchange } from "./node-exchange.ts";
import type { VolumeService } from "./service.ts";

interface CaredFor {
  setState?(state: VolumeState): void;
  compact?(options: CompactOptions): Promise<CompactResult>;
}

const STATE_LENGTH_MAX = 100;
/** Between two words of progress, which also show that the server is alive. */
const PROGRESS_MS = 1000;

/** The body is the word. */
export function setState(service: VolumeService, exchange: NodeExchange): void {
  readBody(service, exchange, STATE_LENGTH_MAX, (body) => {
    changeState(service, exchange, body).catch(exchange.fail);
  });
}

async function changeState(service: VolumeService, exchange: NodeExchange, body: Parameters<typeof gather>[0]) {
  const word = Buffer.from(await gather(body, STATE_LENGTH_MAX))
    .toString()
    .trim();
  const state = VOLUME_STATES.find((name) => name === word);
  if (state === undefined) throw new ArchiveError("HT_USAGE", `a state is one of ${VOLUME_STATES.join(", ")}`);
  const volume = service.volume as CaredFor;
  if (volume.setState === undefined) throw unsupported("this volume's state cannot be changed here");
  volume.setState(state);
  service.log.tell("info", "state", { state });
  exchange.sendJson(200, "done", JSON.stringify({ state }));
}

/** Lines of JSON: progress from time to time, and at the end the result or an error. */
export async function compactVolume(service: VolumeService, exchange: NodeExchange): Promise<void> {
  const volume = service.volume as CaredFor;
  if (volume.compact === undefined) throw unsupported("this volume has no space to give back");
  if (service.isCompacting) throw new ArchiveError("HT_BUSY", "the volume is being compacted already");
  service.isCompacting = true;
  exchange.isWithServer = true;
  const { response } = exchange;
  response.writeHead(200, { "Content-Type": MediaType.lines });
  const write = (value: unknown) => {
    if (!response.destroyed) response.write(`${JSON.stringify(value)}\n`);
  };
  let progress = { done: 0, total: 0 };
  const timer = setInterval(() => write({ progress }), PROGRESS_MS);
  try {
    // A client that goes away does not stop it.
    const compaction = volume.compact({ onProgress: (done, total) => (progress = { done, total }) });
    const result = await service.track(compaction);
    service.log.tell("info", "compacted", { segments: result.segments, blocksMoved: result.blocksMoved });
    exchange.outcome = "done";
    write({ result });
  } catch (error) {
    const told = toWireError(error);
    exchange.failure = error;
    exchange.outcome = told.code;
    write({ error: told });
  } finally {
    clearInterval(timer);
    service.isCompacting = false;
    response.end();
  }
}

function unsupported(message: string): ArchiveError {
  return new ArchiveError("HT_UNSUPPORTED", message);
}
