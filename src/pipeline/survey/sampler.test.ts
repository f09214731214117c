import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { captureBytes } from "../../testing/capture-text.ts";
import { bufferSource, scanRecord, WarcReader } from "../../warc/index.ts";
import { PayloadSampler, PREFIX_SIZE, payloadStartOf } from "./sampler.ts";

const CAPTURE = { uri: "http://example.org/", date: "2020-02-02T20:20:20Z" };

/** The block of a record, and what a scan of it says. */
function scanned(record: Uint8Array) {
  const [first] = new WarcReader(bufferSource(record));
  const block = Buffer.from(first!.block!);
  const parts: Buffer[] = [];
  const { framing, http } = scanRecord(first!, { onPayload: (bytes) => void parts.push(Buffer.from(bytes)) });
  const prefix = Buffer.concat(parts).subarray(0, PREFIX_SIZE);
  return { block, isHttp: first!.isHttp, expected: { prefix, framing, httpSize: http?.text.length ?? 0 } };
}

function start(block: Uint8Array, whole: boolean, isHttp: boolean) {
  const found = payloadStartOf(block, whole, isHttp);
  return found === undefined ? undefined : { ...found, prefix: Buffer.from(found.prefix) };
}

/** However much of the block is there: what is told is what a scan of all of it says. */
function expectTheSameOfEachCut(record: Uint8Array, cuts: readonly number[]): void {
  const { block, isHttp, expected } = scanned(record);
  expect(start(block, true, isHttp)).toEqual(expected);
  for (const cut of cuts) {
    const found = start(block.subarray(0, Math.floor(cut * block.length)), false, isHttp);
    if (found !== undefined) expect(found).toEqual(expected);
  }
}

describe("the beginning of a payload", () => {
  const payload = Buffer.from("one specimen that all others refer to; ".repeat(60));

  it("is the same for a plain copy and for one in chunks of any size", () => {
    const plain = scanned(captureBytes({ ...CAPTURE, payload }));
    const prefix = payload.subarray(0, PREFIX_SIZE);
    expect(start(plain.block, true, true)).toMatchObject({ prefix, framing: "plain" });
    for (const size of [1, 7, 100, 1000, 1024, 5000]) {
      const chunks = Array.from({ length: Math.ceil(payload.length / size) }, () => size);
      const { block } = scanned(captureBytes({ ...CAPTURE, payload, chunks }));
      expect(start(block, true, true)).toMatchObject({ prefix, framing: "chunked" });
    }
  });

  it("is told as soon as the bytes are there, in the middle of a chunk or not, and not before", () => {
    const { block } = scanned(captureBytes({ ...CAPTURE, payload, chunks: [700, 1500] }));
    const needed = block.indexOf(payload.subarray(0, 700)) + PREFIX_SIZE + "\r\n5dc\r\n".length;
    for (let cut = 0; cut <= block.length; cut++) {
      expect(start(block.subarray(0, cut), false, true) !== undefined, `${cut}`).toBe(cut >= needed);
    }
  });

  it("is all of a short payload, which is told only where the block is whole", () => {
    const { block } = scanned(captureBytes({ ...CAPTURE, payload: "short" }));
    expect(start(block, false, true)).toBeUndefined();
    expect(start(block, true, true)).toMatchObject({ prefix: Buffer.from("short") });
  });

  it("is empty for an empty payload, and the block's where that is no message", () => {
    const { block } = scanned(captureBytes({ ...CAPTURE, payload: "" }));
    expect(start(block, true, true)!.prefix).toHaveLength(0);
    const bare = scanned(captureBytes({ ...CAPTURE, type: "resource", payload }));
    expect(start(bare.block, true, false)).toEqual({
      prefix: payload.subarray(0, PREFIX_SIZE),
      framing: "plain",
      httpSize: 0,
    });
  });

  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });

  it("is what a scan says, of any payload, framing and header, however much of it is there", () => {
    const capture = fc.record({
      payload: fc.uint8Array({ maxLength: 3000, size: "max" }),
      chunks: fc.option(fc.array(fc.integer({ min: 1, max: 1500 }), { maxLength: 6 }), { nil: undefined }),
      http: fc.array(
        fc.integer({ min: 1, max: 600 }).map((size) => `X: ${"y".repeat(size)}`),
        { maxLength: 3 },
      ),
      chunkExtension: fc.constantFrom("", ";name=value"),
    });
    fc.assert(
      fc.property(capture, cuts, (text, places) => {
        expectTheSameOfEachCut(captureBytes({ ...CAPTURE, ...text }), places);
      }),
      { numRuns: 100 },
    );
  });

  it("is what a scan says of a body that says to be chunked and is anything", () => {
    const piece = fc.oneof(
      fc.constantFrom("0\r\n", "5\r\nhello\r\n", "400\r\n", "\r\n", "zz", "7ff;x=y\r\n", "-1\r\n"),
      fc.integer({ min: 1, max: 1500 }).map((size) => "b".repeat(size)),
    );
    const body = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(body, cuts, (text, places) => {
        const record = captureBytes({ ...CAPTURE, payload: text, http: ["Transfer-Encoding: chunked"] });
        expectTheSameOfEachCut(record, places);
      }),
      { numRuns: 150 },
    );
  });
});

describe("the sampler", () => {
  const names = Array.from({ length: 20_000 }, (_, i) => Buffer.from(`content ${i}`));
  const taken = (rate: number, seed: number) => {
    const sampler = new PayloadSampler(rate, seed);
    return new Set([...names.keys()].filter((i) => sampler.takes(sampler.clusterOf(names[i]!))));
  };

  it.each([0.001, 0.1, 0.5])("takes about the share %f that it is asked for", (rate) => {
    const { size } = taken(rate, 1);
    const deviation = Math.sqrt(names.length * rate * (1 - rate));
    expect(Math.abs(size - names.length * rate)).toBeLessThan(4 * deviation);
  });

  it("takes everything where it is asked for all", () => {
    expect(taken(1, 1).size).toBe(names.length);
  });

  it("takes the same with the same seed, and other contents with another", () => {
    const one = taken(0.1, 1);
    expect(taken(0.1, 1)).toEqual(one);
    const both = [...taken(0.1, 2)].filter((i) => one.has(i)).length;
    expect(both / one.size).toBeGreaterThan(0.05);
    expect(both / one.size).toBeLessThan(0.15);
  });

  it("takes with a larger share what it took with a smaller one", () => {
    const large = taken(0.3, 1);
    for (const i of taken(0.1, 1)) expect(large.has(i)).toBe(true);
  });

  it("tells a prefix from a longer one, and from the same with zeros behind", () => {
    const sampler = new PayloadSampler(0.5, 1);
    const clusters = ["ab", "a", "a\0", ""].map((text) => sampler.clusterOf(Buffer.from(text)));
    expect(new Set(clusters).size).toBe(4);
  });
});
