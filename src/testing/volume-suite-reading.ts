/** Of the suite of volumes: opening, listing, and the filter. */
import { expect, it } from "vitest";
import { gather, SignatureFilter } from "../store/index.ts";
import { collect, contentOf, encoded, mixedBytes, storing } from "./volume-contents.ts";
import type { Use } from "./volume-suite.ts";

const contents = Array.from({ length: 12 }, (_, i) => contentOf("sha256", `specimen ${i}`.repeat(i)));
const absent = contentOf("sha256", "absent");

export function describeReading(use: Use): void {
  const storeAll = async () => {
    for (const content of contents) await use().volume.store(storing(content, { compression: "zlib" }));
  };

  it("no block that is not there", async () => {
    await storeAll();
    const { volume } = use();
    expect(await volume.open({ ...absent, overflow: 0 })).toBeUndefined();
    expect(await volume.open({ ...contents[0]!, overflow: 1 })).toBeUndefined();
    expect(await volume.find([absent.signature])).toEqual([[]]);
    expect(await volume.find([])).toEqual([]);
  });

  it("no block whose signature differs in one of its bytes", async () => {
    await storeAll();
    const { volume } = use();
    const { signature, size } = contents[3]!;
    for (let at = 0; at < signature.length; at += 2) {
      const byte = (Number.parseInt(signature.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, "0").toUpperCase();
      const other = signature.slice(0, at) + byte + signature.slice(at + 2);
      expect(await volume.find([other])).toEqual([[]]);
      expect(await volume.open({ signature: other, overflow: 0 })).toBeUndefined();
      expect(await volume.refer({ signature: other, size })).toBeUndefined();
      expect(await volume.remove({ signature: other, overflow: 0 })).toBeUndefined();
    }
  });

  it.each([100, 2_000_000])("ranges of the stored bytes of a block of %i", async (size) => {
    const { volume } = use();
    const content = contentOf("sha256", mixedBytes(size));
    const stored = Buffer.from(encoded(content, "gzip"));
    const address = await volume.store(storing(content, { compression: "gzip" }));
    const last = stored.length - 1;
    for (const [start, end] of [
      [0, stored.length],
      [0, 1],
      [3, 17],
      [last, stored.length],
      [10, stored.length + 1000],
      [Math.floor(last / 2), last],
    ] as const) {
      const block = (await volume.open(address, { start, end }))!;
      expect(block).toMatchObject({ size, storedSize: stored.length });
      expect(Buffer.from(await gather(block.data, 1 << 30)).equals(stored.subarray(start, end))).toBe(true);
    }
    const behind = { start: stored.length + 1, end: stored.length + 2 };
    await expect(volume.open(address, behind)).rejects.toMatchObject({ code: "HT_USAGE" });
    expect(await volume.open({ ...absent, overflow: 0 }, behind)).toBeUndefined();
  });

  it("the same again after data was left alone", async () => {
    const { volume } = use();
    const content = contentOf("sha256", mixedBytes(1_500_000));
    const address = await volume.store(storing(content));
    for (let i = 0; i < 5; i++) expect(await volume.open(address)).toBeDefined();
    const block = (await volume.open(address))!;
    if (!(block.data instanceof Uint8Array)) for await (const _ of block.data) break;
    expect(Buffer.from(await gather((await volume.open(address))!.data, 1 << 30)).equals(content.bytes)).toBe(true);
  });

  it("all blocks in order, and on from any place", async () => {
    await storeAll();
    const { volume } = use();
    for (let i = 0; i < 11; i++) await volume.store(storing(contents[3]!, { mode: "force-new" }));
    const all = await collect(volume.list());
    expect(all).toHaveLength(contents.length + 11);
    const sorted = all.toSorted((one, other) =>
      one.signature === other.signature ? one.overflow - other.overflow : one.signature < other.signature ? -1 : 1,
    );
    expect(all).toEqual(sorted);
    for (const [i, info] of all.entries()) {
      expect(await collect(volume.list(info))).toEqual(all.slice(i + 1));
      expect((await volume.find([info.signature]))[0]).toContainEqual(info);
    }
    const rest = (signature: string) => collect(volume.list({ signature, overflow: 5 }));
    expect(await rest(absent.signature)).toEqual(all.filter(({ signature }) => signature > absent.signature));
    expect(await rest("0".repeat(64))).toEqual(all);
    expect(await rest("F".repeat(64))).toEqual([]);
  });

  it("nothing from an empty volume", async () => {
    const { volume } = use();
    expect(await collect(volume.list())).toEqual([]);
    expect((await volume.filter()).mayHave(absent.signature)).toBe(false);
  });

  it("a filter that has every signature, and few others", async () => {
    await storeAll();
    const { volume } = use();
    const check = async (expected: readonly { signature: string }[]) => {
      const filter = await volume.filter();
      const copy = SignatureFilter.decode(filter.encode());
      for (const { signature } of expected) expect(filter.mayHave(signature) && copy.mayHave(signature)).toBe(true);
      const strangers = Array.from({ length: 500 }, (_, i) => contentOf("sha256", `stranger ${i}`).signature);
      expect(strangers.filter((signature) => copy.mayHave(signature)).length).toBeLessThan(50);
    };
    await check(contents);
    const more = Array.from({ length: 70 }, (_, i) => contentOf("sha256", `one more ${i}`));
    for (const content of more) await volume.store(storing(content));
    await volume.remove({ ...contents[0]!, overflow: 0 });
    await check([...contents.slice(1), ...more]);
  });
}
