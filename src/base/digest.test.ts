import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  createHasher,
  DIGEST_ALGORITHMS,
  type Digest,
  digestOf,
  equalDigests,
  formatBase32,
  formatDigest,
  formatDigestValue,
  isDigestAlgorithm,
  loadDigest,
  parseAlgorithm,
  parseBase32,
  parseDigest,
} from "./digest.ts";

const SIZES = { sha1: 20, sha256: 32, md5: 16, sha512: 64, blake3: 32 } as const;
const EMPTY = new Uint8Array(0);

const digest = fc
  .constantFrom(...DIGEST_ALGORITHMS)
  .chain((algorithm) =>
    fc
      .uint8Array({ minLength: SIZES[algorithm], maxLength: SIZES[algorithm] })
      .map((bytes): Digest => ({ algorithm, hex: Buffer.from(bytes).toString("hex") })),
  );

test("blake3 must be loaded first", async () => {
  expect(() => createHasher("blake3")).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
  await Promise.all([loadDigest("blake3"), loadDigest("blake3"), loadDigest("sha1")]);
  expect(createHasher("blake3").finish().algorithm).toBe("blake3");
});

const EMPTY_SHA1 = { algorithm: "sha1", hex: "da39a3ee5e6b4b0d3255bfef95601890afd80709" } as const;

test.each([
  ["sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"],
  ["sha1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj"],
  ["sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ===="],
  ["sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709"],
  ["sha1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"],
  ["sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk="],
  ["sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk"],
  ["sha1:2jmj7l5rSw0yVb_vlWAYkK_YBwk"],
  ["sha-1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"],
  ["SHA1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"],
  ["SHA-1:da39a3ee5e6b4b0d3255bfef95601890afd80709"],
  [" sha1 : 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ "],
])("the empty sha1 as %j", (text) => {
  expect(parseDigest(text)).toEqual(EMPTY_SHA1);
});

test.each([
  ["sha-256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855", "sha256"],
  ["sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ", "sha256"],
  ["sha256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "sha256"],
  ["md5:d41d8cd98f00b204e9800998ecf8427e", "md5"],
  ["MD5:2QOYZWMPACZAJ2MABGMOZ6CCPY======", "md5"],
  ["md5:1B2M2Y8AsgTpgAmY7PhCfg==", "md5"],
  [
    "sha-512:cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
    "sha512",
  ],
  ["blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262", "blake3"],
] as const)("%s is the digest of nothing", (text, algorithm) => {
  expect(parseDigest(text)).toEqual(digestOf(algorithm, EMPTY));
});

test.each([
  ["sha1:"],
  ["sha1"],
  [""],
  [":3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"],
  ["crc32:00000000"],
  ["constructor:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"],
  ["3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"],
  ["sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY"],
  ["sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJA"],
  ["sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY1"],
  ["sha1:da39a3ee5e6b4b0d3255bfef95601890afd8070g"],
  ["sha1:2jmj7l5rSw0yVb/vlWAYkK/YBw*="],
  ["sha256:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"],
  ["md5:da39a3ee5e6b4b0d3255bfef95601890afd80709"],
])("%j is no digest", (text) => {
  expect(parseDigest(text)).toBeUndefined();
});

test("a text without label is of the algorithm that the caller names; a label goes before it", () => {
  expect(parseDigest("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1")).toEqual(EMPTY_SHA1);
  expect(parseDigest("d41d8cd98f00b204e9800998ecf8427e", "md5")).toEqual(digestOf("md5", EMPTY));
  expect(parseDigest("d41d8cd98f00b204e9800998ecf8427e", "sha1")).toBeUndefined();
  expect(parseDigest("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha256")).toEqual(EMPTY_SHA1);
});

test.each([
  ["sha1:x", "sha1"],
  ["Sha-256:x", "sha256"],
  [" SHA-512 :", "sha512"],
  ["blake3:", "blake3"],
  ["sha1", undefined],
  ["sha3:x", undefined],
  ["__proto__:x", undefined],
])("the label of %j", (text, algorithm) => {
  expect(parseAlgorithm(text)).toBe(algorithm);
});

test("is written as base32 in capitals for sha1, else as small hex", () => {
  expect(formatDigest(EMPTY_SHA1)).toBe("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
  expect(formatDigestValue(EMPTY_SHA1)).toBe("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
  expect(formatDigest(digestOf("md5", EMPTY))).toBe("md5:d41d8cd98f00b204e9800998ecf8427e");
});

test("what is written is read as the same, and so is every other form", () => {
  fc.assert(
    fc.property(digest, (d) => {
      const bytes = Buffer.from(d.hex, "hex");
      expect(parseDigest(formatDigest(d))).toEqual(d);
      expect(parseDigest(formatDigestValue(d), d.algorithm)).toEqual(d);
      for (const value of [
        d.hex.toUpperCase(),
        formatBase32(bytes),
        formatBase32(bytes).toLowerCase(),
        bytes.toString("base64"),
        bytes.toString("base64url"),
      ]) {
        expect(parseDigest(`${d.algorithm.toUpperCase()}:${value}`)).toEqual(d);
      }
      // The fast way for sha1 and the general one agree.
      if (d.algorithm === "sha1") expect(formatDigestValue(d)).toBe(formatBase32(bytes));
    }),
  );
});

test("any text is a digest or is not, without a throw", () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom("", "sha1:", "md5:"), (text, label) => {
      const parsed = parseDigest(label + text, "sha256");
      if (parsed !== undefined) expect(parsed.hex).toMatch(/^[0-9a-f]+$/);
    }),
  );
});

test("base32 of any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const text = formatBase32(bytes);
      expect(text).toMatch(/^[A-Z2-7]*$/);
      expect(text.length).toBe(Math.ceil((bytes.length * 8) / 5));
      expect(parseBase32(text)).toEqual(bytes);
    }),
  );
  expect(formatBase32(Buffer.from("foobar"))).toBe("MZXW6YTBOI");
  expect(parseBase32("mzxw6ytboi======")).toEqual(Uint8Array.from(Buffer.from("foobar")));
  expect(parseBase32("MZXW0")).toBeUndefined();
});

test.each([
  ["sha1", "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
  ["sha1", "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"],
  ["sha256", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["sha256", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  ["md5", "", "d41d8cd98f00b204e9800998ecf8427e"],
  ["md5", "abc", "900150983cd24fb0d6963f7d28e17f72"],
  ["blake3", "", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"],
  ["blake3", "abc", "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"],
] as const)("%s of %j", (algorithm, text, hex) => {
  const bytes = Buffer.from(text);
  expect(digestOf(algorithm, bytes)).toEqual({ algorithm, hex });
  const hasher = createHasher(algorithm);
  for (const byte of bytes) hasher.update(Uint8Array.of(byte));
  expect(hasher.finish()).toEqual({ algorithm, hex });
});

test("several hashers at once do not mix, whatever the order of their updates", () => {
  const step = fc.tuple(fc.nat(6), fc.uint8Array({ maxLength: 200 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const algorithms = [...DIGEST_ALGORITHMS, "blake3", "sha1"] as const;
      const hashers = algorithms.map((algorithm) => createHasher(algorithm));
      const fed = algorithms.map((): Uint8Array[] => []);
      for (const [i, bytes] of steps) {
        hashers[i]!.update(bytes);
        fed[i]!.push(bytes);
        // A digest of the same instance in between.
        if (bytes.length % 3 === 0) digestOf("blake3", bytes);
      }
      hashers.forEach((hasher, i) => {
        expect(hasher.finish()).toEqual(digestOf(algorithms[i]!, Buffer.concat(fed[i]!)));
      });
    }),
    { numRuns: 50 },
  );
});

test("the digests of Node", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.constantFrom("sha1", "sha256", "md5", "sha512"), (bytes, algorithm) => {
      expect(digestOf(algorithm, bytes).hex).toBe(createHash(algorithm).update(bytes).digest("hex"));
    }),
  );
});

test("are equal with their algorithm and bytes", () => {
  const sha256 = digestOf("sha256", EMPTY);
  expect(equalDigests(sha256, digestOf("sha256", EMPTY))).toBe(true);
  expect(equalDigests(sha256, { ...sha256, algorithm: "blake3" })).toBe(false);
  expect(equalDigests(sha256, digestOf("sha256", Uint8Array.of(0)))).toBe(false);
  expect(isDigestAlgorithm("sha1")).toBe(true);
  expect(isDigestAlgorithm("sha-1")).toBe(false);
  expect(isDigestAlgorithm("toString")).toBe(false);
});
