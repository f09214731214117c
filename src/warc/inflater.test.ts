import { constants, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDice } from "../testing/dice.ts";
import { createInflater, type Inflater, NativeInflater, PakoInflater, provesItself } from "./inflater.ts";

const BEHIND = Buffer.alloc(8, 7);

interface Inflated {
  readonly content: Buffer;
  readonly taken: number;
  readonly ended: boolean;
  readonly sound: boolean;
}

/** Feeds `inSize` bytes at a time and takes up to `outSize`, until there is nothing more to feed or to take. */
function inflateAll(inflater: Inflater, input: Uint8Array, inSize: number, outSize: number): Inflated {
  const output = Buffer.alloc(outSize + 4, 0xee);
  const parts: Buffer[] = [];
  let from = 0;
  inflater.reset();
  for (let idle = 0; !inflater.ended && idle < 2; ) {
    const to = Math.min(from + inSize, input.length);
    const sound = inflater.inflate(input, from, to, output, 2, 2 + outSize);
    if (!sound) return { content: Buffer.concat(parts), taken: from, ended: false, sound };
    expect(inflater.taken).toBeLessThanOrEqual(to - from);
    expect(inflater.given).toBeLessThanOrEqual(outSize);
    parts.push(Buffer.from(output.subarray(2, 2 + inflater.given)));
    from += inflater.taken;
    idle = inflater.taken + inflater.given > 0 ? 0 : idle + 1;
  }
  // Nothing was written outside of the room it was given.
  expect([...output.subarray(0, 2), ...output.subarray(2 + outSize)]).toEqual([0xee, 0xee, 0xee, 0xee]);
  return { content: Buffer.concat(parts), taken: from, ended: inflater.ended, sound: true };
}

const KINDS: readonly [string, () => Inflater][] = [
  ["native", () => new NativeInflater()],
  ["pako", () => new PakoInflater()],
];

describe.each(KINDS)("%s", (_, create) => {
  test("proves itself", () => {
    expect(provesItself(create)).toBe(true);
  });

  test("any content, at any level, in any portions, one stream behind the other", () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 2000 }),
      fc.tuple(fc.string(), fc.nat(200)).map(([text, count]) => Buffer.from(text.repeat(count))),
    );
    const inflater = create();
    const size = fc.integer({ min: 1, max: 3000 });
    fc.assert(
      fc.property(content, fc.integer({ min: 0, max: 9 }), size, size, (bytes, level, inSize, outSize) => {
        const stream = deflateRawSync(bytes, { level });
        const found = inflateAll(inflater, Buffer.concat([stream, BEHIND]), inSize, outSize);
        expect(found).toMatchObject({ taken: stream.length, ended: true, sound: true });
        expect(found.content.equals(bytes)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test.each([
    ["nothing", Buffer.alloc(0)],
    ["more than fits in any buffer", Buffer.from(createDice(5).bytes(200_000))],
    ["a thousandfold", Buffer.alloc(3 << 20)],
  ])("%s", (__, bytes) => {
    const stream = deflateRawSync(bytes);
    for (const outSize of [1 << 14, 1 << 16, 1 << 22]) {
      const found = inflateAll(create(), Buffer.concat([stream, BEHIND]), 1 << 20, outSize);
      expect(found).toMatchObject({ taken: stream.length, ended: true });
      expect(found.content.equals(bytes)).toBe(true);
    }
  });

  test("a stream cut off anywhere gives its beginning and does not end", () => {
    const bytes = Buffer.from("the one specimen that all others refer to; ".repeat(5));
    const stream = deflateRawSync(bytes);
    const inflater = create();
    for (let cut = 0; cut < stream.length; cut++) {
      const found = inflateAll(inflater, stream.subarray(0, cut), 7, 50);
      expect(found).toMatchObject({ ended: false, sound: true, taken: cut });
      expect(bytes.subarray(0, found.content.length).equals(found.content)).toBe(true);
    }
  });

  test("damage is told, and the next stream is none the worse", () => {
    const bytes = Buffer.from(createDice(6).bytes(5000));
    const good = Buffer.concat([deflateRawSync(bytes), BEHIND]);
    const inflater = create();
    for (const broken of [Buffer.alloc(64, 0xff), Buffer.from([0, 1, 0, 1, 0]), Buffer.alloc(9, 6)]) {
      expect(inflateAll(inflater, broken, 64, 64).sound).toBe(false);
      expect(inflateAll(inflater, good, 999, 999).content.equals(bytes)).toBe(true);
    }
  });

  test("flipped bits give a wrong answer or none, and no throw", () => {
    const stream = deflateRawSync(Buffer.from("so many specimens, one holotype. ".repeat(20)));
    const inflater = create();
    fc.assert(
      fc.property(fc.nat(stream.length * 8 - 1), (bit) => {
        const bytes = Buffer.concat([stream, BEHIND]);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        expect(inflateAll(inflater, bytes, 100, 100).taken).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });

  test("stored blocks and flushes inside a stream", () => {
    const one = deflateRawSync(Buffer.from("one "), { finishFlush: constants.Z_SYNC_FLUSH });
    const stream = Buffer.concat([one, deflateRawSync(Buffer.from("two"), { level: 0 }), BEHIND]);
    const found = inflateAll(create(), stream, 3, 2);
    expect([found.content.toString(), found.ended]).toEqual(["one two", true]);
  });
});

test("pako gives every byte up to the damage", () => {
  const bytes = Buffer.from(createDice(7).bytes(2000));
  // A stored block that is not the last, and behind it what is no block.
  const header = Buffer.from([0, 0xd0, 0x07, 0x2f, 0xf8]);
  const found = inflateAll(new PakoInflater(), Buffer.concat([header, bytes, BEHIND]), 1 << 16, 1 << 16);
  expect(found.sound).toBe(false);
  expect(found.content.equals(bytes)).toBe(true);
});

/** Inflaters that look right and are not. */
const WRONG: readonly [string, (right: Inflater) => Partial<Record<keyof Inflater, unknown>>][] = [
  ["throws", () => ({ inflate: () => expect.fail("no") })],
  ["does nothing", () => ({ inflate: () => true })],
  ["never fails", (right) => ({ inflate: (...args: InflateArguments) => right.inflate(...args) || true })],
  ["always fails", () => ({ inflate: () => false })],
  ["takes a byte too few", (right) => ({ taken: () => Math.max(0, right.taken - 1) })],
  ["takes a byte too many", (right) => ({ taken: () => right.taken + 1 })],
  ["gives a byte too few", (right) => ({ given: () => Math.max(0, right.given - 1) })],
  ["never ends", () => ({ ended: () => false })],
  ["ends at once", () => ({ ended: () => true })],
  ["never starts again", () => ({ reset: once(() => undefined) })],
  ["changes a byte", (right) => ({ inflate: changed(right) })],
];

type InflateArguments = Parameters<Inflater["inflate"]>;

function once(action: () => void): (right: Inflater) => void {
  let count = 0;
  return (right) => (count++ === 0 ? right.reset() : action());
}

function changed(right: Inflater): Inflater["inflate"] {
  return (input, from, to, output, at, limit) => {
    const sound = right.inflate(input, from, to, output, at, limit);
    if (right.given > 5) output[at + 5]! ^= 1;
    return sound;
  };
}

describe.each(KINDS)("a wrong one made of %s", (_, create) => {
  test.each(WRONG)("%s", (__, spoil) => {
    const right = create();
    const wrong = spoil(right);
    const read = (key: "taken" | "given" | "ended") =>
      (wrong[key] as (() => number & boolean) | undefined)?.() ?? right[key];
    const inflater = {
      get taken() {
        return read("taken");
      },
      get given() {
        return read("given");
      },
      get ended() {
        return read("ended");
      },
      reset: () => ((wrong.reset as ((right: Inflater) => void) | undefined) ?? (() => right.reset()))(right),
      inflate: (...args: InflateArguments) =>
        ((wrong.inflate as Inflater["inflate"] | undefined) ?? right.inflate.bind(right))(...args),
    } as Inflater;
    expect(provesItself(() => inflater)).toBe(false);
  });
});

test("what cannot even be made does not prove itself", () => {
  expect(provesItself(() => expect.fail("no such thing"))).toBe(false);
});

test("the one that is taken is the native one", () => {
  expect(createInflater()).toBeInstanceOf(NativeInflater);
});
