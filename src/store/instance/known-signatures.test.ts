import { describe, expect, it } from "vitest";
import { SignatureFilter } from "../signature-filter.ts";
import { KnownSignatures } from "./known-signatures.ts";

function setUp(signatures: readonly string[]) {
  const clock = { ms: 0, now: () => clock.ms };
  const volume = { signatures: [...signatures], fetches: 0, fails: false };
  const known = new KnownSignatures(() => {
    volume.fetches++;
    if (volume.fails) return Promise.reject(new Error("not now"));
    const filter = SignatureFilter.for(volume.signatures.length);
    for (const signature of volume.signatures) filter.add(signature);
    return Promise.resolve(filter);
  }, clock);
  return { clock, volume, known };
}

const A = "AAAAAAAAAAAAAAAA";
const B = "BBBBBBBBBBBBBBBB";

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("known signatures", () => {
  it("may be anything, until the filter is there; it is fetched by who asks often", async () => {
    const { volume, known } = setUp([A]);
    for (let i = 0; i < 7; i++) expect(known.mayHave(B)).toBe(true);
    await settled();
    expect(volume.fetches).toBe(0);
    known.mayHave(B);
    await settled();
    expect(volume.fetches).toBe(1);
    expect(known.mayHave(B)).toBe(false);
    expect(known.mayHave(A)).toBe(true);
  });

  it("have what was stored since, before and after the next filter", async () => {
    const { volume, known } = setUp([]);
    await known.refresh();
    expect(known.mayHave(A)).toBe(false);
    known.add(A);
    expect(known.mayHave(A)).toBe(true);
    const fetching = known.refresh();
    expect(known.mayHave(A)).toBe(true);
    await fetching;
    // The volume has forgotten it: a client may find out with the next filter, not by keeping it for ever.
    expect(known.mayHave(A)).toBe(false);
    volume.signatures.push(A);
    await known.refresh();
    expect(known.mayHave(A)).toBe(true);
  });

  it("are fetched again after a while, and not more often", async () => {
    const { clock, volume, known } = setUp([A]);
    await known.refresh();
    for (let i = 0; i < 100; i++) known.mayHave(B);
    await settled();
    expect(volume.fetches).toBe(1);
    clock.ms = 30_000;
    for (let i = 0; i < 100; i++) known.mayHave(B);
    await settled();
    expect(volume.fetches).toBe(2);
  });

  it("stay as they are where the volume does not answer", async () => {
    const { volume, known } = setUp([A]);
    await known.refresh();
    known.add(B);
    volume.fails = true;
    await known.refresh();
    expect(known.mayHave(A)).toBe(true);
    expect(known.mayHave(B)).toBe(true);
    expect(known.mayHave("CCCCCCCCCCCCCCCC")).toBe(false);
  });

  it("are fetched early by who stores much", async () => {
    const { volume, known } = setUp([]);
    await known.refresh();
    for (let i = 0; i < 20_000; i++) known.add(i.toString(16).padStart(16, "0"));
    for (let i = 0; i < 8; i++) known.mayHave(B);
    await settled();
    expect(volume.fetches).toBe(2);
  });
});
