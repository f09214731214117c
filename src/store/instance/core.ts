/** What all parts of an instance share: its volumes, its codecs, its rules. */
import { ArchiveError, type Random } from "../../base/index.ts";
import type { Codecs } from "../codec.ts";
import type { SignatureAlgorithm } from "../signature.ts";
import type { Member } from "./member.ts";
import type { Placement } from "./placement.ts";

export interface InstanceCore {
  readonly members: readonly Member[];
  /** Those that take new contents, as far as the connector knows. */
  readonly writable: readonly Member[];
  readonly signature: SignatureAlgorithm;
  readonly replicas: number;
  readonly placement: Placement;
  readonly codecs: Codecs;
  readonly random: Random;
  readonly pause: (ms: number) => Promise<void>;
}

/** Throws HT_NOT_FOUND for a number that no volume has. */
export function memberOf(core: InstanceCore, number: number): Member {
  const member = core.members[number];
  if (member !== undefined) return member;
  throw new ArchiveError("HT_NOT_FOUND", `there is no volume ${number}; the instance has ${core.members.length}`);
}

/** The volumes that may take a content, its home first. Those that did not answer a moment ago come last. */
export function orderFor(core: InstanceCore, signature: string): readonly Member[] {
  const { writable } = core;
  if (writable.length === 1) return writable;
  const order = core.placement(signature, writable).map((position) => writable[position]);
  if (order.includes(undefined)) throw new ArchiveError("HT_USAGE", "the placement named a volume that is not there");
  const members = [...new Set([...(order as Member[]), ...writable])];
  return members.some(({ isDown }) => isDown) ? members.sort((one, other) => +one.isDown - +other.isDown) : members;
}

const PAUSE_MS_MIN = 10;
const PAUSE_MS_MAX = 500;
const WAIT_MS_MAX = 10_000;

/** Repeats `work` while the block in question is on its way to another volume (HT_MOVING), for some seconds. */
export async function onceSettled<T>(core: InstanceCore, work: () => Promise<T>): Promise<T> {
  let waitedMs = 0;
  for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await work();
    } catch (error) {
      if (!isMoving(error) || waitedMs >= WAIT_MS_MAX) throw error;
    }
    await core.pause(pauseMs);
    waitedMs += pauseMs;
  }
}

export function isMoving(error: unknown): boolean {
  return error instanceof ArchiveError && error.code === "HT_MOVING";
}
