import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Rabin64 } from "./rabin64.ts";
import { signatureOf } from "./signature.ts";

const fingerprint = (bytes: Uint8Array | string): string => signatureOf("rabin64", Buffer.from(bytes));
const number = (bytes: Uint8Array): bigint => BigInt(`0x${fingerprint(bytes)}`);

/** The polynomial of degree 64, its highest coefficient first; the constant in the code has them the other way round. */
const POLYNOMIAL = (1n << 64n) | reversed(0xc15d213aa4d7a795n);

function reversed(value: bigint): bigint {
  let result = 0n;
  for (let bit = 0n; bit < 64n; bit++) if ((value >> bit) & 1n) result |= 1n << (63n - bit);
  return result;
}

function degree(polynomial: bigint): number {
  return polynomial.toString(2).length - 1;
}

function remainder(dividend: bigint, divisor: bigint): bigint {
  let rest = dividend;
  while (rest !== 0n && degree(rest) >= degree(divisor)) rest ^= divisor << BigInt(degree(rest) - degree(divisor));
  return rest;
}

function product(one: bigint, other: bigint): bigint {
  let result = 0n;
  for (let left = other, shifted = one; left > 0n; left >>= 1n, shifted <<= 1n) if (left & 1n) result ^= shifted;
  return remainder(result, POLYNOMIAL);
}

function commonDivisor(one: bigint, other: bigint): bigint {
  return other === 0n ? one : commonDivisor(other, remainder(one, other));
}

describe("the 64-bit fingerprint", () => {
  // The texts are schemas of Apache Avro, whose specification and test data give these fingerprints (CRC-64-AVRO).
  it.each([
    ['"null"', "63DD24E7CC258F8A"],
    ['"boolean"', "9F42FC78A4D4F764"],
    ['"int"', "7275D51A3F395C8F"],
    ['"long"', "D054E14493F41DB7"],
    ['"float"', "4D7C02CB3EA8D790"],
    ['"double"', "8E7535C032AB957E"],
    ['"bytes"', "4FC016DAC3201965"],
    ['"string"', "8F014872634503C7"],
    ['{"name":"foo","type":"fixed","size":15}', "18602EC3ED31A504"],
    ['["int","boolean"]', "4AD63578080C1602"],
  ])("of %s is that of CRC-64-AVRO", (text, expected) => {
    expect(fingerprint(text)).toBe(expected);
  });

  it("of nothing is its start value", () => {
    expect(fingerprint("")).toBe("C15D213AA4D7A795");
  });

  it("does not depend on how the bytes are cut into pieces", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.array(fc.nat(100)), (bytes, cuts) => {
        const signer = new Rabin64();
        let at = 0;
        for (const cut of cuts.filter((each) => each <= bytes.length).sort((a, b) => a - b)) {
          signer.update(bytes.subarray(at, cut));
          at = cut;
        }
        signer.update(bytes.subarray(at));
        expect(signer.finish()).toBe(fingerprint(bytes));
      }),
    );
  });

  it("is affine: of the sum of three contents of one length it is the sum of theirs", () => {
    const triple = fc.nat(60).chain((length) => {
      const bytes = fc.uint8Array({ minLength: length, maxLength: length });
      return fc.tuple(bytes, bytes, bytes);
    });
    fc.assert(
      fc.property(triple, ([a, b, c]) => {
        const sum = a.map((byte, i) => byte ^ b[i]! ^ c[i]!);
        expect(number(sum)).toBe(number(a) ^ number(b) ^ number(c));
      }),
    );
  });

  it("is the remainder by the polynomial", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        // The coefficients of the content, the lowest bit of a byte first, moved up by the degree, as every CRC has it;
        // the start value is added at its top.
        let content = 0n;
        for (const byte of bytes) content = (content << 8n) | (reversed(BigInt(byte)) >> 56n);
        const sum = (content << 64n) ^ (reversed(0xc15d213aa4d7a795n) << BigInt(8 * bytes.length));
        expect(number(bytes)).toBe(reversed(remainder(sum, POLYNOMIAL)));
      }),
    );
  });

  it("has a polynomial that is irreducible, as Rabin asks for", () => {
    // Rabin's test for degree 64: t^(2^64) = t, and t^(2^32) - t has no divisor in common with the polynomial.
    let power = 2n;
    for (let i = 0; i < 32; i++) power = product(power, power);
    expect(degree(commonDivisor(POLYNOMIAL, power ^ 2n))).toBe(0);
    for (let i = 0; i < 32; i++) power = product(power, power);
    expect(power).toBe(2n);
  });
});
