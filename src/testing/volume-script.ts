/**
 * A life of a volume for crash tests: stores, references, removes and migrations, step by step. The calls of one step are
 * made at once and concern different signatures, so that it is certain what each of them answers.
 */
import { hash } from "node:crypto";
import type { Volume } from "../store/index.ts";
import { MemoryVolume } from "./memory-volume.ts";
import {
  type Content,
  codecs,
  collect,
  collidingContents,
  collidingWith,
  contentIn,
  contentOf,
  encoded,
  type Handing,
  mixedBytes,
  storing,
} from "./volume-contents.ts";

export interface Call {
  readonly name: string;
  /** May be made again when it was not answered. */
  readonly make: (volume: Volume) => Promise<unknown>;
}

export type Step = readonly Call[];

/** A content among those of its signature: its place in the script's own count. */
type Place = readonly [content: Content, overflow: number];

let count = 0;

function store(content: Content, handing: Handing = {}): Call {
  const requestId = `store-${++count}`;
  return { name: requestId, make: (volume) => volume.store(storing(content, { ...handing, requestId })) };
}

function refer({ signature, size }: Content): Call {
  const requestId = `refer-${++count}`;
  return { name: requestId, make: (volume) => volume.refer({ signature, size, requestId }) };
}

function remove([{ signature }, overflow]: Place): Call {
  const requestId = `remove-${++count}`;
  return { name: requestId, make: (volume) => volume.remove({ signature, overflow }, requestId) };
}

function adopt(content: Content, references: number, ...volumes: readonly number[]): Call {
  const requestId = `adopt-${++count}`;
  const data = encoded(content, "zlib");
  const { signature, size } = content;
  const formerKeys = volumes.map((volume) => `${volume}-${signature}`);
  const block = { signature, size, overflow: 0, storedSize: data.length, compression: "zlib", references };
  return { name: requestId, make: (volume) => volume.adopt({ ...block, data, formerKeys, requestId }) };
}

function leave([{ signature }, overflow]: Place): Call {
  return {
    name: `leave-${++count}`,
    make: async (volume) => {
      const block = await volume.leave({ signature, overflow });
      return block && { ...block, data: await contentIn(block), formerKeys: block.formerKeys.toSorted() };
    },
  };
}

function left([{ signature }, overflow]: Place): Call {
  return { name: `left-${++count}`, make: (volume) => volume.left({ signature, overflow }) };
}

const [a, b, c] = collidingContents(3) as [Content, Content, Content];
const longer = collidingWith(a);

function withOtherSignatures(amount: number): Content[] {
  const found = new Map<string, Content>();
  for (let i = 0; found.size < amount; i++) {
    const content = contentOf("weak8", `specimen ${i}`.repeat(20));
    if (content.signature !== a.signature) found.set(content.signature, content);
  }
  return [...found.values()];
}

const [d, e, f, g] = withOtherSignatures(4) as [Content, Content, Content, Content];

/** Everything that a volume does, blocks that share a signature above all. */
export const VOLUME_SCRIPT: readonly Step[] = [
  [store(a)],
  [store(d, { compression: "zlib" }), store(e, { compression: "gzip" }), store(f, { mode: "compare" })],
  [store(b, { mode: "force-new" })],
  [store(c, { mode: "compare", compression: "br" }), refer(d)],
  [refer(a), remove([e, 0])],
  // The place of a block below others, and who gets it.
  [remove([b, 1])],
  [store(longer), adopt(g, 3, 4)],
  [remove([c, 2]), store(e, { mode: "force-new" })],
  [remove([longer, 1]), adopt(d, 2, 5, 6)],
  [remove([a, 0]), refer(g)],
  [remove([a, 0])],
  [store(b, { mode: "compare" }), leave([d, 0])],
  [adopt(g, 1, 7, 8), left([d, 0])],
  [store(d), leave([g, 0]), remove([f, 0])],
  [left([g, 0]), refer(b), store(f, { compression: "zstd" })],
  [adopt(f, 2, 9), remove([b, 0]), remove([d, 0])],
  [remove([f, 0]), remove([b, 0]), store(d, { mode: "force-new" })],
  [remove([f, 0])],
  [remove([f, 0])],
];

const large = contentOf("weak8", mixedBytes((1 << 20) + 1));

/** Contents that are too large to be held. */
export const LARGE_SCRIPT: readonly Step[] = [
  [store(large, { pieceSize: 400_000 })],
  [store(large, { pieceSize: 400_000, compression: "zlib", mode: "compare" }), store(e)],
  [remove([large, 0])],
  [remove([large, 0])],
];

/** Every former key of the script. */
const FORMER_KEYS = [d, f, g].flatMap(({ signature }) =>
  Array.from({ length: 10 }, (_, volume) => `${volume}-${signature}`),
);

/** All that can be seen of a volume, by signatures. */
export type Sight = ReadonlyMap<string, string>;

function textOf(content: Buffer): string {
  return content.length < 1000 ? content.toString("base64") : hash("sha1", content);
}

/** `formerKeys` are those that are followed. */
export async function sightOf(volume: Volume, formerKeys: readonly string[] = FORMER_KEYS): Promise<Sight> {
  const sight = new Map<string, string>();
  const add = (signature: string, text: string) => sight.set(signature, `${sight.get(signature) ?? ""}${text}\n`);
  for (const info of await collect(volume.list())) {
    const content = await contentIn((await volume.open(info))!);
    const { overflow, size, storedSize, compression, references } = info;
    add(info.signature, `${[overflow, size, storedSize, compression, references].join(" ")} ${textOf(content)}`);
  }
  for (const key of formerKeys) {
    const address = await volume.follow(key);
    if (address !== undefined) add(address.signature, `${key} leads to ${address.overflow}`);
  }
  return sight;
}

export interface Course {
  /** Before the first step, and after each. */
  readonly sights: readonly Sight[];
  /** Of each call, by its name. */
  readonly answers: ReadonlyMap<string, unknown>;
}

/** What the script comes to, as a map does it. */
export async function courseOf(steps: readonly Step[]): Promise<Course> {
  await using volume = new MemoryVolume(codecs, { signature: "weak8" });
  const sights = [await sightOf(volume)];
  const answers = new Map<string, unknown>();
  for (const step of steps) {
    for (const { name, make } of step) answers.set(name, await make(volume));
    sights.push(await sightOf(volume));
  }
  return { sights, answers };
}
