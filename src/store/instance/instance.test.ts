import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { ArchiveError } from "../../base/index.ts";
import {
  allOf,
  collidingContents,
  contentFor,
  InstanceFixture,
  type InstanceSetting,
  putInto,
  repeatable,
  textAt,
} from "../../testing/instance-fixture.ts";
import { gather } from "../codec.ts";
import { type ContentKey, formatContentKey } from "../content-key.ts";
import { signatureOf } from "../signature.ts";
import { Instance } from "./instance.ts";
import type { MemberSpec } from "./member.ts";

function setUp(count: number, setting: InstanceSetting = {}) {
  const fixture = new InstanceFixture(count, setting);
  const { volumes, inner, warnings, codecs } = fixture;
  const pass = (ms: number) => {
    fixture.nowMs += ms;
  };
  const open = () => fixture.open();
  const calls = () => fixture.calls();
  return { instance: open(), open, calls, volumes, inner, warnings, codecs, pass };
}

const contentOf = (text: string) => Buffer.from(text);

describe("storing", () => {
  it("puts a content into its home, and counts a reference for the second one", async () => {
    const { instance, inner } = setUp(3);
    const content = contentFor(2, 3);
    const first = await instance.store(content);
    expect(first).toMatchObject({ outcome: "new", references: 1, size: content.length, copies: 1 });
    expect(first.key).toEqual({ volume: 2, signature: signatureOf("sha256", content), overflow: 0 });
    expect(await instance.store(content)).toMatchObject({ key: first.key, outcome: "duplicate", references: 2 });
    expect(inner.map(({ blocks }) => blocks.size)).toEqual([0, 0, 1]);
    expect(await textAt(instance, first.key)).toBe(content.toString());
  });

  it("does not send a duplicate, and does not compress it either", async () => {
    const { instance, calls } = setUp(1);
    const content = contentFor(0, 1);
    await instance.store(content);
    calls();
    let reads = 0;
    const stream = repeatable(() => {
      reads++;
      return [content];
    });
    expect(await instance.store(stream, { compression: "zstd" })).toMatchObject({ outcome: "duplicate" });
    expect(reads).toBe(1);
    expect(calls()).toEqual(["refer"]);
  });

  it("has the answers of the modes: sizes, bytes, nothing", async () => {
    const { instance } = setUp(1, { signature: "weak8" });
    const [one, same, longer] = collidingContents(2, 1) as [Buffer, Buffer, Buffer];
    const first = await instance.store(one, { mode: "regular" });
    expect(await instance.store(same, { mode: "regular" })).toMatchObject({ key: first.key, outcome: "duplicate" });
    const overflow = await instance.store(longer, { mode: "regular" });
    expect(overflow).toMatchObject({ outcome: "new", key: { ...first.key, overflow: 1 } });
    const compared = await instance.store(same, { mode: "compare" });
    expect(compared).toMatchObject({ outcome: "new", key: { ...first.key, overflow: 2 } });
    expect(await instance.store(same, { mode: "compare" })).toMatchObject({ outcome: "duplicate", key: compared.key });
    const forced = await instance.store(one, { mode: "force-new" });
    expect(forced).toMatchObject({ outcome: "new", key: { ...first.key, overflow: 3 } });
    for (const [{ key }, content] of [
      [first, one],
      [compared, same],
      [overflow, longer],
      [forced, one],
    ] as const) {
      expect(await textAt(instance, key)).toBe(content.toString());
    }
  });

  it("finds a duplicate in any volume, and in one that is read-only", async () => {
    const { instance, inner } = setUp(3, { states: ["writable", "read-only", "writable"] });
    const content = contentFor(0, 2);
    const { key } = await instance.store(content, { volume: 2 });
    expect(await instance.store(content)).toMatchObject({ key, outcome: "duplicate", references: 2 });
    const other = contentFor(1, 2);
    await putInto(inner[1]!, other);
    expect(await instance.store(other)).toMatchObject({ outcome: "duplicate", key: { volume: 1 } });
    expect(await instance.store(other, { mode: "compare" })).toMatchObject({
      outcome: "duplicate",
      key: { volume: 1 },
    });
    expect(await instance.store(other, { mode: "force-new" })).toMatchObject({ outcome: "new", key: { volume: 2 } });
  });

  it("takes the volume that the client names, and no other", async () => {
    const { instance, calls } = setUp(3, { states: ["writable", "writable", "read-only"] });
    const content = contentFor(0, 2);
    await instance.store(content);
    calls();
    expect(await instance.store(content, { volume: 1 })).toMatchObject({ outcome: "new", key: { volume: 1 } });
    expect(calls()).toEqual(["", "store", ""]);
    await expect(instance.store(content, { volume: 2 })).rejects.toMatchObject({ code: "HT_READ_ONLY" });
    await expect(instance.store(content, { volume: 3 })).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
  });

  it("keeps contents as the client compresses them", async () => {
    const { instance, inner } = setUp(1);
    const text = Buffer.from("All happy families are alike. ".repeat(100));
    for (const compression of ["none", "zlib", "gzip", "br", "zstd"]) {
      const { key } = await instance.store(text, { compression, mode: "force-new" });
      expect(await instance.stat(key)).toMatchObject({ compression, size: text.length, references: 1, volume: 0 });
      expect(await textAt(instance, key)).toBe(text.toString());
    }
    expect(await instance.store(text, { mode: "force-new" })).toMatchObject({ compression: "zstd" });
    const picture = { mode: "force-new", contentType: "image/png" } as const;
    expect(await instance.store(text, picture)).toMatchObject({ compression: "none" });
    expect(inner[0]!.blocks.size).toBe(7);
    await expect(instance.store(text, { compression: "rar" })).rejects.toMatchObject({ code: "HT_CODEC" });
    await expect(instance.store(text, { compression: "tally" })).rejects.toMatchObject({ code: "HT_CODEC" });
  });

  it("reads a stream twice: for its signature, and to send it", async () => {
    const { instance } = setUp(2);
    const pieces = Array.from({ length: 50 }, (_, i) => Buffer.alloc(10_000, i));
    let reads = 0;
    const stream = repeatable(() => {
      reads++;
      return pieces;
    });
    const { key, size } = await instance.store(stream, { compression: "gzip" });
    expect(reads).toBe(2);
    expect(size).toBe(500_000);
    const retrieved = await instance.retrieve(key);
    expect(Buffer.compare(await gather(retrieved!.content, 1 << 20), Buffer.concat(pieces))).toBe(0);
  });

  it("takes what can be read only once, as long as it is small", async () => {
    const { instance } = setUp(1);
    const once = (size: number) => Readable.from(Array.from({ length: size / 1000 }, () => Buffer.alloc(1000, 7)));
    expect(await instance.store(once(5000))).toMatchObject({ outcome: "new", size: 5000 });
    const generated = Readable.from([contentOf("x")])[Symbol.asyncIterator]();
    expect(await instance.store(generated as AsyncIterableIterator<Buffer>)).toMatchObject({ size: 1 });
    await expect(instance.store(once(2_000_000))).rejects.toMatchObject({ code: "HT_TOO_LARGE" });
  });

  it("does not believe a stream that changes between its readings", async () => {
    const { instance, inner } = setUp(1);
    let reads = 0;
    const stream = repeatable(() => [Buffer.from(`reading ${reads++}`)]);
    await expect(instance.store(stream, { compression: "none" })).rejects.toMatchObject({ code: "HT_SIGNATURE" });
    expect(inner[0]!.blocks.size).toBe(0);
  });

  it("counts once what is said again with its request id", async () => {
    const { instance } = setUp(3);
    const content = contentFor(1, 3);
    const first = await instance.store(content, { requestId: "a-1" });
    expect(await instance.store(content, { requestId: "a-1" })).toMatchObject({ key: first.key });
    expect(await instance.stat(first.key)).toMatchObject({ references: 1 });
    await instance.store(content, { requestId: "a-2" });
    await instance.delete(first.key, { requestId: "a-3" });
    await instance.delete(first.key, { requestId: "a-3" });
    expect(await instance.stat(first.key)).toMatchObject({ references: 1 });
  });
});

describe("asking", () => {
  it("one volume and no other for what is new, once the filters are there, however many volumes there are", async () => {
    for (const count of [1, 2, 4, 8]) {
      const { instance, calls } = setUp(count);
      for (let i = 0; i < 40; i++) await instance.store(contentOf(`before ${i}`));
      await instance.refreshFilters();
      calls();
      for (let i = 0; i < 500; i++) await instance.store(contentOf(`after ${i} with ${count} volumes`));
      const asked = calls().join(" ").split(" ");
      // Filters let one in a hundred through: that is the cost of each further volume, at most 3 %.
      const inVain = asked.filter((name) => name !== "store" && name !== "filter" && name !== "").length;
      expect(asked.filter((name) => name === "store")).toHaveLength(500);
      expect(inVain / 500).toBeLessThan(0.03 * count);
    }
  });

  it("one volume and no other for what is a duplicate", async () => {
    const { instance, calls } = setUp(8);
    const contents = Array.from({ length: 200 }, (_, i) => contentOf(`content ${i}`));
    for (const content of contents) await instance.store(content);
    await instance.refreshFilters();
    calls();
    for (const content of contents) expect(await instance.store(content)).toMatchObject({ outcome: "duplicate" });
    const asked = calls()
      .join(" ")
      .split(" ")
      .filter((name) => name !== "filter" && name !== "");
    expect(asked.filter((name) => name === "refer")).toHaveLength(200);
    expect(asked.length - 200).toBeLessThan(200 * 0.03 * 8);
  });

  it("all volumes at once, as long as nothing is known of them; and one reference is counted", async () => {
    const { instance, calls, inner } = setUp(4);
    const content = contentFor(1, 4);
    await putInto(inner[3]!, content);
    await putInto(inner[0]!, content);
    expect(await instance.store(content)).toMatchObject({ outcome: "duplicate", key: { volume: 0 } });
    expect(calls().map((asked) => asked.replace("describe ", ""))).toEqual(["find refer", "refer", "find", "find"]);
    expect([0, 3].map((i) => [...inner[i]!.blocks.values()][0]!.references)).toEqual([2, 1]);
  });

  it("in compare mode sends the bytes only to where a block of this size is", async () => {
    const { instance, calls, inner } = setUp(3);
    const content = contentFor(1, 3);
    await instance.refreshFilters();
    calls();
    expect(await instance.store(content, { mode: "compare" })).toMatchObject({ outcome: "new", key: { volume: 1 } });
    expect(calls()).toEqual(["", "store", ""]);
    expect(await instance.store(content, { mode: "compare" })).toMatchObject({ outcome: "duplicate" });
    expect(calls()).toEqual(["", "store", ""]);
    await putInto(inner[2]!, content);
    await instance.refreshFilters();
    calls();
    expect(await instance.store(content, { mode: "compare" })).toMatchObject({ key: { volume: 1 }, references: 3 });
    expect(calls()).toEqual(["", "find refer", "find"]);
  });

  it("finds what other clients stored, with the next filter at the latest", async () => {
    const { instance, open } = setUp(3);
    const other = open();
    await instance.refreshFilters();
    const content = contentFor(0, 3);
    const { key } = await other.store(content, { volume: 2 });
    // The filter does not know of it: a duplicate in another volume, and nothing lost.
    const mine = await instance.store(content);
    expect(mine).toMatchObject({ outcome: "new", key: { volume: 0 } });
    const late = contentFor(1, 3);
    const { key: lateKey } = await other.store(late, { volume: 2 });
    await instance.refreshFilters();
    expect(await instance.store(late)).toMatchObject({ key: lateKey, outcome: "duplicate" });
    expect(await textAt(instance, key)).toBe(content.toString());
    // In its home it is found whatever the filter says: the volume looks for itself.
    const third = contentFor(2, 3, "third");
    await other.store(third);
    expect(await instance.store(third)).toMatchObject({ outcome: "duplicate", references: 2 });
  });
});

describe("a volume that does not answer", () => {
  it("is passed over with one warning; its contents answer that, and everything else goes on", async () => {
    const { instance, volumes, warnings, pass } = setUp(3);
    const [a, b] = [contentFor(1, 3, "a"), contentFor(2, 3, "b")];
    const [keyA, keyB] = [(await instance.store(a)).key, (await instance.store(b)).key];
    volumes[1]!.isDown = true;
    await expect(instance.retrieve(keyA)).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    await expect(instance.stat(keyA)).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    await expect(instance.delete(keyA)).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    expect(await textAt(instance, keyB)).toBe(b.toString());
    const c = contentFor(1, 3, "c");
    const stored = await instance.store(c);
    expect(stored).toMatchObject({ outcome: "new", key: { volume: 2 } });
    expect(warnings).toEqual([
      { code: "HT_PEER_UNAVAILABLE", volume: "volume-1", message: expect.stringContaining("passed over") as string },
    ]);
    expect(await instance.volumes()).toMatchObject([
      { name: "volume-0", description: { blocks: 0 } },
      { name: "volume-1", error: { code: "HT_PEER_UNAVAILABLE" } },
      { name: "volume-2", description: { blocks: 2 } },
    ]);
    volumes[1]!.isDown = false;
    pass(60_000);
    expect(await textAt(instance, keyA)).toBe(a.toString());
    expect(await instance.store(contentFor(1, 3, "d"))).toMatchObject({ key: { volume: 1 } });
    // What went elsewhere meanwhile is found there.
    expect(await instance.store(c)).toMatchObject({ key: stored.key, outcome: "duplicate" });
  });

  it("is asked again where there is no other", async () => {
    const { instance, volumes } = setUp(1);
    volumes[0]!.isDown = true;
    await expect(instance.store(contentOf("x"))).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    volumes[0]!.isDown = false;
    expect(await instance.store(contentOf("x"))).toMatchObject({ outcome: "new" });
  });

  it("because it became read-only, or full, leaves it to the next one", async () => {
    const { instance, inner, volumes, warnings } = setUp(3);
    inner[0]!.state = "read-only";
    expect(await instance.store(contentFor(0, 3))).toMatchObject({ key: { volume: 1 } });
    volumes[1]!.faultAt = (call) => {
      if (call === "store") throw new ArchiveError("HT_NO_SPACE", "the disk is full");
      return undefined;
    };
    expect(await instance.store(contentFor(0, 3, "other"))).toMatchObject({ key: { volume: 2 } });
    expect(warnings.map(({ code }) => code)).toEqual(["HT_READ_ONLY", "HT_READ_ONLY", "HT_NO_SPACE"]);
    inner[2]!.state = "read-only";
    await expect(instance.store(contentFor(0, 3, "third"))).rejects.toMatchObject({ code: "HT_READ_ONLY" });
  });

  it("of another signature is not taken", async () => {
    const { volumes, codecs } = setUp(1, { signature: "sha1" });
    const member: MemberSpec = {
      name: "v",
      state: "writable",
      weight: 1,
      open: () => Promise.resolve(volumes[0]!.volume),
    };
    const instance = new Instance({ signature: "sha256", replicas: 1, members: [member] }, { codecs });
    await expect(instance.store(contentOf("x"))).rejects.toMatchObject({ code: "HT_USAGE" });
  });
});

describe("a volume that is in an instance twice", () => {
  it("is not taken: it would be its own replica", async () => {
    const { volumes, codecs } = setUp(1);
    const instance = await Instance.of([volumes[0]!.volume, volumes[0]!.volume], { codecs, replicas: 2 });
    await expect(instance.store(contentOf("x"))).rejects.toMatchObject({ code: "HT_USAGE" });
    expect(volumes[0]!.inner.blocks.size).toBe(0);
  });
});

describe("retrieving", () => {
  it("gives nothing for what is not there", async () => {
    const { instance } = setUp(2);
    const { key } = await instance.store(contentOf("x"));
    expect(await instance.retrieve({ ...key, overflow: 1 })).toBeUndefined();
    expect(await instance.stat({ ...key, signature: key.signature.replace(/./, "0") })).toBeUndefined();
    expect(await instance.delete({ ...key, volume: 1 - key.volume })).toBeUndefined();
    await expect(instance.retrieve({ ...key, volume: 2 })).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
  });

  it.each(["none", "zlib", "gzip", "br", "zstd"])("finds out where bytes were changed: %s", async (compression) => {
    const { instance, inner } = setUp(1);
    const content = Buffer.from("All happy families are alike. ".repeat(10));
    const { key } = await instance.store(content, { compression });
    const [block] = inner[0]!.blocks.values();
    for (let at = 0; at < block!.data.length; at += 7) {
      const before = block!.data;
      block!.data = Buffer.from(before);
      block!.data[at]! ^= 0x10;
      let text: string | undefined;
      try {
        text = await textAt(instance, key);
      } catch (error) {
        expect(error).toMatchObject({ code: "HT_CORRUPT" });
      }
      // A bit of a header that means nothing may change nothing.
      if (text !== undefined) expect(text).toBe(content.toString());
      block!.data = before;
    }
    Object.assign(block!, { size: content.length - 1 });
    await expect(instance.retrieve(key)).rejects.toMatchObject({ code: "HT_CORRUPT" });
  });

  it("finds it out at the end of a stream", async () => {
    const { instance, volumes, inner, codecs } = setUp(1);
    const { key } = await instance.store(contentOf("as it was"), { compression: "none" });
    const block = [...inner[0]!.blocks.values()][0]!;
    const pieces = { ...block, data: [contentOf("as it "), contentOf("is!")] };
    const asStream = new Proxy(volumes[0]!.volume, {
      get: (target, name) =>
        name === "open"
          ? () => Promise.resolve({ ...pieces, data: Readable.from(pieces.data) })
          : Reflect.get(target, name, target),
    });
    const other = await Instance.of([asStream], { codecs });
    const retrieved = await other.retrieve(key);
    await expect(gather(retrieved!.content, 100)).rejects.toMatchObject({ code: "HT_CORRUPT" });
  });

  it("many gives them in the order of their keys, and says what is missing", async () => {
    const { instance, volumes, pass } = setUp(3);
    const contents = Array.from({ length: 1300 }, (_, i) => contentOf(`content ${i}`));
    const keys: ContentKey[] = [];
    for await (const answer of instance.storeAll(contents.map((content) => ({ content })))) {
      keys.push(("stored" in answer && answer.stored.key) as ContentKey);
    }
    const absent = { ...keys[5]!, overflow: 9 };
    const nowhere = { ...keys[5]!, volume: 77 };
    const asked = [keys[3]!, absent, ...keys, nowhere, keys[3]!];
    const texts: (string | undefined)[] = [];
    for await (const { retrieved, error } of instance.retrieveAll(asked)) {
      texts.push(error?.code ?? (retrieved && Buffer.from(await gather(retrieved.content, 100)).toString()));
    }
    const all = contents.map((content) => content.toString());
    expect(texts).toEqual(["content 3", undefined, ...all, "HT_NOT_FOUND", "content 3"]);
    volumes[0]!.isDown = true;
    pass(10_000);
    const codes = new Map<string, number>();
    for await (const { key, retrieved, error } of instance.retrieveAll(keys)) {
      const code = error?.code ?? (retrieved === undefined ? "absent" : "there");
      expect(code).toBe(key.volume === 0 ? "HT_PEER_UNAVAILABLE" : "there");
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(codes.size).toBe(2);
  });
});

describe("deleting and listing", () => {
  it("takes back references, and the content with the last one", async () => {
    const { instance } = setUp(2);
    const { key } = await instance.store(contentOf("x"));
    await instance.store(contentOf("x"));
    expect(await instance.delete(key)).toMatchObject({ references: 1 });
    expect(await instance.delete(key)).toMatchObject({ references: 0 });
    expect(await instance.delete(key)).toBeUndefined();
    expect(await instance.retrieve(key)).toBeUndefined();
  });

  it("lists volume by volume, from behind a key on, and passes over who does not answer", async () => {
    const { instance, volumes } = setUp(3);
    for (let i = 0; i < 30; i++) await instance.store(contentOf(`content ${i}`));
    const all = await allOf(instance.list());
    const keys = all.map(({ key }) => formatContentKey(key));
    expect(keys).toHaveLength(30);
    expect(keys).toEqual([...keys].sort());
    const later = await allOf(instance.list({ after: all[11]!.key }));
    expect(later).toEqual(all.slice(12));
    const one = await allOf(instance.list({ volume: 1 }));
    expect(one).toEqual(all.filter(({ volume }) => volume === 1));
    volumes[1]!.isDown = true;
    expect(await allOf(instance.list())).toEqual(all.filter(({ volume }) => volume !== 1));
  });

  it("knows its volumes by number and by name", () => {
    const { instance } = setUp(3);
    expect([instance.numberOf("2"), instance.numberOf("volume-1")]).toEqual([2, 1]);
    expect(() => instance.numberOf("3")).toThrow(/no volume 3/);
    expect(() => instance.numberOf("c")).toThrow(/volume-0, volume-1, volume-2/);
  });
});
