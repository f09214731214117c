/** Keys are found in a leaf by its bytes as they are found once all of them were read. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { newSeed } from "../testing/dice.ts";
import { Leaf } from "./leaf.ts";
import { LeafBuilder } from "./leaf-builder.ts";

const SEED = newSeed();
/** Few characters, so that keys begin with each other and differ early and late. */
const key = fc
  .array(fc.constantFrom("\x01", "a", "b", "\xff"), { minLength: 1, maxLength: 6 })
  .map((all) => all.join(""));

function leafOf(keys: readonly string[]): Buffer {
  const builder = new LeafBuilder(4);
  builder.begin(1000);
  for (const [i, each] of [...new Set(keys)].sort().entries()) {
    const digest = String.fromCharCode(1, 2, 3, i % 256);
    const visits = [1000 + i];
    builder.put(each, [{ start: 1000 + i, digest, value: Buffer.from(each), before: 0, lastBefore: 1000 + i, visits }]);
  }
  return builder.finish(1000).bytes;
}

test(`whether its keys were read or not, a leaf has the same; seed ${SEED}`, () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), fc.array(key, { maxLength: 20 }), (keys, others) => {
      const bytes = leafOf(keys);
      const leaf = new Leaf(bytes);
      const read = new Leaf(bytes);
      read.readKeys();
      for (const each of [...keys, ...others]) {
        const body = leaf.find(each);
        expect(body).toEqual(read.find(each));
        expect(body !== undefined).toBe(keys.includes(each));
        if (body !== undefined) expect(leaf.runsIn(body)[0]!.value.toString()).toBe(each);
      }
      expect(leaf.hasKeys).toBe(false);
      expect(leaf.keys).toEqual(read.keys);
    }),
    { seed: SEED },
  );
});

test(`bytes that nobody wrote are refused by an error of ours, or give something; seed ${SEED}`, () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(key, { minLength: 1, maxLength: 20 }), changes, key, (keys, all, sought) => {
      const bytes = leafOf(keys);
      for (const [at, byte] of all) bytes[at % bytes.length] = byte;
      try {
        new Leaf(bytes).find(sought);
      } catch (error) {
        expect(error).toBeInstanceOf(ArchiveError);
      }
    }),
    { seed: SEED, numRuns: 500 },
  );
});
