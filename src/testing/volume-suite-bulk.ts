/** Of the suite of volumes: many requests in one call, and many calls at once. */
import { expect, it } from "vitest";
import type { ArchiveError } from "../base/index.ts";
import type { StoreRequest } from "../store/index.ts";
import { collect, contentIn, contentOf, mixedBytes, storing } from "./volume-contents.ts";
import type { Use } from "./volume-suite.ts";

const contents = Array.from({ length: 20 }, (_, i) => contentOf("sha256", `specimen ${i}`.repeat(i + 1)));
const large = contentOf("sha256", mixedBytes(1_200_000));

export function describeBulk(use: Use): void {
  it("stores one after the other and answers in order, also where one is refused", async () => {
    const { volume } = use();
    const requests = (): StoreRequest[] => [
      ...contents.slice(0, 5).map((content) => storing(content, { compression: "zstd" })),
      { ...storing(contents[5]!), size: 1 },
      storing(large, { pieceSize: 50_000 }),
      storing(contents[0]!),
      { ...storing(contents[6]!), compression: "lzma" },
      ...contents.slice(5).map((content) => storing(content)),
    ];
    async function* later() {
      for (const request of requests()) {
        await new Promise((resolve) => setImmediate(resolve));
        yield request;
      }
    }
    for (const [round, given] of [requests(), later()].entries()) {
      const answers = await collect(volume.storeAll(given));
      expect(answers).toHaveLength(requests().length);
      for (const [i, request] of requests().entries()) {
        const answer = answers[i]!;
        if (i === 5) expect(answer).toMatchObject({ error: { code: "HT_SIGNATURE" } });
        else if (i === 8) expect(answer).toMatchObject({ error: { code: "HT_CODEC" } });
        else expect(answer).toMatchObject({ receipt: { signature: request.signature, size: request.size } });
      }
      expect(await volume.describe()).toMatchObject({ blocks: 21, references: 22 * (round + 1) });
    }
    expect(await collect(volume.storeAll([]))).toEqual([]);
  });

  it("counts references among many stores, where there is something to refer to", async () => {
    const { volume } = use();
    const [one, other] = [contents[3]!, contents[4]!];
    const counting = ({ signature, size }: typeof one, requestId?: string) => ({ signature, size, requestId });
    await volume.store(storing(one));
    const requests = [
      counting(one, "named"),
      counting(one, "named"),
      counting({ ...one, size: one.size + 1 }),
      storing(other),
      counting(contents[5]!),
      counting(one, "a b"),
      counting(one),
    ];
    const told = (await collect(volume.storeAll(requests))).map((answer) =>
      "receipt" in answer ? [answer.receipt.outcome, answer.receipt.references] : (answer.error as ArchiveError).code,
    );
    const counted = (references: number) => ["duplicate", references];
    const none = "HT_NOT_FOUND";
    expect(told).toEqual([counted(2), counted(2), none, ["new", 1], none, "HT_USAGE", counted(3)]);
    expect(await volume.find([one.signature, contents[5]!.signature])).toMatchObject([[{ references: 3 }], []]);
  });

  it("opens many blocks in order, absent where there is none", async () => {
    const { volume } = use();
    await collect(volume.storeAll(contents.map((content) => storing(content, { compression: "br" }))));
    await volume.store(storing(large, { compression: "zlib" }));
    const wanted = [contents[3]!, large, contents[0]!, contents[3]!, contentOf("sha256", "absent"), contents[19]!];
    const found: (Buffer | undefined)[] = [];
    for await (const block of volume.openAll(wanted.map(({ signature }) => ({ signature, overflow: 0 })))) {
      found.push(block === undefined ? undefined : await contentIn(block));
    }
    expect(found.map((bytes) => bytes?.length)).toEqual(wanted.map(({ size }, i) => (i === 4 ? undefined : size)));
    for (const [i, { bytes }] of wanted.entries()) if (i !== 4) expect(found[i]!.equals(bytes)).toBe(true);
    // Data that nobody takes does not keep the next block back.
    const sizes: (number | undefined)[] = [];
    async function* addresses() {
      for (const { signature } of wanted) yield await Promise.resolve({ signature, overflow: 0 });
    }
    for await (const block of volume.openAll(addresses())) sizes.push(block?.size);
    expect(sizes).toEqual(wanted.map(({ size }, i) => (i === 4 ? undefined : size)));
  });
}

export function describeConcurrency(use: Use): void {
  it.each([
    ["small", contents[0]!],
    ["large", large],
  ] as const)("two that store the same new %s content end with one block", async (_, content) => {
    const { volume } = use();
    const requests = [storing(content), storing(content, { compression: "zlib" })];
    const receipts = await Promise.all(requests.map((request) => volume.store(request)));
    expect(receipts.map(({ outcome }) => outcome).toSorted()).toEqual(["duplicate", "new"]);
    expect(receipts.map(({ references }) => references).toSorted((a, b) => a - b)).toEqual([1, 2]);
    expect(await volume.find([content.signature])).toMatchObject([[{ references: 2, overflow: 0 }]]);
    expect(await volume.describe()).toMatchObject({ blocks: 1, references: 2 });
  });

  it("every reference of many counts", async () => {
    const { volume } = use();
    const some = contents.slice(0, 4);
    const rounds = Array.from({ length: 15 }, () => some).flat();
    const receipts = await Promise.all(
      rounds.map((content, i) => volume.store(storing(content, { mode: i % 2 === 0 ? "regular" : "compare" }))),
    );
    expect(receipts.filter(({ outcome }) => outcome === "new")).toHaveLength(4);
    for (const content of some) {
      const counts = receipts.filter(({ signature }) => signature === content.signature).map((each) => each.references);
      expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, i) => i + 1));
    }
    await Promise.all(rounds.slice(4).map((content) => volume.remove({ ...content, overflow: 0 })));
    expect(await volume.describe()).toMatchObject({ blocks: 4, references: 4 });
    const last = await Promise.all(rounds.slice(0, 8).map((content) => volume.remove({ ...content, overflow: 0 })));
    expect(last.filter((info) => info === undefined)).toHaveLength(4);
    expect(await volume.describe()).toMatchObject({ blocks: 0, references: 0 });
  });

  it("blocks that share a signature get numbers of their own", async () => {
    const { volume } = use();
    const request = () => volume.store(storing(contents[1]!, { mode: "force-new" }));
    const receipts = await Promise.all(Array.from({ length: 10 }, request));
    const numbers = receipts.map(({ overflow }) => overflow).toSorted((a, b) => a - b);
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("stores and removes of one content leave what they should", async () => {
    const { volume } = use();
    const address = await volume.store(storing(contents[2]!));
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        i % 3 === 2 ? volume.remove(address) : volume.store(storing(contents[2]!, { compression: "gzip" })),
      ),
    );
    const removed = results.filter((result, i) => i % 3 === 2 && result !== undefined).length;
    expect(await volume.find([address.signature])).toMatchObject([[{ references: 21 - removed }]]);
  });
}
