import { describe, expect, it } from "vitest";
import { allOf, collidingContents, InstanceFixture, textAt } from "../../testing/instance-fixture.ts";
import { Broken, type Fault } from "../../testing/watched-volume.ts";
import type { ContentKey } from "../content-key.ts";
import type { Instance } from "./instance.ts";

interface Held {
  readonly key: ContentKey;
  readonly text: string;
  readonly references: number;
}

async function fill(instance: Instance, contents: readonly Buffer[]): Promise<Held[]> {
  const held: Held[] = [];
  for (const [i, content] of contents.entries()) {
    let key: ContentKey | undefined;
    for (let n = 0; n <= i % 3; n++) ({ key } = await instance.store(content, { mode: "compare" }));
    held.push({ key: key!, text: content.toString(), references: 1 + (i % 3) });
  }
  return held;
}

const plain = Array.from({ length: 12 }, (_, i) => Buffer.from(`content ${i}`));

/** Every content with its counter, with any one of the volumes away. */
async function expectReplicated(fixture: InstanceFixture, held: readonly Held[], setting = {}): Promise<void> {
  for (const down of [undefined, ...fixture.volumes.keys()]) {
    for (const [i, watched] of fixture.volumes.entries()) watched.isDown = i === down;
    const instance = fixture.open(setting);
    for (const { key, text, references } of held) {
      expect({ down, key, text: await textAt(instance, key) }).toEqual({ down, key, text });
      expect({ down, key, ...(await instance.stat(key)) }).toMatchObject({ references });
    }
  }
  for (const watched of fixture.volumes) watched.isDown = false;
}

async function expectEmptied(fixture: InstanceFixture, held: readonly Held[], setting = {}): Promise<void> {
  const instance = fixture.open(setting);
  for (const { key, references } of held) {
    for (let i = 0; i < references; i++) expect(await instance.delete(key)).toBeDefined();
  }
  expect(fixture.inner.map(({ blocks }) => blocks.size)).toEqual(fixture.inner.map(() => 0));
}

/** What is behind a volume is lost, and an empty one takes its place. */
function lose(fixture: InstanceFixture, number: number): void {
  fixture.volumes[number]!.inner = fixture.newVolume(number);
}

describe("repairing", () => {
  it("has nothing to do where all is well", async () => {
    const fixture = new InstanceFixture(3, { replicas: 2 });
    const instance = fixture.open();
    await fill(instance, plain);
    const nothing = { replicasMade: 0, replicasDropped: 0, contentsRestored: 0, countersSet: 0, failed: 0 };
    expect(await instance.repair()).toEqual({ ...nothing, contents: 12, unreachable: [], isDone: true });
  });

  it.each([0, 1, 2])("restores contents, counters and replicas where volume %i lost all it had", async (lost) => {
    const fixture = new InstanceFixture(3, { replicas: 2 });
    const held = await fill(fixture.open(), plain);
    lose(fixture, lost);
    const instance = fixture.open();
    for (const { key, text } of held) expect(await textAt(instance, key)).toBe(text);
    const result = await instance.repair();
    expect(result).toMatchObject({ failed: 0, isDone: true });
    expect(result.contentsRestored).toBeGreaterThan(0);
    expect(result.replicasMade).toBeGreaterThan(0);
    await expectReplicated(fixture, held);
    expect(await instance.repair()).toMatchObject({ contentsRestored: 0, replicasMade: 0, countersSet: 0 });
    await expectEmptied(fixture, held);
  });

  it("does so with colliding signatures too, each content under its own key, in another volume", async () => {
    const fixture = new InstanceFixture(4, { replicas: 2, signature: "weak8" });
    const held = await fill(fixture.open(), collidingContents(4, 4));
    const lost = held[0]!.key.volume;
    lose(fixture, lost);
    // With its old number it would give its keys to other contents.
    expect(await fixture.open().repair()).toMatchObject({ failed: 8, contentsRestored: 0 });
    const setting = { gone: [lost], movedTo: { [lost]: (lost + 2) % 4 } };
    expect(await fixture.open(setting).repair()).toMatchObject({ failed: 0, contentsRestored: 8, isDone: true });
    const instance = fixture.open(setting);
    for (const { key, text, references } of held) {
      expect(await textAt(instance, key)).toBe(text);
      expect(await instance.stat(key)).toMatchObject({ references });
    }
    await expectEmptied(fixture, held, setting);
  });

  it("holds the number where a volume does not answer, and gives back what is too much when it does", async () => {
    const fixture = new InstanceFixture(4, { replicas: 2 });
    const held = await fill(fixture.open(), plain);
    fixture.volumes[1]!.isDown = true;
    const during = await fixture.open().repair();
    expect(during).toMatchObject({ unreachable: ["volume-1"], failed: 0 });
    expect(during.replicasMade).toBeGreaterThan(0);
    // Now another one may go, and still everything is there.
    for (const down of [0, 2, 3]) {
      fixture.volumes[down]!.isDown = true;
      const instance = fixture.open();
      for (const { key, text } of held) expect(await textAt(instance, key)).toBe(text);
      fixture.volumes[down]!.isDown = false;
    }
    fixture.volumes[1]!.isDown = false;
    const after = await fixture.open().repair();
    expect(after).toMatchObject({ replicasMade: 0, contentsRestored: 0, failed: 0 });
    expect(after.replicasDropped).toBeGreaterThan(0);
    await expectReplicated(fixture, held);
    await expectEmptied(fixture, held);
  });

  it("finds another place for what was in a volume that is not in the connector any more", async () => {
    const fixture = new InstanceFixture(4, { replicas: 2 });
    const held = await fill(fixture.open(), plain);
    const setting = { gone: [0], movedTo: { 0: 1 } };
    lose(fixture, 0);
    expect(await fixture.open(setting).repair()).toMatchObject({ failed: 0, isDone: true });
    const second = await fixture.open(setting).repair();
    expect(second).toMatchObject({ contentsRestored: 0, failed: 0 });
    for (const down of [1, 2, 3]) {
      fixture.volumes[down]!.isDown = true;
      const instance = fixture.open(setting);
      for (const { key, text } of held) expect(await textAt(instance, key)).toBe(text);
      fixture.volumes[down]!.isDown = false;
    }
  });

  it("sets counters right that a volume missed while it was away", async () => {
    const fixture = new InstanceFixture(2, { replicas: 2 });
    const instance = fixture.open();
    const held = await fill(instance, plain);
    fixture.volumes[1]!.isDown = true;
    const later: Held[] = [];
    for (const one of held) {
      // Those of the other volume cannot be counted there now: they get a key here.
      const { key } = await instance.store(Buffer.from(one.text), { mode: "compare" });
      if (key.volume === one.key.volume) later.push({ ...one, references: one.references + 1 });
      else later.push(one, { key, text: one.text, references: 1 });
    }
    fixture.volumes[1]!.isDown = false;
    expect(await fixture.open().repair()).toMatchObject({ failed: 0, contentsRestored: 0 });
    await expectReplicated(fixture, later);
    await expectEmptied(fixture, later);
  });

  it("takes replicas away where the instance asks for none any more", async () => {
    const fixture = new InstanceFixture(3, { replicas: 2 });
    const held = await fill(fixture.open(), plain);
    const single = fixture.open({ replicas: 1 });
    expect(await single.repair()).toMatchObject({ replicasDropped: 12, failed: 0 });
    expect(fixture.references).toBe(held.reduce((sum, { references }) => sum + references, 0));
    await expectEmptied(fixture, held, { replicas: 1 });
  });

  it("makes replicas where the instance did not ask for any before", async () => {
    const fixture = new InstanceFixture(3, { replicas: 2 });
    const held = await fill(fixture.open({ replicas: 1 }), plain);
    expect(await fixture.open().repair()).toMatchObject({ replicasMade: 12, failed: 0 });
    await expectReplicated(fixture, held);
    await expectEmptied(fixture, held);
  });

  it("goes on after a crash at any step, before it or after it, and loses nothing by it", async () => {
    const contents = [Buffer.from("one"), Buffer.from("two")];
    for (const when of ["before", "after"] as const) {
      for (let step = 0; ; step += 1) {
        const fixture = new InstanceFixture(3, { replicas: 2 });
        const held = await fill(fixture.open(), contents);
        const lost = held[0]!.key.volume;
        lose(fixture, lost);
        let count = 0;
        const faultAt = (): Fault | undefined => (count++ === step ? when : undefined);
        for (const watched of fixture.volumes) watched.faultAt = faultAt;
        const outcome = await fixture
          .open()
          .repair()
          .catch((error: unknown) => error);
        for (const watched of fixture.volumes) watched.faultAt = () => undefined;
        if (!(outcome instanceof Broken)) {
          expect(step).toBeGreaterThan(20);
          break;
        }
        for (const { key, text } of held) expect(await textAt(fixture.open(), key)).toBe(text);
        await fixture.open().repair();
        expect(await fixture.open().repair()).toMatchObject({ failed: 0, contentsRestored: 0 });
        await expectReplicated(fixture, held);
      }
    }
  });

  it("finds a content that was being deleted whole or gone, and at most a reference too many", async () => {
    for (let step = 0; ; step++) {
      const fixture = new InstanceFixture(3, { replicas: 2 });
      const [one] = await fill(fixture.open(), [Buffer.from("one")]);
      let count = 0;
      const faultAt = (): Fault | undefined => (count++ === step ? "after" : undefined);
      for (const watched of fixture.volumes) watched.faultAt = faultAt;
      const outcome = await fixture
        .open()
        .delete(one!.key)
        .catch((error: unknown) => error);
      for (const watched of fixture.volumes) watched.faultAt = () => undefined;
      const instance = fixture.open();
      await instance.repair();
      if ((await instance.stat(one!.key)) !== undefined) {
        await expectReplicated(fixture, [one!]);
        await instance.delete(one!.key);
      }
      expect(await instance.stat(one!.key)).toBeUndefined();
      const left = await allOf(instance.list());
      expect(left.length).toBeLessThanOrEqual(1);
      if (!(outcome instanceof Broken)) {
        expect(left).toEqual([]);
        break;
      }
    }
  });

  it("tells of what it cannot do, and does the rest", async () => {
    const fixture = new InstanceFixture(3, { replicas: 2 });
    const held = await fill(fixture.open({ replicas: 1 }), plain);
    const [block] = fixture.inner[held[0]!.key.volume]!.blocks.values();
    block!.data = Buffer.from("damaged");
    const failures: ContentKey[] = [];
    const result = await fixture.open().repair({ onFailure: (key) => failures.push(key) });
    expect(result).toMatchObject({ replicasMade: 11, failed: failures.length });
    expect(failures.length).toBeGreaterThan(0);
  });

  it("stops when it is told to", async () => {
    const fixture = new InstanceFixture(3, { replicas: 2 });
    await fill(fixture.open({ replicas: 1 }), plain);
    const stop = new AbortController();
    const result = await fixture.open().repair({ onProgress: () => stop.abort(), signal: stop.signal });
    expect(result.isDone).toBe(false);
    expect(result.replicasMade).toBeLessThan(12);
    expect(await fixture.open().repair()).toMatchObject({ isDone: true, failed: 0 });
  });
});

describe("migrating an instance with replicas", () => {
  it.each([
    [0, 1],
    [0, 2],
    [1, 0],
    [2, 0],
  ])("from %i to %i loses nothing, and repair makes up the number", async (from, to) => {
    const fixture = new InstanceFixture(3, { replicas: 2, signature: "weak8" });
    const held = await fill(fixture.open(), [...collidingContents(4, 2), ...plain]);
    fixture.inner[from]!.state = "read-only";
    const setting = { movedTo: { [from]: to } };
    expect(await fixture.open().migrate(from, to)).toMatchObject({ failed: 0, isDone: true });
    expect(fixture.inner[from]!.blocks.size).toBe(0);
    const instance = fixture.open(setting);
    for (const { key, text } of held) expect(await textAt(instance, key)).toBe(text);
    expect(await instance.repair()).toMatchObject({ failed: 0, isDone: true, contentsRestored: 0 });
    for (const down of [0, 1, 2].filter((number) => number !== from)) {
      fixture.volumes[down]!.isDown = true;
      const client = fixture.open(setting);
      for (const { key, text } of held) {
        const found = await textAt(client, key).catch(({ code }: { code: string }) => code);
        expect({ down, key, found }).toEqual({ down, key, found: text });
      }
      fixture.volumes[down]!.isDown = false;
    }
    const contents = await allOf(fixture.open(setting).list());
    const references = contents.reduce((sum, content) => sum + content.references, 0);
    expect(references).toBe(held.reduce((sum, one) => sum + one.references, 0));
  });
});
