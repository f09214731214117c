/** Of the suite of volumes: a request said again is not carried out again. */
import { expect, it } from "vitest";
import { contentOf, mixedBytes, retrieve, storing } from "./volume-contents.ts";
import type { Use } from "./volume-suite.ts";

const page = contentOf("sha256", "a label that somebody wrote");
const large = contentOf("sha256", mixedBytes(1_300_000));

export function describeRequests(use: Use): void {
  /** Says it three times, the last time after the volume was opened again, where it can be. */
  async function sayAgain<T>(say: () => Promise<T>): Promise<T> {
    const fixture = use();
    const answer = await say();
    expect(await say()).toEqual(answer);
    await fixture.reopen?.();
    expect(await say()).toEqual(answer);
    return answer;
  }
  const references = async () => (await use().volume.find([page.signature]))[0]!.map((block) => block.references);

  it("when it made a block", async () => {
    const say = () => use().volume.store(storing(page, { requestId: "one", compression: "zlib" }));
    expect(await sayAgain(say)).toMatchObject({ outcome: "new", references: 1 });
    expect(await references()).toEqual([1]);
  });

  it("when it made a large block from pieces", async () => {
    const say = () => use().volume.store(storing(large, { requestId: "one", pieceSize: 100_000 }));
    expect(await sayAgain(say)).toMatchObject({ outcome: "new", references: 1 });
    expect(await use().volume.describe()).toMatchObject({ blocks: 1, references: 1 });
  });

  it("when it made one block more", async () => {
    await use().volume.store(storing(page));
    const say = () => use().volume.store(storing(page, { requestId: "one", mode: "force-new" }));
    expect(await sayAgain(say)).toMatchObject({ outcome: "new", overflow: 1 });
    expect(await references()).toEqual([1, 1]);
  });

  it("when it counted", async () => {
    await use().volume.store(storing(page, { requestId: "zero" }));
    const store = () => use().volume.store(storing(page, { requestId: "one" }));
    expect(await sayAgain(store)).toMatchObject({ outcome: "duplicate", references: 2 });
    const refer = () => use().volume.refer({ ...page, requestId: "two" });
    expect(await sayAgain(refer)).toMatchObject({ outcome: "duplicate", references: 3 });
    expect(await references()).toEqual([3]);
    // An answer is as it was, whatever happened since.
    expect(await store()).toMatchObject({ outcome: "duplicate", references: 2 });
  });

  it("when it took back a reference", async () => {
    await use().volume.store(storing(page));
    await use().volume.refer(page);
    const say = () => use().volume.remove({ ...page, overflow: 0 }, "one");
    expect(await sayAgain(say)).toMatchObject({ references: 1 });
    expect(await references()).toEqual([1]);
  });

  it("when it took back the last one, also when the content came again", async () => {
    await use().volume.store(storing(page));
    const say = () => use().volume.remove({ ...page, overflow: 0 }, "one");
    expect(await sayAgain(say)).toMatchObject({ references: 0 });
    await use().volume.store(storing(page, { compression: "gzip" }));
    expect(await say()).toMatchObject({ references: 0, compression: "none" });
    expect(await references()).toEqual([1]);
    expect(await retrieve(use().volume, { ...page, overflow: 0 })).toEqual(page.bytes);
  });

  it("when the block that it made is gone", async () => {
    const say = () => use().volume.store(storing(page, { requestId: "one" }));
    const answer = await say();
    await use().volume.remove(answer);
    expect(await sayAgain(say)).toEqual(answer);
    expect(await references()).toEqual([]);
  });

  it("when it took in a block from elsewhere", async () => {
    const adopted = { ...page, overflow: 3, storedSize: page.size, compression: "none", references: 5 };
    const formerKeys = [`2-${page.signature}-3`];
    const say = () => use().volume.adopt({ ...adopted, data: page.bytes, formerKeys, requestId: "one" });
    expect(await sayAgain(say)).toMatchObject({ outcome: "new", overflow: 0, references: 5 });
    expect(await references()).toEqual([5]);
  });

  it("but it is carried out when it was refused before, or found nothing", async () => {
    const { volume } = use();
    const wrong = { ...storing(page, { requestId: "one" }), size: 3 };
    await expect(volume.store(wrong)).rejects.toMatchObject({ code: "HT_SIGNATURE" });
    expect(await volume.refer({ ...page, requestId: "one" })).toBeUndefined();
    expect(await volume.remove({ ...page, overflow: 0 }, "one")).toBeUndefined();
    expect(await volume.store(storing(page, { requestId: "one" }))).toMatchObject({ outcome: "new" });
    expect(await volume.refer({ ...page, requestId: "one" })).toMatchObject({ outcome: "new", references: 1 });
    expect(await references()).toEqual([1]);
  });

  it("but it is refused for another content or operation", async () => {
    const { volume } = use();
    const refused = { code: "HT_USAGE" };
    const address = await volume.store(storing(page, { requestId: "one" }));
    const other = contentOf("sha256", "another label");
    const adopted = { ...page, overflow: 0, storedSize: page.size, compression: "none", references: 1 };
    const formerKeys = [`2-${page.signature}`];
    const isRefused = async () => {
      const { volume: now } = use();
      await expect(now.store(storing(other, { requestId: "one" }))).rejects.toMatchObject(refused);
      await expect(now.refer({ ...other, requestId: "one" })).rejects.toMatchObject(refused);
      await expect(now.remove(address, "one")).rejects.toMatchObject(refused);
      const adopt = now.adopt({ ...adopted, data: page.bytes, formerKeys, requestId: "one" });
      await expect(adopt).rejects.toMatchObject(refused);
      await expect(now.store(storing(page, { requestId: "two" }))).rejects.toMatchObject(refused);
      await expect(now.remove({ ...address, overflow: 1 }, "two")).rejects.toMatchObject(refused);
    };
    await volume.refer(page);
    await volume.remove(address, "two");
    await isRefused();
    await use().reopen?.();
    await isRefused();
    expect(await references()).toEqual([1]);
    expect(await use().volume.find([other.signature])).toEqual([[]]);
  });

  it("also while it is being carried out", async () => {
    const { volume } = use();
    const say = () => volume.store(storing(page, { requestId: "one" }));
    const answers = await Promise.all([say(), say(), say()]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await references()).toEqual([1]);
    await Promise.all([1, 2, 3].map(() => volume.refer({ ...page, requestId: "two" })));
    expect(await references()).toEqual([2]);
    await Promise.all([1, 2, 3].map(() => volume.remove({ ...page, overflow: 0 }, "three")));
    expect(await references()).toEqual([1]);
  });

  it("whatever its id looks like", async () => {
    const { volume } = use();
    await volume.store(storing(page));
    const ids = ["-", "0", "x".repeat(128), "de7c7a3c-9a3c-4f6e-8d55-0b7d6d5b7f10", "a,b;c=d\"'%20\\", "~!"];
    for (const [i, requestId] of ids.entries()) {
      const say = () => use().volume.refer({ ...page, requestId });
      expect(await sayAgain(say), requestId).toMatchObject({ references: i + 2 });
    }
    expect(await references()).toEqual([ids.length + 1]);
  });

  it.each(["", "two words", "käfer", "x".repeat(129), "a\r\nb"])("but not by %j, which is none", async (requestId) => {
    const { volume } = use();
    const address = await volume.store(storing(page));
    const refused = { code: "HT_USAGE" };
    await expect(volume.store(storing(page, { requestId }))).rejects.toMatchObject(refused);
    await expect(volume.refer({ ...page, requestId })).rejects.toMatchObject(refused);
    await expect(volume.remove(address, requestId)).rejects.toMatchObject(refused);
    expect(await references()).toEqual([1]);
  });
}
