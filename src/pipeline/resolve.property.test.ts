/**
 * Collision resolution with a digest that is hardly one: the classes that come out are those of equal bytes, whatever
 * the order of the lines, the mixture of framings and compressions, and the way of comparing.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Warning } from "../base/index.ts";
import { captureBytes, noise, packRecords } from "../testing/capture-text.ts";
import { putFile } from "../testing/dedup-trial.ts";
import { newSeed } from "../testing/dice.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { loadFrames } from "../testing/zstd-frame.ts";
import { type Compression, loadZstd } from "../warc/index.ts";
import { findInputs } from "./inputs.ts";
import { createLocator } from "./locator.ts";
import { parseManifestLine } from "./manifest-line.ts";
import { RecordFetcher } from "./record-fetcher.ts";
import { equalChunks, Resolver } from "./resolve.ts";
import { runTask } from "./run.ts";

await Promise.all([loadFrames(), loadZstd()]);
const SEED = newSeed();

interface Capture {
  /** Which payload. */
  readonly payload: number;
  readonly chunks: readonly number[] | undefined;
  readonly type: string;
}

/** Few sizes, and payloads that differ early, late, or only in their last byte. */
const PAYLOADS = [90, 91, 92, 300].flatMap((size) => {
  const base = noise(`payload ${size}`, size);
  const early = Buffer.from(base);
  early[0]! ^= 1;
  const late = Buffer.from(base);
  late[size - 1]! ^= 1;
  return [base, early, late];
});

const capture: fc.Arbitrary<Capture> = fc.record({
  payload: fc.nat(PAYLOADS.length - 1),
  chunks: fc.option(fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 4 }), { nil: undefined }),
  type: fc.constantFrom("response", "response", "resource"),
});
const file = fc.record({
  compression: fc.constantFrom<Compression>("none", "gzip", "zstd"),
  captures: fc.array(capture, { minLength: 1, maxLength: 6 }),
});

/** The files on a disk, and the lines of their manifest with the weak digest. */
async function prepare(files: readonly { compression: Compression; captures: readonly Capture[] }[]) {
  const disk = new ForgetfulDisk();
  const payloads = new Map<string, number>();
  for (const [i, { compression, captures }] of files.entries()) {
    const records = captures.map(({ payload, chunks, type }, k) => {
      const uri = `http://a.example/${i}/${k}`;
      payloads.set(uri, payload);
      return captureBytes({
        uri,
        date: "2020-01-01T00:00:00Z",
        payload: PAYLOADS[payload]!,
        type,
        chunks: type === "resource" ? undefined : chunks,
      });
    });
    putFile(disk, `/in/${i}.warc`, packRecords(records, compression));
  }
  let text = "";
  const inputs = findInputs(disk, ["/in"], ({ error }) => {
    throw error;
  });
  await runTask(
    disk,
    inputs,
    { kind: "manifest", options: { digest: "md5" } },
    { threads: 1, onText: (piece) => (text += Buffer.from(piece as string).toString()) },
  );
  const lines = text.split("\n").slice(0, -1).map(weaken);
  return { disk, lines, payloads };
}

function weaken(line: string): string {
  const columns = line.split("\t");
  columns[5] = `weak:${Number(columns[6]) % 3}`;
  return columns.join("\t");
}

function digestOfLine(line: string): string {
  return line.split("\t")[5]!;
}

describe(`classes of equal payloads, seed ${SEED}`, () => {
  test("are found whatever the order, and however they are compared", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { minLength: 1, maxLength: 3 }),
        fc.infiniteStream(fc.nat()),
        fc.constantFrom(0, 91, 1 << 20),
        fc.constantFrom(0, 200, 1 << 20),
        async (files, shuffle, heldSizeMax, heldTotalMax) => {
          const { disk, lines, payloads } = await prepare(files);
          const shuffled = lines
            .map((line) => ({ line, rank: shuffle.next().value as number }))
            .sort((one, other) => one.rank - other.rank)
            .map(({ line }) => line)
            .sort((one, other) =>
              digestOfLine(one) < digestOfLine(other) ? -1 : digestOfLine(one) > digestOfLine(other) ? 1 : 0,
            );
          using fetcher = new RecordFetcher(disk, createLocator(disk, {}));
          const warnings: Warning[] = [];
          const onWarning = (warning: Warning) => void warnings.push(warning);
          const resolver = new Resolver(fetcher, { heldSizeMax, heldTotalMax, onWarning });
          const resolved = [...resolver.resolve(shuffled)].map((line) => parseManifestLine(line, "resolved"));
          expect(warnings).toEqual([]);
          expect(resolved.map(({ uri }) => uri)).toEqual(shuffled.map((line) => line.split("\t")[3]));
          const classes = new Map<number, string>();
          for (const { uri, digest, extension, flags } of resolved) {
            expect(flags).not.toContain("irreversible");
            const key = `${digest} ${extension}`;
            const payload = payloads.get(uri!)!;
            expect(classes.get(payload) ?? key).toBe(key);
            classes.set(payload, key);
          }
          // As many classes as payloads, and extensions that count from 0.
          expect(new Set(classes.values())).toHaveLength(classes.size);
          const digests = new Set(resolved.map(({ digest }) => digest));
          expect(resolver.collisions).toBe(classes.size - digests.size);
          for (const digest of digests) {
            const extensions = resolved.filter((line) => line.digest === digest).map(({ extension }) => extension!);
            expect(Math.max(...extensions)).toBe(new Set(extensions).size - 1);
          }
        },
      ),
      { seed: SEED, numRuns: 120 },
    );
  });
});

describe("a group", () => {
  const base = { date: "2020-01-01T00:00:00Z", payload: PAYLOADS[0]! };
  const record = (i: number) => captureBytes({ ...base, uri: `http://a.example/${i}` });

  async function resolveAll(change: (disk: ForgetfulDisk) => void) {
    const { disk, lines } = await prepare([
      { compression: "gzip", captures: [0, 0, 1].map((payload) => ({ payload, chunks: undefined, type: "response" })) },
      { compression: "none", captures: [0, 1].map((payload) => ({ payload, chunks: undefined, type: "response" })) },
    ]);
    change(disk);
    using fetcher = new RecordFetcher(disk, createLocator(disk, {}));
    const warnings: Warning[] = [];
    const resolver = new Resolver(fetcher, { onWarning: (warning) => void warnings.push(warning) });
    const resolved = [...resolver.resolve(lines.toSorted())].map((line) => parseManifestLine(line, "resolved"));
    return { resolver, warnings, resolved };
  }

  test("is read as often as it must, and no more", async () => {
    const { resolver, resolved } = await resolveAll(() => {});
    expect(resolved.map(({ extension }) => extension)).toEqual([0, 0, 1, 0, 1]);
    expect(resolver.compared).toBe(1 + 1 + 1 + 2);
    expect(resolver.collisions).toBe(1);
  });

  test("whose files changed is not believed", async () => {
    const { warnings, resolved } = await resolveAll((disk) =>
      putFile(disk, "/in/0.warc", packRecords([record(7), record(8), record(9)])),
    );
    expect(warnings.map(({ file }) => file)).toEqual(Array(3).fill("/in/0.warc"));
    expect(resolved.map(({ extension, flags }) => [extension, flags.includes("damaged")])).toEqual([
      [undefined, true],
      [undefined, true],
      [undefined, true],
      [0, false],
      [1, false],
    ]);
  });

  test("whose file is gone", async () => {
    const { warnings, resolved } = await resolveAll((disk) => disk.remove("/in/1.warc"));
    expect(warnings.map(({ code }) => code)).toEqual(["HT_NOT_FOUND", "HT_NOT_FOUND"]);
    expect(resolved.map(({ extension }) => extension)).toEqual([0, 0, 1, undefined, undefined]);
  });

  test("that is not sorted is refused", () => {
    const disk = new ForgetfulDisk();
    using fetcher = new RecordFetcher(disk, createLocator(disk, {}));
    const line = (digest: string) => `x\t0\t9\turi\tdate\t${digest}\t5\t200\ta/b\tplain\tid\t-`;
    const lines = [line("md5:2"), line("md5:1")];
    expect(() => [...new Resolver(fetcher).resolve(lines)]).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
  });

  test("of one is not read at all", () => {
    const disk = new ForgetfulDisk();
    using fetcher = new RecordFetcher(disk, createLocator(disk, {}));
    const line = `nowhere\t0\t9\turi\tdate\tmd5:1\t5\t200\ta/b\tplain\tid\t-`;
    expect([...new Resolver(fetcher).resolve([line])]).toEqual([`${line}\t0`]);
  });

  test.each(["truncated", "segmented", "damaged", "empty"])("does not count records that are %s", (flag) => {
    const disk = new ForgetfulDisk();
    using fetcher = new RecordFetcher(disk, createLocator(disk, {}));
    const line = (flags: string) => `nowhere\t0\t9\turi\tdate\tmd5:1\t5\t200\ta/b\tplain\tid\t${flags}`;
    const found = [...new Resolver(fetcher).resolve([line(flag), line("-"), line(flag)])];
    expect(found.map((text) => text.split("\t")[12])).toEqual(["-", "-", "0"]);
  });
});

describe("pieces", () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 5 }), { maxLength: 6 });

  test(`are equal whose bytes are, seed ${SEED}`, () => {
    fc.assert(
      fc.property(pieces, pieces, (one, other) => {
        const same = Buffer.concat(one).equals(Buffer.concat(other));
        expect(equalChunks(one, other)).toBe(same);
        expect(equalChunks(one, [Buffer.concat(one)])).toBe(true);
      }),
      {
        seed: SEED,
        numRuns: 500,
        examples: [
          [[], []],
          [[new Uint8Array(0)], []],
          [[Buffer.from("a")], []],
        ],
      },
    );
  });
});
