import { describe, expect, it } from "vitest";
import {
  allOf,
  collidingContents,
  contentFor,
  InstanceFixture,
  repeatable,
  textAt,
} from "../../testing/instance-fixture.ts";
import { type ContentKey, formatContentKey } from "../content-key.ts";
import { STORE_MODES } from "../volume.ts";

function setUp(setting = {}) {
  const fixture = new InstanceFixture(3, { replicas: 2, ...setting });
  return { fixture, instance: fixture.open() };
}

const sizes = (fixture: InstanceFixture) => fixture.inner.map(({ blocks }) => blocks.size);

describe("an instance with two replicas", () => {
  it("stores on two volumes, and counts on both", async () => {
    const { fixture, instance } = setUp();
    const content = contentFor(1, 3);
    const { key, copies } = await instance.store(content);
    expect({ volume: key.volume, copies }).toEqual({ volume: 1, copies: 2 });
    expect(await instance.store(content)).toMatchObject({ key, copies: 2, references: 2 });
    // The content, and in the second volume the tally beside it.
    expect(sizes(fixture)).toEqual([0, 1, 2]);
    expect(await instance.stat(key)).toMatchObject({ references: 2, volume: 1 });
    expect(await allOf(instance.list())).toMatchObject([{ key, references: 2 }]);
    for (const down of [1, 2]) {
      fixture.volumes[down]!.isDown = true;
      expect(await textAt(instance, key)).toBe(content.toString());
      expect(await instance.stat(key)).toMatchObject({ references: 2 });
      fixture.volumes[down]!.isDown = false;
      fixture.nowMs += 10_000;
    }
  });

  it("reads from the other where bytes were changed, one by one and in bulk", async () => {
    const { fixture, instance } = setUp();
    const content = contentFor(0, 3);
    const { key } = await instance.store(content, { compression: "none" });
    for (const block of fixture.inner[0]!.blocks.values()) block.data = Buffer.from("damaged");
    expect(await textAt(instance, key)).toBe(content.toString());
    const [answer] = await allOf(instance.retrieveAll([key]));
    expect(answer!.retrieved!.content).toEqual(content);
  });

  it.each(STORE_MODES)("gives every content, and loses no counter, with colliding signatures: %s", async (mode) => {
    const { fixture, instance } = setUp({ signature: "weak8" });
    const contents = collidingContents(6, 6);
    const keys: { key: ContentKey; content: Buffer }[] = [];
    for (let round = 0; round < 3; round++) {
      for (const content of contents) keys.push({ key: (await instance.store(content, { mode })).key, content });
    }
    // Where sizes decide, the first of its size stands for all of them.
    const expected = (content: Buffer) =>
      (mode === "regular" ? contents.find(({ length }) => length === content.length)! : content).toString();
    for (const down of [undefined, 0, 1, 2]) {
      fixture.nowMs += 10_000;
      for (const [i, watched] of fixture.volumes.entries()) watched.isDown = i === down;
      for (const { key, content } of keys) expect(await textAt(instance, key)).toBe(expected(content));
    }
    for (const watched of fixture.volumes) watched.isDown = false;
    expect((await allOf(instance.list())).reduce((sum, { references }) => sum + references, 0)).toBe(36);
    for (const { key, content } of keys) {
      expect(await textAt(instance, key)).toBe(expected(content));
      expect(await instance.delete(key)).toBeDefined();
    }
    expect(sizes(fixture)).toEqual([0, 0, 0]);
  });

  it("keeps a content that two volumes have for themselves apart from their replicas", async () => {
    const { fixture, instance } = setUp();
    const content = contentFor(0, 3);
    const one = await instance.store(content, { volume: 0 });
    const two = await instance.store(content, { volume: 1 });
    await instance.store(content, { volume: 1 });
    expect(await instance.stat(one.key)).toMatchObject({ references: 1 });
    expect(await instance.stat(two.key)).toMatchObject({ references: 2 });
    expect(await instance.delete(one.key)).toMatchObject({ references: 0 });
    // There is still a block at its address, which is a replica of the other.
    expect(await instance.stat(one.key)).toBeUndefined();
    expect(await instance.delete(one.key)).toBeUndefined();
    expect(await instance.delete(two.key)).toMatchObject({ references: 1 });
    expect(await instance.delete(two.key)).toMatchObject({ references: 0 });
    expect(sizes(fixture)).toEqual([0, 0, 0]);
  });

  it("counts exactly when many clients store one content at once", async () => {
    const { fixture } = setUp();
    const content = contentFor(2, 3);
    const results = await Promise.all(Array.from({ length: 30 }, () => fixture.open().store(content)));
    const instance = fixture.open();
    const { key } = results[0]!;
    expect(await instance.stat(key)).toMatchObject({ references: 30 });
    fixture.volumes[2]!.isDown = true;
    expect(await fixture.open().stat(key)).toMatchObject({ references: 30 });
    fixture.volumes[2]!.isDown = false;
    for (let i = 0; i < 30; i++) await instance.delete(key);
    expect(sizes(fixture)).toEqual([0, 0, 0]);
  });

  it("goes on with a volume that does not answer, and says what it could not do", async () => {
    const { fixture, instance } = setUp();
    const content = contentFor(0, 3);
    fixture.volumes[1]!.isDown = true;
    const { key, copies } = await instance.store(content);
    expect(copies).toBe(2);
    expect(sizes(fixture)).toEqual([1, 0, 2]);
    fixture.volumes[2]!.isDown = true;
    expect(await instance.store(contentFor(0, 3, "another"))).toMatchObject({ copies: 1 });
    expect(fixture.warnings.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^no replica of 0-/));
    // The last reference stays as long as a replica may be where nobody looks.
    await expect(instance.delete(key)).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    expect(await textAt(instance, key)).toBe(content.toString());
    for (const watched of fixture.volumes) watched.isDown = false;
    fixture.nowMs += 10_000;
    expect(await instance.delete(key)).toMatchObject({ references: 0 });
    expect(sizes(fixture)).toEqual([1, 0, 0]);
  });

  it("cannot take back a reference while the volume with its counter is away", async () => {
    const { fixture, instance } = setUp();
    const { key } = await instance.store(contentFor(0, 3));
    fixture.volumes[0]!.isDown = true;
    await expect(instance.delete(key)).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    await expect(instance.retrieve({ ...key, overflow: 5 })).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    fixture.volumes[0]!.isDown = false;
    expect(await instance.stat(key)).toMatchObject({ references: 1 });
  });

  it("does so for streams and in bulk", async () => {
    const { fixture, instance } = setUp();
    const pieces = Array.from({ length: 300 }, (_, i) => Buffer.alloc(10_000, i));
    const stream = repeatable(() => pieces);
    const { key } = await instance.store(stream, { compression: "gzip" });
    await instance.store(stream);
    fixture.volumes[key.volume]!.isDown = true;
    expect(await textAt(instance, key)).toBe(Buffer.concat(pieces).toString());
    fixture.volumes[key.volume]!.isDown = false;
    const items = Array.from({ length: 300 }, (_, i) => ({ content: Buffer.from(`content ${i % 200}`) }));
    const answers = await allOf(instance.storeAll(items));
    const keys = answers.map((answer) => ("stored" in answer ? answer.stored.key : undefined));
    for (const each of [key, key, ...keys]) expect(await instance.delete(each!)).toBeDefined();
    expect(sizes(fixture)).toEqual([0, 0, 0]);
  });

  it("counts once what is said again with its request id, also where only the answer was lost", async () => {
    const content = contentFor(0, 3);
    const steps = async (step: number) => {
      const { fixture } = setUp();
      let count = 0;
      for (const watched of fixture.volumes) watched.faultAt = () => (count++ === step ? "after" : undefined);
      const first = await fixture
        .open()
        .store(content, { requestId: "once" })
        .catch(() => undefined);
      for (const watched of fixture.volumes) watched.faultAt = () => undefined;
      const instance = fixture.open();
      const { key } = await instance.store(content, { requestId: "once" });
      expect(await instance.stat(key)).toMatchObject({ references: 1 });
      expect(await instance.delete(key)).toMatchObject({ references: 0 });
      expect({ step, sizes: sizes(fixture), key: formatContentKey(key) }).toMatchObject({ sizes: [0, 0, 0] });
      return first === undefined;
    };
    let step = 0;
    while (await steps(step)) step++;
    expect(step).toBeGreaterThan(5);
  });
});
