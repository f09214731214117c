/** Of the suite of volumes: the three steps by which a block goes from one volume to another. */
import { expect, it } from "vitest";
import type { AdoptRequest } from "../store/index.ts";
import {
  type Content,
  contentIn,
  contentOf,
  encoded,
  inPieces,
  mixedBytes,
  retrieve,
  storing,
} from "./volume-contents.ts";
import type { Use } from "./volume-suite.ts";

const page = contentOf("sha256", "a beetle that changes drawers ".repeat(9));
const other = contentOf("sha256", "one that stays");
const large = contentOf("sha256", mixedBytes(1_400_000));
const MOVING = { code: "HT_MOVING" };

function adoption(content: Content, rest: Partial<AdoptRequest> & { compression?: string } = {}): AdoptRequest {
  const { compression = "zlib", ...more } = rest;
  const data = encoded(content, compression);
  const { signature, size } = content;
  const formerKeys = [`5-${signature}-1`];
  const header = { signature, size, overflow: 1, storedSize: data.length, compression, references: 3 };
  return { ...header, data, formerKeys, requestId: `adoption-${signature}`, ...more };
}

export function describeMigration(use: Use): void {
  it("a block that leaves can be read, but not counted, until it is left", async () => {
    const fixture = use();
    const address = await fixture.volume.store(storing(page, { compression: "gzip" }));
    await fixture.volume.refer(page);
    await fixture.volume.store(storing(other));
    for (let round = 0; round < 3; round++) {
      const { volume } = fixture;
      const leaving = (await volume.leave(address))!;
      expect(leaving).toMatchObject({ signature: page.signature, references: 2, compression: "gzip", formerKeys: [] });
      expect(await contentIn(leaving)).toEqual(page.bytes);
      await expect(volume.refer(page)).rejects.toMatchObject(MOVING);
      await expect(volume.store(storing(page))).rejects.toMatchObject(MOVING);
      await expect(volume.remove(address)).rejects.toMatchObject(MOVING);
      await expect(volume.adopt(adoption(page))).rejects.toMatchObject(MOVING);
      expect(await retrieve(volume, address)).toEqual(page.bytes);
      expect(await volume.find([page.signature])).toMatchObject([[{ references: 2 }]]);
      if (round === 1) await fixture.reopen?.();
    }
    const { volume } = fixture;
    await volume.left(address);
    await volume.left(address);
    expect(await volume.open(address)).toBeUndefined();
    expect(await volume.leave(address)).toBeUndefined();
    expect(await volume.describe()).toMatchObject({ blocks: 1, references: 1, contentBytes: other.size });
    expect(await volume.store(storing(page))).toMatchObject({ outcome: "new", overflow: 0, references: 1 });
    // The one that is there now is not the one that left.
    await volume.left(address);
    expect(await retrieve(volume, address)).toEqual(page.bytes);
  });

  it("leaves alone what does not leave", async () => {
    const { volume } = use();
    const address = await volume.store(storing(page));
    await volume.left(address);
    expect(await volume.refer(page)).toMatchObject({ references: 2 });
    expect(await volume.leave({ ...page, overflow: 1 })).toBeUndefined();
    await volume.left({ ...page, overflow: 1 });
  });

  it("a block with the number of a leaving one is not made", async () => {
    const { volume } = use();
    const address = await volume.store(storing(page));
    await volume.leave(address);
    expect(await volume.store(storing(page, { mode: "force-new" }))).toMatchObject({ overflow: 1, outcome: "new" });
    await volume.left(address);
    expect(await volume.store(storing(page))).toMatchObject({ overflow: 1, outcome: "duplicate", references: 2 });
  });

  it.each([undefined, 30_000])("takes a block with its references, in pieces of %s", async (pieceSize) => {
    const fixture = use();
    for (const content of [page, large]) {
      const request = adoption(content);
      const data = pieceSize === undefined ? request.data : inPieces(request.data as Uint8Array, pieceSize);
      const receipt = await fixture.volume.adopt({ ...request, data });
      const { signature, size, storedSize, compression } = request;
      const info = { signature, size, storedSize, compression, overflow: 0, references: 3 };
      expect(receipt).toEqual({ ...info, outcome: "new" });
      await fixture.reopen?.();
      expect((await retrieve(fixture.volume, receipt))!.equals(content.bytes)).toBe(true);
      expect(await fixture.volume.follow(`5-${signature}-1`)).toEqual({ signature, overflow: 0 });
      expect(await fixture.volume.follow(`5-${signature}`)).toBeUndefined();
      expect(await fixture.volume.follow(`4-${signature}-1`)).toBeUndefined();
    }
    expect(await fixture.volume.describe()).toMatchObject({ blocks: 2, references: 6 });
  });

  it("adds references to an equal block, and several keys lead there", async () => {
    const fixture = use();
    const address = await fixture.volume.store(storing(page));
    const formerKeys = [`5-${page.signature}-1`, `6-${page.signature}`];
    const receipt = await fixture.volume.adopt(adoption(page, { formerKeys }));
    expect(receipt).toEqual({ ...address, outcome: "duplicate", references: 4 });
    await fixture.volume.adopt(adoption(page, { formerKeys: [`9-${page.signature}`], requestId: "another" }));
    await fixture.reopen?.();
    const { volume } = fixture;
    expect(await volume.find([page.signature])).toMatchObject([[{ references: 7 }]]);
    for (const key of [...formerKeys, `9-${page.signature}`]) {
      expect(await volume.follow(key)).toEqual({ signature: page.signature, overflow: 0 });
    }
    // They go with it when it goes on.
    const leaving = (await volume.leave(address))!;
    expect(leaving.formerKeys.toSorted()).toEqual([...formerKeys, `9-${page.signature}`].toSorted());
    await volume.left(address);
    for (const key of leaving.formerKeys) expect(await volume.follow(key)).toBeUndefined();
  });

  it("forgets former keys with the last reference", async () => {
    const fixture = use();
    const address = await fixture.volume.adopt(adoption(page, { references: 1 }));
    await fixture.volume.remove(address);
    expect(await fixture.volume.follow(`5-${page.signature}-1`)).toBeUndefined();
    await fixture.volume.store(storing(page));
    await fixture.reopen?.();
    expect(await fixture.volume.follow(`5-${page.signature}-1`)).toBeUndefined();
  });

  it("lets a former key lead where the last adoption put it", async () => {
    const { volume } = use();
    await volume.adopt(adoption(page));
    await volume.store(storing(page, { mode: "force-new" }));
    await volume.leave({ ...page, overflow: 0 });
    await volume.left({ ...page, overflow: 0 });
    await volume.adopt(adoption(page, { requestId: "second" }));
    expect(await volume.follow(`5-${page.signature}-1`)).toEqual({ signature: page.signature, overflow: 1 });
    expect(await volume.find([page.signature])).toMatchObject([[{ overflow: 1, references: 4 }]]);
  });

  it("does not take what is not what it is said to be, or what cannot be", async () => {
    const { volume } = use();
    const adopt = (rest: Partial<AdoptRequest>) => volume.adopt({ ...adoption(page), ...rest });
    await expect(adopt({ signature: other.signature, formerKeys: [] })).rejects.toMatchObject({ code: "HT_SIGNATURE" });
    await expect(adopt({ size: 3 })).rejects.toMatchObject({ code: "HT_SIGNATURE" });
    await expect(adopt({ compression: "lzma" })).rejects.toMatchObject({ code: "HT_CODEC" });
    for (const references of [0, -1, 1.5, 2 ** 32]) {
      await expect(adopt({ references })).rejects.toMatchObject({ code: "HT_USAGE" });
    }
    for (const key of ["", "nonsense", `5-${other.signature}`]) {
      await expect(adopt({ formerKeys: [key] })).rejects.toMatchObject({ code: "HT_USAGE" });
    }
    expect(await volume.describe()).toMatchObject({ blocks: 0, references: 0 });
  });

  it("takes nothing when it is read-only, and gives away all the same", async () => {
    const fixture = use();
    const address = await fixture.volume.store(storing(page));
    await fixture.setState("read-only");
    const { volume } = fixture;
    await expect(volume.adopt(adoption(page))).rejects.toMatchObject({ code: "HT_READ_ONLY" });
    await expect(volume.adopt(adoption(other))).rejects.toMatchObject({ code: "HT_READ_ONLY" });
    expect(await volume.leave(address)).toBeDefined();
    await volume.left(address);
    expect(await volume.describe()).toMatchObject({ blocks: 0, references: 0 });
  });
}
