/**
 * An instance of three volumes against a plain map: random stores, deletes, volumes that die and come back, migrations that
 * are cut off and go on, and repairs. Signatures are weak, so that contents collide all the time.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArchiveError } from "../../base/index.ts";
import { collidingContents, InstanceFixture, type InstanceSetting, textAt } from "../../testing/instance-fixture.ts";
import { Broken } from "../../testing/watched-volume.ts";
import { type ContentKey, formatContentKey } from "../content-key.ts";
import { STORE_MODES, type StoreMode } from "../volume.ts";
import type { Instance } from "./instance.ts";

/** Of three sizes, most of them colliding with others of their size. */
const CONTENTS = [...collidingContents(4, 4), ...["a", "b", "c"].map((text) => Buffer.from(text.repeat(16)))];

interface Held {
  readonly key: ContentKey;
  readonly text: string;
  references: number;
}

/** What is known of the keys that were given out. */
class Model {
  readonly held = new Map<string, Held>();
  states: ("writable" | "read-only")[] = ["writable", "writable", "writable"];
  movedTo: Record<number, number> = {};
  down: number | undefined;
  /** A migration that was cut off. */
  unfinished: readonly [from: number, to: number] | undefined;

  pick(choice: number): Held | undefined {
    const all = [...this.held.values()];
    return all[choice % all.length];
  }
}

class Real {
  readonly fixture: InstanceFixture;
  instance: Instance;

  constructor(replicas: number) {
    this.fixture = new InstanceFixture(3, { signature: "weak8", replicas });
    this.instance = this.fixture.open();
  }

  reopen({ states, movedTo }: Model): void {
    const setting: InstanceSetting = { states, movedTo };
    this.instance = this.fixture.open(setting);
    this.fixture.nowMs += 60_000;
  }
}

type Command = fc.AsyncCommand<Model, Real>;

/** The code of an error of ours; others go on. */
async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return error.code;
  }
  return undefined;
}

class Store implements Command {
  readonly #content: Buffer;
  readonly #mode: StoreMode;
  readonly #volume: number | undefined;

  constructor(content: number, mode: StoreMode, volume: number | undefined) {
    this.#content = CONTENTS[content]!;
    this.#mode = mode;
    this.#volume = volume;
  }

  check({ states, down }: Model): boolean {
    const takes = (volume: number) => states[volume] === "writable" && volume !== down;
    return this.#volume === undefined ? [0, 1, 2].some(takes) : takes(this.#volume);
  }

  async run(model: Model, { instance }: Real): Promise<void> {
    const { key, outcome } = await instance.store(this.#content, { mode: this.#mode, volume: this.#volume });
    const name = formatContentKey(key);
    const known = model.held.get(name);
    const text = (await textAt(instance, key))!;
    if (this.#mode === "regular") expect(text.length).toBe(this.#content.length);
    else expect(text).toBe(this.#content.toString());
    if (known !== undefined) expect(text).toBe(known.text);
    if (outcome === "new") expect(known).toBeUndefined();
    if (this.#mode === "force-new") expect(outcome).toBe("new");
    model.held.set(name, { key, text, references: (known?.references ?? 0) + 1 });
  }

  toString(): string {
    return `store ${this.#content.toString()} ${this.#mode} ${this.#volume ?? ""}`;
  }
}

class Delete implements Command {
  readonly #choice: number;

  constructor(choice: number) {
    this.#choice = choice;
  }

  check({ held }: Model): boolean {
    return held.size > 0;
  }

  async run(model: Model, { instance }: Real): Promise<void> {
    const held = model.pick(this.#choice)!;
    const code = await codeOf(
      instance.delete(held.key).then((left) => {
        expect(left).toBeDefined();
      }),
    );
    if (code !== undefined) {
      // Only for the volume that is away, or a block that is still on its way.
      expect(code).toMatch(/^HT_(?:PEER_UNAVAILABLE|MOVING)$/);
      if (code === "HT_PEER_UNAVAILABLE") expect(model.down).toBeDefined();
      else expect(model.unfinished).toBeDefined();
      return;
    }
    held.references--;
    if (held.references === 0) model.held.delete(formatContentKey(held.key));
  }

  toString(): string {
    return `delete ${this.#choice}`;
  }
}

/** Never another content, and never nothing. */
class RetrieveAll implements Command {
  check(): boolean {
    return true;
  }

  async run(model: Model, { instance }: Real): Promise<void> {
    for (const { key, text } of model.held.values()) {
      const code = await codeOf(
        textAt(instance, key).then((found) => {
          expect({ key, found }).toEqual({ key, found: text });
        }),
      );
      if (code === undefined) continue;
      expect(code).toBe("HT_PEER_UNAVAILABLE");
      expect(model.down).toBeDefined();
      // With replicas it is in another volume too, unless there was none that took it.
      if (Object.keys(model.movedTo).length === 0) expect(instance.replicas).toBe(1);
    }
  }

  toString(): string {
    return "retrieve all";
  }
}

/** One volume dies, or the one that did comes back. */
class Die implements Command {
  readonly #volume: number;

  constructor(volume: number) {
    this.#volume = volume;
  }

  check(): boolean {
    return true;
  }

  run(model: Model, { fixture }: Real): Promise<void> {
    model.down = model.down === undefined ? this.#volume : undefined;
    for (const [i, watched] of fixture.volumes.entries()) watched.isDown = i === model.down;
    fixture.nowMs += 5000;
    return Promise.resolve();
  }

  toString(): string {
    return `die ${this.#volume}`;
  }
}

class NewClient implements Command {
  check(): boolean {
    return true;
  }

  run(model: Model, real: Real): Promise<void> {
    real.reopen(model);
    return Promise.resolve();
  }

  toString(): string {
    return "new client";
  }
}

/** One volume moves to another, once; it is cut off at a step, and may go on later. */
class Migrate implements Command {
  readonly #from: number;
  readonly #to: number;
  readonly #step: number;

  constructor(from: number, to: number, step: number) {
    this.#from = from;
    this.#to = to;
    this.#step = step;
  }

  check({ unfinished, movedTo, down }: Model): boolean {
    if (down !== undefined) return false;
    return unfinished !== undefined || (this.#from !== this.#to && Object.keys(movedTo).length === 0);
  }

  async run(model: Model, real: Real): Promise<void> {
    const [from, to] = model.unfinished ?? [this.#from, this.#to];
    model.unfinished = [from, to];
    model.states[from] = "read-only";
    model.movedTo = { [from]: to };
    real.fixture.inner[from]!.state = "read-only";
    real.reopen(model);
    let count = 0;
    const faultAt = () => (count++ === this.#step ? (this.#step % 2 === 0 ? "before" : "after") : undefined);
    for (const watched of real.fixture.volumes) watched.faultAt = faultAt;
    const outcome = await real.instance.migrate(from, to).catch((error: unknown) => error);
    for (const watched of real.fixture.volumes) watched.faultAt = () => undefined;
    if (outcome instanceof Broken) return;
    expect(outcome).toMatchObject({ isDone: true });
    model.unfinished = undefined;
  }

  toString(): string {
    return `migrate ${this.#from} ${this.#to} ${this.#step}`;
  }
}

class Repair implements Command {
  check({ down }: Model): boolean {
    return down === undefined;
  }

  async run(_: Model, { instance }: Real): Promise<void> {
    expect(await instance.repair()).toMatchObject({ failed: 0, contentsRestored: 0, isDone: true });
  }

  toString(): string {
    return "repair";
  }
}

/** All volumes are up, and what was begun is done: every counter is what it should be, to the last one. */
async function settle(model: Model, real: Real): Promise<void> {
  const { fixture } = real;
  for (const watched of fixture.volumes) watched.isDown = false;
  real.reopen(model);
  if (model.unfinished !== undefined) {
    expect(await real.instance.migrate(...model.unfinished)).toMatchObject({ isDone: true });
  }
  const { instance } = real;
  if (instance.replicas > 1) await instance.repair();
  else expect(fixture.references).toBe([...model.held.values()].reduce((sum, held) => sum + held.references, 0));
  for (const { key, text, references } of model.held.values()) {
    for (let left = references; left > 0; left--) {
      expect(await textAt(instance, key)).toBe(text);
      expect(await instance.delete(key)).toBeDefined();
    }
  }
  // A replica that was being moved when it was cut off may leave a reference behind.
  if (instance.replicas > 1 && Object.keys(model.movedTo).length > 0) return;
  expect(fixture.inner.map(({ blocks }) => [...blocks.keys()])).toEqual([[], [], []]);
}

const volume = fc.nat({ max: 2 });
const basics: fc.Arbitrary<Command>[] = [
  fc
    .tuple(fc.nat({ max: CONTENTS.length - 1 }), fc.constantFrom(...STORE_MODES), fc.option(volume, { nil: undefined }))
    .map((given) => new Store(...given)),
  fc.nat().map((choice) => new Delete(choice)),
  fc.constant(new RetrieveAll()),
  volume.map((number) => new Die(number)),
  fc.constant(new NewClient()),
];

function expectModel(replicas: number, commands: readonly fc.Arbitrary<Command>[], numRuns: number) {
  return fc.assert(
    fc.asyncProperty(fc.commands([...commands], { maxCommands: 60, size: "max" }), async (sequence) => {
      const [model, real] = [new Model(), new Real(replicas)];
      await fc.asyncModelRun(() => ({ model, real }), sequence);
      await settle(model, real);
    }),
    { numRuns },
  );
}

describe("an instance of three volumes, of which one dies", () => {
  const migrations = fc.tuple(volume, volume, fc.nat({ max: 60 })).map((given) => new Migrate(...given));

  it("is a map, with migrations in the middle", async () => {
    await expectModel(1, [...basics, ...basics, migrations], 150);
  });

  it("is a map, with two replicas and repairs in the middle", async () => {
    await expectModel(2, [...basics, fc.constant(new Repair())], 60);
  });

  it("is a map, with two replicas, repairs and migrations", async () => {
    await expectModel(2, [...basics, ...basics, fc.constant(new Repair()), migrations], 60);
  });
});
