import { describe, expect, it } from "vitest";
import { allOf, collidingContents, InstanceFixture, textAt } from "../../testing/instance-fixture.ts";
import { Broken, type Fault } from "../../testing/watched-volume.ts";
import { type ContentKey, formatContentKey } from "../content-key.ts";
import type { SignatureAlgorithm } from "../signature.ts";

interface Held {
  readonly key: ContentKey;
  readonly text: string;
  readonly references: number;
}

/** Three volumes; the first has some blocks, the second some of the same contents. */
async function setUp(contents = collidingContents(5, 5), signature: SignatureAlgorithm = "weak8") {
  const fixture = new InstanceFixture(3, { signature });
  const instance = fixture.open();
  const held = new Map<string, Held>();
  const store = async (content: Buffer, volume: number) => {
    const { key } = await instance.store(content, { volume, mode: "compare" });
    const name = formatContentKey(key);
    const references = (held.get(name)?.references ?? 0) + 1;
    held.set(name, { key, text: content.toString(), references });
  };
  for (const [i, content] of contents.entries()) {
    for (let n = 0; n <= i % 3; n++) await store(content, 0);
    if (i % 2 === 0) await store(content, 1);
  }
  fixture.inner[0]!.state = "read-only";
  return { fixture, instance, held: [...held.values()] };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

/** Every key gives its content, and every reference that was given out is counted, once. */
async function expectWhole({ fixture, held }: SetUp, setting = {}): Promise<void> {
  const instance = fixture.open(setting);
  for (const { key, text } of held) expect(await textAt(instance, key)).toBe(text);
  expect(fixture.references).toBe(held.reduce((sum, { references }) => sum + references, 0));
}

/** Taking back every reference empties the instance: no counter is too high, and none too low. */
async function expectEmptied({ fixture, held }: SetUp): Promise<void> {
  const instance = fixture.open();
  for (const { key, text, references } of held) {
    for (let left = references; left > 0; left--) {
      expect(await textAt(instance, key)).toBe(text);
      expect(await instance.delete(key)).toBeDefined();
    }
  }
  expect(fixture.inner.map(({ blocks }) => blocks.size)).toEqual([0, 0, 0]);
}

describe("migrating", () => {
  it("moves all blocks with their counters, and the keys that were given out keep working", async () => {
    const set = await setUp();
    const told: number[] = [];
    const result = await set.instance.migrate(0, 1, { onProgress: ({ blocks }) => told.push(blocks) });
    expect(result).toEqual({ blocks: 10, bytes: expect.any(Number) as number, failed: 0, isDone: true });
    expect(told).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(set.fixture.inner[0]!.blocks.size).toBe(0);
    expect(set.fixture.inner[1]!.blocks.size).toBe(10);
    await expectWhole(set);
    await expectWhole(set, { movedTo: { 0: 1 } });
    await expectWhole(set, { movedTo: { 0: 1 }, gone: [0] });
    expect(await set.instance.migrate(0, 1)).toMatchObject({ blocks: 0, isDone: true });
    await expectEmptied(set);
  });

  it("asks the volume that the connector says it moved to, and no other", async () => {
    const { fixture, instance, held } = await setUp();
    await instance.migrate(0, 2);
    const client = fixture.open({ movedTo: { 0: 2 } });
    const { key, text } = held.find(({ key: { volume } }) => volume === 0)!;
    await textAt(client, key);
    fixture.calls();
    expect(await textAt(client, key)).toBe(text);
    expect(fixture.calls()).toEqual(["open", "", "follow open"]);
    fixture.volumes[2]!.isDown = true;
    await expect(textAt(client, key)).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
  });

  it.each([
    {
      signature: "weak8",
      route: [
        [0, 2],
        [2, 1],
      ],
    },
    // Back to where it came from: with signatures that collide, a volume would give its old keys to other contents.
    {
      signature: "sha256",
      route: [
        [0, 2],
        [2, 0],
        [0, 2],
        [2, 1],
        [1, 0],
      ],
    },
  ] as const)(
    "can be done again and again, and former keys move on: $signature, $route",
    async ({ signature, route }) => {
      const set = await setUp(collidingContents(5, 5), signature);
      for (const [from, to] of route) {
        for (const [i, volume] of set.fixture.inner.entries()) volume.state = i === from ? "read-only" : "writable";
        expect(await set.fixture.open().migrate(from, to)).toMatchObject({ failed: 0, isDone: true });
        expect(set.fixture.inner[from]!.blocks.size).toBe(0);
        await expectWhole(set);
      }
      await expectEmptied(set);
    },
  );

  it("goes on after a crash at any step, before it or after it", async () => {
    const contents = collidingContents(2, 1);
    let steps = 0;
    for (const when of ["before", "after"] as const) {
      for (let step = 0; ; step++) {
        const set = await setUp(contents);
        let count = 0;
        const faultAt = (): Fault | undefined => (count++ === step ? when : undefined);
        for (const watched of set.fixture.volumes) watched.faultAt = faultAt;
        const outcome = await set.instance.migrate(0, 1).catch((error: unknown) => error);
        for (const watched of set.fixture.volumes) watched.faultAt = () => undefined;
        // Nothing is lost while it is cut off either.
        for (const { key, text } of set.held) expect(await textAt(set.fixture.open(), key)).toBe(text);
        if (!(outcome instanceof Broken)) {
          expect(outcome).toMatchObject({ isDone: true });
          steps += step;
          break;
        }
        expect(await set.fixture.open().migrate(0, 1)).toMatchObject({ failed: 0, isDone: true });
        await expectWhole(set);
        await expectEmptied(set);
      }
    }
    // Three blocks, each in more than three steps, before and after.
    expect(steps).toBeGreaterThan(2 * 3 * 3);
  });

  it("counts once where it is run twice at the same time", async () => {
    const set = await setUp();
    await Promise.all([set.instance.migrate(0, 1), set.fixture.open().migrate(0, 1)]);
    await expectWhole(set);
    await expectEmptied(set);
  });

  it("goes on while the instance is in use", async () => {
    const set = await setUp(collidingContents(40, 40));
    const before = set.held.filter(({ key }) => key.volume === 0);
    const client = set.fixture.open();
    const working = (async () => {
      for (const [i, { key, text }] of before.entries()) {
        expect(await textAt(client, key)).toBe(text);
        if (i % 2 === 0) {
          // A reference more, wherever it is found by then, and one less.
          const { key: other } = await client.store(Buffer.from(text), { mode: "compare" });
          await client.delete(key);
          expect(await textAt(client, other)).toBe(text);
          before[i] = { ...before[i]!, key: other };
        }
      }
    })();
    await Promise.all([set.instance.migrate(0, 1), working]);
    expect(set.fixture.inner[0]!.blocks.size).toBe(0);
    for (const { key, text } of before) expect(await textAt(client, key)).toBe(text);
    expect(set.fixture.references).toBe(set.held.reduce((sum, { references }) => sum + references, 0));
  });

  it("makes a delete wait, and go to where the block is then", async () => {
    const { fixture, instance, held } = await setUp();
    const [{ key, references }] = held as [Held];
    await fixture.inner[0]!.leave(key);
    await expect(instance.delete(key)).rejects.toMatchObject({ code: "HT_MOVING" });
    expect(fixture.nowMs).toBeGreaterThan(5000);
    await instance.migrate(0, 2);
    expect(await instance.delete(key)).toMatchObject({ references: references - 1, volume: 2 });
  });

  it("leaves a damaged block where it is, and moves the others", async () => {
    const { fixture, instance } = await setUp();
    const block = [...fixture.inner[0]!.blocks.values()][3]!;
    block.data = Buffer.from("not what it was at all");
    const failures: string[] = [];
    const onFailure = (address: { overflow: number }, { code }: { code: string }) => {
      failures.push(`${address.overflow} ${code}`);
    };
    const result = await instance.migrate(0, 1, { onFailure });
    expect(result).toMatchObject({ blocks: 9, failed: 1, isDone: false });
    expect(failures).toEqual([`${block.overflow} HT_SIGNATURE`]);
    expect([...fixture.inner[0]!.blocks.values()]).toEqual([block]);
  });

  it("stops when it is told to, with nothing half done", async () => {
    const set = await setUp(collidingContents(30, 0));
    const stop = new AbortController();
    const onProgress = ({ blocks }: { blocks: number }) => {
      if (blocks === 5) stop.abort();
    };
    const result = await set.instance.migrate(0, 1, { onProgress, signal: stop.signal });
    expect(result.isDone).toBe(false);
    expect(result.blocks).toBeLessThan(20);
    await expectWhole(set);
    const leaving = [...set.fixture.inner[0]!.blocks.values()].filter((block) => block.leaving);
    expect(leaving).toEqual([]);
    expect(await set.instance.migrate(0, 1)).toMatchObject({ isDone: true });
    await expectWhole(set);
  });

  it("takes its own replica out of the target, and not another block with the same bytes", async () => {
    const fixture = new InstanceFixture(3, { signature: "weak8", replicas: 2 });
    const instance = fixture.open();
    const [first, second] = collidingContents(1, 1);
    // In the target, the replica of the block that will move gets the second place of its signature …
    const other = await instance.store(first!, { volume: 1, mode: "force-new" });
    const moved = await instance.store(second!, { volume: 0, mode: "compare" });
    // … and the same bytes, for themselves, the first.
    await instance.delete(other.key);
    const twin = await instance.store(second!, { volume: 1, mode: "force-new" });
    fixture.inner[0]!.state = "read-only";
    const after = fixture.open({ states: ["read-only", "writable", "writable"], movedTo: { 0: 1 } });
    expect(await after.migrate(0, 1)).toMatchObject({ isDone: true });
    expect(await after.delete(moved.key)).toBeDefined();
    expect(await textAt(after, twin.key)).toBe(second!.toString());
  });

  it.each([1, 2])("to volume %i lets what it moved be deleted, before the connector tells of the move", async (to) => {
    const fixture = new InstanceFixture(3, { replicas: 2 });
    const instance = fixture.open();
    const keys: ContentKey[] = [];
    for (let i = 0; i < 9; i++) {
      const { key } = await instance.store(Buffer.from(`content ${i}`));
      await instance.store(Buffer.from(`content ${i}`));
      keys.push(key);
    }
    fixture.inner[0]!.state = "read-only";
    await instance.migrate(0, to);
    const client = fixture.open();
    for (const [i, key] of keys.entries()) {
      for (const references of [1, 0]) {
        expect(await textAt(client, key)).toBe(`content ${i}`);
        expect(await client.delete(key, { requestId: `${i}-${references}` })).toMatchObject({ references });
      }
      expect(await client.stat(key)).toBeUndefined();
      expect(await textAt(client, key)).toBeUndefined();
    }
    expect(fixture.inner.map(({ blocks }) => blocks.size)).toEqual([0, 0, 0]);
  });

  it("leaves the replica where it is, if the block is damaged that should take its place", async () => {
    const fixture = new InstanceFixture(2, { signature: "sha256", replicas: 2 });
    const { key } = await fixture.open().store(Buffer.from("kept twice"), { volume: 0 });
    const [block] = fixture.inner[0]!.blocks.values();
    block!.data = Buffer.from("kept twicf");
    fixture.inner[0]!.state = "read-only";
    const instance = fixture.open({ states: ["read-only", "writable"], movedTo: { 0: 1 } });
    expect(await instance.migrate(0, 1)).toMatchObject({ failed: 1, isDone: false });
    expect([...fixture.inner[1]!.blocks.values()].some(({ data }) => String(data) === "kept twice")).toBe(true);
    expect(key.volume).toBe(0);
  });

  it("refuses what cannot be", async () => {
    const { fixture, instance } = await setUp();
    await expect(instance.migrate(0, 0)).rejects.toMatchObject({ code: "HT_USAGE" });
    await expect(instance.migrate(0, 3)).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
    await expect(instance.migrate(1, 2)).rejects.toMatchObject({ code: "HT_USAGE" });
    const other = fixture.open({ states: ["writable", "read-only"] });
    await expect(other.migrate(0, 1)).rejects.toMatchObject({ code: "HT_READ_ONLY" });
    fixture.volumes[1]!.isDown = true;
    await expect(instance.migrate(0, 1)).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    const blocks = await allOf(fixture.inner[0]!.list());
    expect(blocks).toHaveLength(10);
    expect([...fixture.inner[0]!.blocks.values()].some(({ leaving }) => leaving)).toBe(false);
  });
});
