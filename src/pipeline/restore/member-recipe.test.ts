import { deflateRawSync, gunzipSync, gzipSync } from "node:zlib";
import { deflateRaw } from "pako";
import { beforeAll, describe, expect, it } from "vitest";
import { gzipHeader, gzipMember, gzipTrailer } from "../../testing/gzip-member.ts";
import { bufferSource, type Compression, loadZstd, WarcReader, WarcWriter } from "../../warc/index.ts";
import { MemberEncoder, type MemberRecipe, recipesFor, type StoredMember, storedMemberOf } from "./member-recipe.ts";
import { RecipeFinder } from "./member-recipe-finder.ts";

beforeAll(loadZstd);

/** A text in which levels of compression make a difference. */
function textOf(seed: number, size: number): Buffer {
  const words = ["specimen", "of", "the", "cabinet", "described", "in", "holotype", "drawer", "label", "beetle"];
  let text = "";
  for (let state = seed + 7; text.length < size; ) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    text += `${words[(state >>> 16) % words.length]}${(state >>> 8) % 7 === 0 ? state : ""} `;
  }
  return Buffer.from(text.slice(0, size));
}

const HEAD = headOf(0);
const SEPARATOR = Buffer.from("\r\n\r\n");
const DICTIONARY = Buffer.from("WARC/1.1\r\nWARC-Type: resource\r\n specimen of the cabinet holotype");

function headOf(size: number): Buffer {
  return Buffer.from(`WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: ${size}\r\n\r\n`);
}

interface Sample {
  readonly content: { readonly head: Buffer; readonly block: readonly Buffer[] };
  readonly size: number;
  readonly whole: Buffer;
}

function sampleOf(block: Buffer): Sample {
  const half = block.length >> 1;
  const head = headOf(block.length);
  const content = { head, block: [block.subarray(0, half), new Uint8Array(0) as Buffer, block.subarray(half)] };
  return { content, size: head.length + block.length, whole: Buffer.concat([head, block, SEPARATOR]) };
}

function encode(encoder: MemberEncoder, recipe: MemberRecipe, { content }: Sample, header = gzipHeader()): Buffer {
  const pieces: Buffer[] = [];
  encoder.encode(recipe, content, header, (bytes) => void pieces.push(Buffer.from(bytes)));
  return Buffer.concat(pieces);
}

function finderFor(compression: Compression, dictionary?: Uint8Array): RecipeFinder {
  return new RecipeFinder(compression, dictionary);
}

const TEXTS = [300, 5000, 90_000].map((size, i) => sampleOf(textOf(i, size)));

describe("a recipe", () => {
  it("for gzip gives the bytes of the compressor that it names, in pieces as at once", () => {
    const encoder = new MemberEncoder();
    for (const sample of TEXTS) {
      for (const recipe of recipesFor("gzip", false)) {
        const bytes = encode(encoder, recipe, sample, gzipHeader({ name: "x" }));
        expect(gunzipSync(bytes).equals(sample.whole)).toBe(true);
        if (recipe.codec === "none" || recipe.codec === "zstd" || (recipe.codec === "pako" && recipe.flushed)) continue;
        const { level, memLevel } = recipe;
        const deflated =
          recipe.codec === "node"
            ? deflateRawSync(sample.whole, { level, memLevel })
            : Buffer.from(deflateRaw(sample.whole, { level: level as 6, memLevel }));
        const wanted = Buffer.concat([gzipHeader({ name: "x" }), deflated, gzipTrailer(sample.whole)]);
        expect({ recipe, same: bytes.equals(wanted) }).toEqual({ recipe, same: true });
      }
    }
  });

  it("for zstd gives frames that are read as the record, with and without dictionary and checksum", () => {
    const encoder = new MemberEncoder(DICTIONARY);
    const large = sampleOf(textOf(9, (4 << 20) + 1000));
    for (const sample of [...TEXTS, large]) {
      for (const recipe of recipesFor("zstd", sample !== large)) {
        if (recipe.codec !== "zstd" || recipe.level > (sample === large ? 1 : 3)) continue;
        const frames = encode(encoder, recipe, sample);
        const dictionary = Buffer.concat([
          Buffer.from([0x5d, 0x2a, 0x4d, 0x18, DICTIONARY.length, 0, 0, 0]),
          DICTIONARY,
        ]);
        const record = new WarcReader(bufferSource(Buffer.concat([dictionary, frames])), { strict: true }).next();
        const block = Buffer.concat(sample.content.block);
        expect({ recipe, same: record?.readAll(1 << 24).equals(block) }).toEqual({ recipe, same: true });
      }
    }
  });
});

describe("the finder", () => {
  const stored = (bytes: Buffer, header = bytes.subarray(0, 10)): StoredMember => storedMemberOf(bytes, header);

  it("finds the recipe of a file from records that are as they were", () => {
    const recipes: MemberRecipe[] = [
      { codec: "node", level: 6, memLevel: 8 },
      { codec: "node", level: 1, memLevel: 8 },
      { codec: "node", level: 9, memLevel: 9 },
      { codec: "pako", level: 9, memLevel: 8, flushed: false },
      { codec: "pako", level: 6, memLevel: 8, flushed: true },
    ];
    for (const recipe of recipes) {
      const encoder = new MemberEncoder();
      const samples = TEXTS.map((sample) => ({ ...sample, stored: stored(encode(encoder, recipe, sample)) }));
      const finder = finderFor("gzip");
      finder.learn(samples.slice(0, 2).reverse());
      const last = samples[2]!;
      const { bytes, identical } = finder.encode(last.content, last.size, last.stored);
      expect({ recipe, identical, same: bytes.equals(encode(encoder, recipe, last)) }).toEqual({
        recipe,
        identical: true,
        same: true,
      });
    }
  });

  it("finds it anew where a file was put together from others", () => {
    const finder = finderFor("gzip");
    const encoder = new MemberEncoder();
    const recipes: MemberRecipe[] = [
      { codec: "pako", level: 6, memLevel: 8, flushed: false },
      { codec: "node", level: 9, memLevel: 8 },
    ];
    for (let i = 0; i < 12; i++) {
      const sample = sampleOf(textOf(i, 3000 + i));
      const member = encode(encoder, recipes[i % 2]!, sample);
      expect(finder.encode(sample.content, sample.size, stored(member)).bytes.equals(member)).toBe(true);
    }
  });

  it("gives up on a compressor that is not here, and gives sound members all the same", () => {
    const finder = finderFor("gzip");
    let encodedCount = 0;
    for (let i = 0; i < 40; i++) {
      const sample = sampleOf(textOf(i, 2000));
      const content = {
        head: sample.content.head,
        get block() {
          encodedCount++;
          return sample.content.block;
        },
      };
      const strange = stored(gzipMember(textOf(99, 50)));
      const { bytes, identical } = finder.encode(content, sample.size, strange);
      expect({ identical, same: gunzipSync(bytes).equals(sample.whole) }).toEqual({ identical: false, same: true });
    }
    // Six records by all recipes, the others by one.
    expect(encodedCount).toBeLessThan(6 * recipesFor("gzip", false).length + 40);
  });

  it("compresses no more than its limit in vain", () => {
    const finder = finderFor("gzip");
    const sample = sampleOf(Buffer.alloc(4 << 20, "x"));
    let encodedCount = 0;
    const content = {
      head: HEAD,
      get block() {
        encodedCount++;
        return sample.content.block;
      },
    };
    for (let i = 0; i < 4; i++) finder.encode(content, sample.size, stored(gzipMember(textOf(99, 50))));
    expect(encodedCount * sample.size).toBeLessThan((96 + 40 + 5 * 4) << 20);
  });

  it("takes the header of a neighbour where nothing else is known of a record", () => {
    const finder = finderFor("gzip");
    const neighbour = gzipSync(TEXTS[1]!.whole);
    finder.learn([{ ...TEXTS[1]!, stored: stored(neighbour) }]);
    const { bytes } = finder.encode(TEXTS[0]!.content, TEXTS[0]!.size, undefined);
    expect(bytes.equals(gzipSync(TEXTS[0]!.whole))).toBe(true);
  });

  it("streams by the recipe that it has found", () => {
    const parts: Buffer[] = [];
    const sink = { write: (bytes: Uint8Array) => void parts.push(Buffer.from(bytes)) };
    const writer = new WarcWriter(sink, { compression: "zstd", level: 9 });
    const [learnt, large] = [sampleOf(textOf(1, 200_000)), sampleOf(textOf(2, (4 << 20) + 1000))];
    writer.writeStream(learnt.content.head, learnt.content.block);
    const finder = finderFor("zstd");
    finder.learn([{ ...learnt, stored: storedMemberOf(Buffer.concat(parts.splice(0)), undefined) }]);
    expect(finder.recipe).toEqual({ codec: "zstd", level: 9, dictionary: false, checksum: true });
    const streamed: Buffer[] = [];
    finder.stream(large.content, undefined, (bytes) => void streamed.push(Buffer.from(bytes)));
    writer.writeStream(large.content.head, large.content.block);
    expect(Buffer.concat(streamed).equals(Buffer.concat(parts))).toBe(true);
  });
});
