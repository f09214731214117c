import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createSigner,
  isSignatureAlgorithm,
  parseSignature,
  SIGNATURE_ALGORITHMS,
  SIGNATURE_SIZES,
  signatureModulo,
  signatureOf,
} from "./signature.ts";

const algorithms = fc.constantFrom(...SIGNATURE_ALGORITHMS);

describe("signatures", () => {
  it.each([
    ["sha256", "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"],
    ["sha1", "A9993E364706816ABA3E25717850C26C9CD0D89D"],
    ["weak8", "00000000000000BA"],
  ] as const)("of abc by %s are as published", (algorithm, expected) => {
    expect(signatureOf(algorithm, Buffer.from("abc"))).toBe(expected);
  });

  it("are the same at once and piece by piece, and can be parsed", () => {
    fc.assert(
      fc.property(algorithms, fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 5 }), (algorithm, pieces) => {
        const signer = createSigner(algorithm);
        for (const piece of pieces) signer.update(piece);
        const signature = signer.finish();
        expect(signature).toBe(signatureOf(algorithm, Buffer.concat(pieces)));
        expect(signature).toMatch(/^[0-9A-F]+$/);
        expect(signature).toHaveLength(2 * SIGNATURE_SIZES[algorithm]);
        expect(parseSignature(signature.toLowerCase(), algorithm)).toBe(signature);
      }),
    );
  });

  it("of other lengths and letters are none", () => {
    for (const algorithm of SIGNATURE_ALGORITHMS) {
      const size = 2 * SIGNATURE_SIZES[algorithm];
      for (const text of [
        "",
        "A".repeat(size - 1),
        "A".repeat(size + 1),
        "G".repeat(size),
        `${"A".repeat(size - 1)}\n`,
      ]) {
        expect(() => parseSignature(text, algorithm)).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
      }
    }
    expect(SIGNATURE_ALGORITHMS.every(isSignatureAlgorithm)).toBe(true);
    expect(["md5", "SHA256", "", "constructor"].some(isSignatureAlgorithm)).toBe(false);
  });

  it("leave the remainder of the number that they are", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 4096 }),
        (bytes, divisor) => {
          const hex = Buffer.from(bytes).toString("hex");
          // Whole groups of four digits and what is left of them.
          expect(signatureModulo(hex.padStart(Math.ceil(hex.length / 4) * 4, "0"), divisor)).toBe(
            Number(BigInt(`0x${hex}`) % BigInt(divisor)),
          );
        },
      ),
    );
  });

  it("of real contents spread evenly over volumes", () => {
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < 7000; i++) {
      const hex = createHash("sha256").update(String(i)).digest("hex").toUpperCase();
      counts[signatureModulo(hex, 7)]!++;
    }
    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1150);
  });
});
