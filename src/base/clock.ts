/** Time and chance arrive as arguments, so that tests and sample captures can be repeated to the byte. */
import { randomBytes, randomUUID } from "node:crypto";

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

export interface Random {
  uuid(): string;
  bytes(count: number): Uint8Array;
}

export const systemClock: Clock = { now: () => Date.now() };

export const systemRandom: Random = { uuid: () => randomUUID(), bytes: (count) => randomBytes(count) };
