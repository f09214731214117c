/**
 * Crash tests of volumes in folders: a script of calls on a disk that is stopped, or fails, or is full at any moment.
 * What was answered is there with the right counter; what was not is there or not; said again, it counts once; and
 * nothing is found damaged.
 */
import { describe, expect, it } from "vitest";
import { createVolume, type Finding, type LocalVolume, type NewVolume } from "../store/index.ts";
import { everyFullDisk, everyMoment } from "./every-stop.ts";
import { ForgetfulDisk } from "./forgetful-disk.ts";
import type { OpenLocal } from "./local-volume.ts";
import { collect } from "./volume-contents.ts";
import { type Course, courseOf, type Sight, type Step, sightOf, VOLUME_SCRIPT } from "./volume-script.ts";

export interface CrashSubject {
  readonly settings: Omit<NewVolume, "signature">;
  readonly open: OpenLocal;
  /** Step numbers before which the volume is closed and opened again. */
  readonly reopenBefore?: readonly number[];
}

const FOLDER = "/volume";

/** How far the script came. */
interface Progress {
  /** Steps that were answered in full. */
  steps: number;
  /** Names of calls of the step after those that were answered. */
  readonly answered: Set<string>;
}

class Trial {
  readonly subject: CrashSubject;
  readonly steps: readonly Step[];
  readonly course: Course;
  progress: Progress = { steps: 0, answered: new Set() };

  constructor(subject: CrashSubject, steps: readonly Step[], course: Course) {
    this.subject = subject;
    this.steps = steps;
    this.course = course;
  }

  readonly prepare = (disk: Parameters<OpenLocal>[0]): void => {
    createVolume(disk, FOLDER, { ...this.subject.settings, signature: "weak8" });
  };

  /** Runs the script until a call fails, and rejects with that failure. */
  readonly run = async (disk: ForgetfulDisk, look?: () => Promise<void>): Promise<void> => {
    this.progress = { steps: 0, answered: new Set() };
    const starts = [0, ...(this.subject.reopenBefore ?? []), this.steps.length];
    for (const [i, start] of starts.slice(0, -1).entries()) {
      await using volume = await this.subject.open(disk, FOLDER);
      for (const step of this.steps.slice(start, starts[i + 1])) {
        await this.take(volume, step);
        await look?.();
      }
    }
  };

  readonly note = (): Progress => ({ steps: this.progress.steps, answered: new Set(this.progress.answered) });

  private async take(volume: LocalVolume, step: Step): Promise<void> {
    const results = await Promise.allSettled(
      step.map(async ({ name, make }) => {
        expect(await make(volume), name).toEqual(this.course.answers.get(name));
        this.progress.answered.add(name);
      }),
    );
    for (const result of results) if (result.status === "rejected") throw result.reason;
    this.progress.steps++;
    this.progress.answered.clear();
  }

  /** Each signature is as it was before the step that was under way or as after it; as after it, where it was answered. */
  private checkSight(sight: Sight, { steps, answered }: Progress): void {
    const [before, after] = [this.course.sights[steps]!, this.course.sights[steps + 1] ?? this.course.sights[steps]!];
    for (const signature of new Set([...before.keys(), ...after.keys(), ...sight.keys()])) {
      expect([before.get(signature), after.get(signature)]).toContain(sight.get(signature));
    }
    for (const name of answered) {
      const signature = (this.course.answers.get(name) as { signature?: string } | undefined)?.signature;
      if (signature !== undefined) expect(sight.get(signature), name).toBe(after.get(signature));
    }
  }

  /** Looks at what is found, says again what was not answered, and looks again. */
  readonly check = async (disk: ForgetfulDisk, progress: Progress): Promise<void> => {
    await using volume = await this.subject.open(disk, FOLDER);
    expect(await findings(volume)).toEqual([]);
    this.checkSight(await sightOf(volume), progress);
    const { steps } = progress;
    for (const { name, make } of this.steps[steps] ?? []) {
      expect(await make(volume), name).toEqual(this.course.answers.get(name));
    }
    expect(await sightOf(volume)).toEqual(this.course.sights[Math.min(steps + 1, this.steps.length)]);
    expect(await findings(volume)).toEqual([]);
  };

  /** As `check`, and then the rest of the script. */
  readonly checkAndGoOn = async (disk: ForgetfulDisk): Promise<void> => {
    await this.check(disk, this.note());
    await using volume = await this.subject.open(disk, FOLDER);
    for (const step of this.steps.slice(this.progress.steps + 1)) await this.take(volume, step);
    expect(await sightOf(volume)).toEqual(this.course.sights.at(-1));
    expect(await findings(volume)).toEqual([]);
  };
}

function findings(volume: LocalVolume): Promise<Finding[]> {
  return collect(volume.check({ scrub: true }));
}

export function volumeCrashSuite(name: string, subject: CrashSubject, steps = VOLUME_SCRIPT): void {
  describe(`${name} on a disk that`, async () => {
    const trial = new Trial(subject, steps, await courseOf(steps));

    it("stops at any moment: what was answered is there, and what was not counts once when it is said again", async () => {
      const { run, note, check, prepare } = trial;
      await everyMoment(run, note, check, { prepare, aftermathCount: 1 });
      expect(trial.progress.steps).toBe(steps.length);
    });

    it("is full at any moment: says so, loses nothing, and goes on when there is room", async () => {
      const count = await everyFullDisk(
        trial.run,
        async (disk, failure) => {
          if (failure !== undefined) expect(failure).toMatchObject({ code: "HT_NO_SPACE" });
          await trial.checkAndGoOn(disk.reopen({ data: "drop", names: "drop", seed: 1 }));
        },
        { prepare: trial.prepare },
      );
      expect(count).toBeGreaterThan(steps.length);
    });

    it("fails to sync at any moment: says so, and goes on with the same volume or another", async () => {
      let last = Number.POSITIVE_INFINITY;
      for (let failSyncAt = 0; failSyncAt <= last; failSyncAt++) {
        const before = new ForgetfulDisk();
        trial.prepare(before);
        const disk = before.reopen({ data: "keep", names: "keep", seed: 0 }, { failSyncAt });
        const failure = await runThrough(trial, disk);
        if (failSyncAt === 0) last = disk.operations.count("sync") + disk.operations.count("syncFolder");
        for (const fate of ["drop", "keep"] as const) {
          const found = disk.reopen({ data: fate, names: fate, seed: failSyncAt });
          await using volume = await subject.open(found, FOLDER);
          expect(await sightOf(volume), `sync ${failSyncAt}`).toEqual(trial.course.sights.at(-1));
          expect(await findings(volume)).toEqual([]);
        }
        // One that fails while nobody waits for it is made good without a word.
        if (failure !== undefined) expect(failure).toMatchObject({ code: "HT_IO" });
      }
    });
  });
}

/** Runs the script to its end; what fails is said again. Gives the first failure. */
async function runThrough({ subject, steps, course }: Trial, disk: ForgetfulDisk): Promise<unknown> {
  let failure: unknown;
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      failure ??= error;
      return work();
    }
  };
  const volume = await again(() => subject.open(disk, FOLDER));
  for (const step of steps) {
    for (const { name, make } of step) {
      expect(await again(() => make(volume)), name).toEqual(course.answers.get(name));
    }
  }
  await volume[Symbol.asyncDispose]();
  return failure;
}
