import { describe, expect, it } from "vitest";
import { MemoryVolume } from "../testing/memory-volume.ts";
import { codecs, contentOf, storing } from "../testing/volume-contents.ts";
import { storeEach } from "./bulk.ts";

const request = (i: number) => storing(contentOf("sha256", `content ${i}`));

describe("many stores", () => {
  it("answer before the next request has come", async () => {
    const answers: string[] = [];
    let give: (() => void) | undefined;
    async function* requests() {
      for (let i = 0; i < 3; i++) {
        yield request(i);
        // The next one is given only when this one was answered.
        if (answers.length <= i) await new Promise<void>((resolve) => (give = resolve));
      }
    }
    for await (const answer of storeEach(new MemoryVolume(codecs), requests())) {
      answers.push("receipt" in answer ? answer.receipt.outcome : "error");
      give?.();
    }
    expect(answers).toEqual(["new", "new", "new"]);
  });

  it("end with what the requests throw, after the answers to those before", async () => {
    async function* requests() {
      yield request(1);
      await Promise.resolve();
      throw new Error("the crawler went away");
    }
    const answers: unknown[] = [];
    const all = (async () => {
      for await (const answer of storeEach(new MemoryVolume(codecs), requests())) answers.push(answer);
    })();
    await expect(all).rejects.toThrow("the crawler went away");
    expect(answers).toHaveLength(1);
  });
});
