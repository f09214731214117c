import { describe, expect, it } from "vitest";
import { allOf, InstanceFixture, textAt } from "../../testing/instance-fixture.ts";
import type { ContentKey } from "../content-key.ts";
import { signatureOf } from "../signature.ts";

const contentOf = (text: string) => Buffer.from(text);

describe("storing many", () => {
  it("is answered in order, each by itself, and takes few requests", async () => {
    const fixture = new InstanceFixture(3);
    const { inner } = fixture;
    const instance = fixture.open();
    await instance.refreshFilters();
    fixture.calls();
    const items = Array.from({ length: 3000 }, (_, i) => ({
      content: contentOf(`content ${i % 1000}`),
      ...(i % 1500 === 7 ? { compression: "rar" } : {}),
    }));
    const answers = await allOf(instance.storeAll(items));
    expect(answers).toHaveLength(3000);
    for (const [i, answer] of answers.entries()) {
      if (i % 1500 === 7) expect(answer).toMatchObject({ error: { code: "HT_CODEC" } });
      else expect(answer).toMatchObject({ stored: { key: { signature: signatureOf("sha256", items[i]!.content) } } });
    }
    const requests = fixture.calls().join(" ").split(" ");
    expect(requests.filter((name) => name === "storeAll")).toHaveLength(3);
    expect(requests.filter((name) => name === "store" || name === "refer")).toEqual([]);
    const blocks = inner.flatMap((volume) => [...volume.blocks.values()]);
    expect(blocks.reduce((sum, { references }) => sum + references, 0)).toBe(2998);
    expect(blocks).toHaveLength(1000);
  });

  it("answers each as soon as it is there, and ends its streams when nobody wants more", async () => {
    const fixture = new InstanceFixture(2);
    const { inner } = fixture;
    const instance = fixture.open();
    const answered: number[] = [];
    let isEnded = false;
    async function* waiting() {
      try {
        for (let i = 0; ; i++) {
          yield { content: contentOf(`content ${i}`) };
          while (answered.length <= i) await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        isEnded = true;
      }
    }
    for await (const answer of instance.storeAll(waiting())) {
      expect(answer).toMatchObject({ stored: { outcome: "new" } });
      answered.push(answered.length);
      if (answered.length === 20) break;
    }
    await expect.poll(() => isEnded).toBe(true);
    expect(inner.reduce((sum, { blocks }) => sum + blocks.size, 0)).toBeGreaterThanOrEqual(20);
  });

  it("takes no more than so much at a time", async () => {
    const fixture = new InstanceFixture(1);
    const { volumes } = fixture;
    const instance = fixture.open();
    await instance.refreshFilters();
    let [given, taken] = [0, 0];
    let mostAhead = 0;
    function* many() {
      for (; given < 5000; given++) {
        mostAhead = Math.max(mostAhead, given - taken);
        yield { content: contentOf(`content ${given}`), compression: "none" };
      }
    }
    for await (const _ of instance.storeAll(many())) taken++;
    expect(taken).toBe(5000);
    expect(mostAhead).toBeLessThanOrEqual(1025);
    expect(volumes[0]!.calls.filter((name) => name === "storeAll")).toHaveLength(1);
  });

  it("goes on with the other volumes when one breaks in the middle", async () => {
    const fixture = new InstanceFixture(3);
    const { volumes } = fixture;
    const instance = fixture.open();
    const items = Array.from({ length: 600 }, (_, i) => ({ content: contentOf(`content ${i}`) }));
    async function* breaking() {
      for (const [i, item] of items.entries()) {
        if (i === 300) volumes[1]!.isDown = true;
        if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
        yield item;
      }
    }
    const answers = await allOf(instance.storeAll(breaking()));
    expect(answers.filter((answer) => "error" in answer)).toEqual([]);
    volumes[1]!.isDown = false;
    for (const [i, answer] of answers.entries()) {
      expect(await textAt(instance, (answer as { stored: { key: ContentKey } }).stored.key)).toBe(`content ${i}`);
    }
  });
});
