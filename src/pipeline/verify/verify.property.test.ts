import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import { type CaptureText, captureBytes, idOf, noise, packRecords, revisitBytes } from "../../testing/capture-text.ts";
import { dedupTrial, getFile, INPUT_FOLDER, putFile } from "../../testing/dedup-trial.ts";
import { goodSet } from "../../testing/good-set.ts";
import { bufferSource, type Compression, loadZstd, WarcReader } from "../../warc/index.ts";
import { verify } from "../index.ts";

const against = [INPUT_FOLDER];

beforeAll(loadZstd);

/** Bytes whose change can do no harm: what a revisit of ours adds to the header, and the header of a gzip member. */
function harmlessIn(bytes: Buffer): (at: number) => boolean {
  const ranges: [from: number, to: number][] = [];
  for (const record of new WarcReader(bufferSource(bytes))) {
    const { offset } = record;
    record.drain();
    const text = record.headers.text;
    const added = text.indexOf("Holotype-Replaced");
    if (bytes[offset] === 0x1f) ranges.push([offset, offset + 10]);
    else if (added >= 0) ranges.push([offset + added, offset + text.length - 2]);
  }
  return (at) => ranges.some(([from, to]) => at >= from && at < to);
}

const isLetter = (byte: number) => /[a-z]/i.test(String.fromCharCode(byte));

describe("a changed byte", () => {
  it.each(["none", "gzip"] as const)("is found wherever it matters, compression %s", async (compression) => {
    const set = await goodSet(compression);
    const files = ([1, 2] as const).map((crawl) => ({
      name: set.name(crawl),
      bytes: getFile(set.disk, set.name(crawl)),
    }));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 255 }),
        async (which, share, mask) => {
          const { name, bytes } = files[which]!;
          const at = Math.min(bytes.length - 1, Math.floor(share * bytes.length));
          // Names of fields and types may be written in large or small letters.
          const isCase = mask === 0x20 && isLetter(bytes[at]!);
          fc.pre(!harmlessIn(bytes)(at) && !isCase);
          const changed = Buffer.from(bytes);
          changed[at]! ^= mask;
          putFile(set.disk, name, changed);
          const { holds } = await verify(set.disk, [set.folder], { threads: 1, against });
          putFile(set.disk, name, bytes);
          expect({ name, at, holds }).toEqual({ name, at, holds: false });
        },
      ),
      { numRuns: 80 },
    );
  });
});

const sizes = fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 4 });
const two = (value: number) => String(value).padStart(2, "0");

const captures = fc.record({
  kind: fc.constantFrom("capture", "capture", "capture", "capture", "revisit"),
  page: fc.nat(3),
  time: fc.nat(20),
  content: fc.nat(3),
  size: fc.constantFrom(0, 40, 700, 700, 1500),
  chunks: fc.option(sizes, { nil: undefined }),
  digest: fc.constantFrom("none", "transferred", "transferred", "stored", "hex", "sha256", "wrong"),
  type: fc.constantFrom("response", "response", "response", "resource"),
  blockDigest: fc.boolean(),
  version: fc.constantFrom("WARC/1.0", "WARC/1.1"),
  mime: fc.constantFrom("text/plain", "image/png"),
  lines: fc.constantFrom<readonly string[]>([], ["WARC-Truncated: length"], ["X-Odd :  a  ", "x-odd:"]),
  http: fc.constantFrom<readonly string[]>([], ["Content-Length: 3"], ["Server: b"]),
  file: fc.nat(2),
});

type Choice = typeof captures extends fc.Arbitrary<infer T> ? T : never;

const uriOf = (page: number) => `http://p.example/${page}`;
const dateOf = (time: number) => `2020-01-01T00:00:${two(time)}Z`;

function recordOf(choice: Choice): Buffer {
  const { page, time, content, size, kind } = choice;
  const payload = noise(`content ${content}`, size);
  const [uri, date] = [uriOf(page), dateOf(time)];
  if (kind === "capture") return captureBytes({ ...(choice as Partial<CaptureText>), uri, date, payload });
  const refersTo = { uri: uriOf(content), date: dateOf(size % 21) };
  const { id, ...rest } = { ...refersTo, id: idOf(`response ${refersTo.uri} ${refersTo.date}`) };
  return revisitBytes({
    uri,
    date,
    refersTo: choice.blockDigest ? { ...rest, id } : choice.mime === "image/png" ? rest : {},
    digest: formatDigest(digestOf("sha1", payload)),
  });
}

describe("what dedup makes of any files", () => {
  it("holds all that they held", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(captures, { minLength: 1, maxLength: 14 }),
        fc.constantFrom<Compression>("none", "gzip", "zstd"),
        async (choices, compression) => {
          const files = [0, 1, 2]
            .map((file) => choices.filter((choice) => choice.file === file).map(recordOf))
            .map((records, i) => ({ name: `crawls/${i}.warc`, bytes: packRecords(records, compression) }))
            .filter(({ bytes }) => bytes.length > 0);
          const trial = await dedupTrial(files);
          const folder = trial.result.job.replace(/\/[^/]+$/, "");
          const result = await verify(trial.disk, [folder], { threads: 1, against });
          expect(result.problems.filter(({ before }) => !before)).toEqual([]);
          expect(result).toMatchObject({ holds: true, written: trial.result.replaced, skipped: [] });
          expect(result.restorable).toBe(result.written);
          expect(result.against).toEqual({
            files: files.length,
            equal: files.length,
            standing: result.written,
            missing: [],
            uncompared: [],
          });
        },
      ),
      { numRuns: 60 },
    );
  });
});
