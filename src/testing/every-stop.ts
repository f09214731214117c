/** Crash tests over every moment: run a scenario, cut the power at the k-th operation for every k, and look. */
import type { Disk } from "../disk/index.ts";
import { createDice, newSeed } from "./dice.ts";
import type { Fate } from "./forgetful-content.ts";
import { type Aftermath, ForgetfulDisk } from "./forgetful-disk.ts";
import type { Faults } from "./operations.ts";

const FATES: readonly Fate[] = ["drop", "tear", "keep"];

/** Where chance has a say, each stop is looked at with so many throws of the dice. */
const THROW_COUNT = 4;

/** A scenario that stops here would be one that never ends. */
const STOP_COUNT_MAX = 10_000;

export interface StopOptions {
  /** Repeats a failed run; without it every run is a new one. */
  readonly seed?: number;
  /** Further faults of the disk on which the scenario runs. */
  readonly faults?: Faults;
  /** Makes what is there, durably, before the scenario; its operations are not counted. */
  readonly prepare?: (disk: Disk) => void;
}

type Run = (disk: ForgetfulDisk) => void | Promise<void>;

/** `stoppedAt` is absent in the last round, in which the scenario came to its end before the power was cut. */
type Check = (disk: ForgetfulDisk, stoppedAt: number | undefined) => void | Promise<void>;

function aftermaths(seed: number, count = Number.POSITIVE_INFINITY): Aftermath[] {
  const dice = createDice(seed);
  const all = FATES.flatMap((data) =>
    FATES.flatMap((names) => {
      const throws = data === "tear" || names === "tear" ? THROW_COUNT : 1;
      return Array.from({ length: throws }, () => ({ data, names, seed: dice.below(2 ** 32) }));
    }),
  );
  while (all.length > count) all.splice(dice.below(all.length), 1);
  return all;
}

async function runToStop(run: Run, disk: ForgetfulDisk): Promise<void> {
  try {
    await run(disk);
  } catch (error) {
    // Code under test may wrap the power cut; what it makes of any other failure is the test's own.
    if (!disk.operations.stopped) throw error;
  }
}

function prepared(options: StopOptions, faults: Faults): ForgetfulDisk {
  const before = new ForgetfulDisk();
  options.prepare?.(before);
  return before.reopen({ data: "keep", names: "keep", seed: 0 }, faults);
}

/**
 * Runs the scenario once for every k and checks each disk that a power cut at its k-th operation can leave, and at
 * last those after its end. `run` is called once for each k and `check` many times after it: what was acknowledged
 * can be kept in variables that `run` resets. Gives the number of operations of the whole scenario.
 */
export async function everyStop(run: Run, check: Check, options: StopOptions = {}): Promise<number> {
  const seed = options.seed ?? newSeed();
  for (let stopAt = 1; stopAt <= STOP_COUNT_MAX; stopAt++) {
    const disk = prepared(options, { ...options.faults, stopAt });
    await runToStop(run, disk);
    const stoppedAt = disk.operations.stopped ? stopAt : undefined;
    for (const aftermath of aftermaths(seed + stopAt)) {
      try {
        await check(disk.reopen(aftermath), stoppedAt);
      } catch (cause) {
        const where = stoppedAt === undefined ? "after its end" : `at ${stopAt} (${disk.operations.log.at(-1)})`;
        const how = `data ${aftermath.data}, names ${aftermath.names}`;
        const message = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`power cut ${where}, ${how}, repeat with seed ${seed}: ${message}`, { cause });
      }
    }
    if (stoppedAt === undefined) return stopAt - 1;
  }
  throw new Error(`the scenario has not ended after ${STOP_COUNT_MAX} operations`);
}

export interface MomentOptions extends StopOptions {
  /** Each moment is looked at with so many of the 24 aftermaths, which chance chooses; default 2. */
  readonly aftermathCount?: number;
}

/**
 * The same for long scenarios, in one run: before each operation the disk that a power cut would leave is kept, and
 * looked at when `run` calls `look`, and at its end. `check` is given what `note` told at that moment.
 */
export async function everyMoment<T>(
  run: (disk: ForgetfulDisk, look: () => Promise<void>) => Promise<void>,
  note: () => T,
  check: (disk: ForgetfulDisk, noted: T) => void | Promise<void>,
  options: MomentOptions = {},
): Promise<number> {
  const { aftermathCount = 2, seed = newSeed() } = options;
  let moments: {
    readonly aftermath: Aftermath;
    readonly left: ForgetfulDisk;
    readonly noted: T;
    readonly at: number;
  }[] = [];
  const keep = () => {
    const at = disk.operations.log.length;
    for (const aftermath of aftermaths(seed + at, aftermathCount)) {
      moments.push({ aftermath, left: disk.reopen(aftermath), noted: note(), at });
    }
  };
  const disk: ForgetfulDisk = prepared(options, { ...options.faults, onOperation: keep });
  const look = async () => {
    const now = moments;
    moments = [];
    for (const { aftermath, left, noted, at } of now) {
      try {
        await check(left, noted);
      } catch (cause) {
        const { data, names } = aftermath;
        const where = `after ${at} (${disk.operations.log[at - 1]}), data ${data}, names ${names}`;
        const message = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`power cut ${where}, repeat with seed ${seed}: ${message}`, { cause });
      }
    }
  };
  await run(disk, look);
  keep();
  await look();
  return disk.operations.log.length;
}

/**
 * Runs the scenario once for every k with a disk that is full from its k-th write on, until one run finds room for
 * all. `check` sees the disk as it then is, and whether the scenario failed, and by what.
 */
export async function everyFullDisk(
  run: Run,
  check: (disk: ForgetfulDisk, failure: unknown) => void | Promise<void>,
  options: StopOptions = {},
): Promise<number> {
  for (let write = 1; write <= STOP_COUNT_MAX; write++) {
    const disk = prepared(options, { ...options.faults, fullFromWrite: write });
    let failure: unknown;
    try {
      await run(disk);
    } catch (error) {
      failure = error;
    }
    await check(disk, failure);
    if (disk.operations.count("write") < write) return write - 1;
  }
  throw new Error(`the scenario has not ended after ${STOP_COUNT_MAX} writes`);
}
