import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SIGNATURE_ALGORITHMS, signatureOf } from "./signature.ts";
import { SignatureFilter } from "./signature-filter.ts";

const algorithms = fc.constantFrom(...SIGNATURE_ALGORITHMS);

describe("a filter of signatures", () => {
  it("never denies what was added, whatever it was made for, and neither does its copy", () => {
    fc.assert(
      fc.property(algorithms, fc.array(fc.string(), { maxLength: 300 }), fc.nat(400), (algorithm, texts, capacity) => {
        const signatures = texts.map((text) => signatureOf(algorithm, Buffer.from(text)));
        const filter = SignatureFilter.for(capacity);
        for (const signature of signatures) filter.add(signature);
        const copy = SignatureFilter.decode(filter.encode());
        expect(signatures.every((signature) => filter.mayHave(signature) && copy.mayHave(signature))).toBe(true);
        expect([copy.count, copy.capacity]).toEqual([signatures.length, filter.capacity]);
        expect(Buffer.from(copy.encode()).equals(filter.encode())).toBe(true);
      }),
    );
  });

  it.each(["sha256", "sha1", "rabin64"] as const)("lets few strangers through, of %s", (algorithm) => {
    const count = 20_000;
    // The worst size: as full as one that was made for so many can be.
    const filter = SignatureFilter.for(count);
    for (let i = 0; i < filter.capacity; i++) filter.add(signatureOf(algorithm, Buffer.from(`added ${i}`)));
    let through = 0;
    for (let i = 0; i < count; i++) if (filter.mayHave(signatureOf(algorithm, Buffer.from(`stranger ${i}`)))) through++;
    expect(through / count).toBeLessThan(0.012);
    expect(through).toBeGreaterThan(0);
  });

  it("lets everything through when it cannot tell, and nothing when it is empty", () => {
    const signature = signatureOf("sha256", Buffer.from("any"));
    expect(SignatureFilter.open().mayHave(signature)).toBe(true);
    expect(SignatureFilter.decode(SignatureFilter.open().encode()).mayHave(signature)).toBe(true);
    expect(SignatureFilter.for(0).mayHave(signature)).toBe(false);
  });

  it("takes ten to twenty bits for each that it was made for", () => {
    for (const count of [100, 1000, 12_345, 1_000_000]) {
      const filter = SignatureFilter.for(count);
      expect(filter.capacity).toBeGreaterThanOrEqual(count);
      expect(filter.encode().length).toBeLessThanOrEqual(16 + Math.max(64, (count * 20) / 8));
    }
  });

  it("is refused where it is damaged or cut, or of a newer Holotype", () => {
    const good = Buffer.from(SignatureFilter.for(10).encode());
    const changed = (change: (bytes: Buffer) => Buffer | void) => {
      const bytes = Buffer.from(good);
      return change(bytes) ?? bytes;
    };
    const corrupt = expect.objectContaining({ code: "HT_CORRUPT" });
    for (const bytes of [
      Buffer.alloc(0),
      good.subarray(0, 15),
      good.subarray(0, good.length - 1),
      good.subarray(0, 16 + 32),
      Buffer.concat([good, Buffer.alloc(64)]),
      changed((copy) => void copy.write("X")),
      changed((copy) => void copy.writeUInt32BE(128, 8)),
    ]) {
      expect(() => SignatureFilter.decode(bytes)).toThrow(corrupt);
    }
    expect(() => SignatureFilter.decode(changed((copy) => void copy.writeUInt32BE(2, 4)))).toThrow(
      expect.objectContaining({ code: "HT_FORMAT_TOO_NEW" }),
    );
  });

  it("decodes any bytes or says that they are none", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          SignatureFilter.decode(bytes);
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^HT_/) as string });
        }
      }),
    );
  });
});
