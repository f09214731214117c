/** A record becomes a revisit and comes back, byte for byte; or it is said beforehand that it would not. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArchiveError, digestOf, parseDigest } from "../base/index.ts";
import { type CaptureText, captureBytes, noise } from "../testing/capture-text.ts";
import { newSeed } from "../testing/dice.ts";
import {
  bufferSource,
  completeRevisit,
  cutIntoChunks,
  encodeSmall,
  formatRevisit,
  parseHttpHead,
  replacedBy,
  replacedHead,
  WarcReader,
  type WarcRecord,
} from "../warc/index.ts";
import { examineRecord } from "./reversal.ts";

const SEED = newSeed();
const ORIGINAL = { uri: "http://o.example/", date: "2019-01-01T00:00:00Z", id: "urn:uuid:o" };

interface Held {
  readonly examined: ReturnType<typeof examineRecord>;
  readonly odd: boolean;
  readonly record: WarcRecord;
  readonly head: string;
  readonly block: Buffer;
  readonly payload: Buffer;
}

function nextOf(reader: WarcReader): WarcRecord | undefined {
  try {
    return reader.next();
  } catch (error) {
    if (error instanceof ArchiveError) return undefined;
    throw error;
  }
}

function examine(bytes: Uint8Array): Held | undefined {
  let odd = false;
  const onWarning = () => {
    odd = true;
  };
  const reader = new WarcReader(bufferSource(bytes), { onWarning });
  const record = nextOf(reader);
  // Others are never looked at.
  if (record?.type !== "response" && record?.type !== "resource") return undefined;
  const block = Buffer.from(record.block!);
  const payload: Buffer[] = [];
  const onPayload = (piece: Uint8Array) => void payload.push(Buffer.from(piece));
  const examined = examineRecord(record, { onPayload, also: ["sha256"] });
  const more = reader.next();
  return {
    examined,
    odd: odd || more !== undefined,
    record,
    head: record.headers.text,
    block,
    payload: Buffer.concat(payload),
  };
}

/** Header and block of the record, from nothing but its revisit's bytes and the payload. */
function comeBack({ record, block, examined, payload }: Held): Buffer {
  const { replaced } = examined;
  const http = record.isHttp ? parseHttpHead(block, 0, block.length, true) : undefined;
  const revisit = formatRevisit(record, http, ORIGINAL, digestOf("sha256", payload), { replaced });
  expect(completeRevisit(examined.draft!, ORIGINAL)).toEqual(revisit);
  const read = new WarcReader(bufferSource(encodeSmall(revisit))).next()!;
  const found = replacedBy(read)!;
  expect(found.digest).toEqual(replaced!.digest);
  const body = found.chunks === undefined ? [payload] : [...cutIntoChunks([payload], found.chunks)];
  const restored = Buffer.concat([read.block!, ...body]);
  const head = replacedHead(read.headers.text, found.type, restored.length, (claim) => {
    const algorithm = parseDigest(claim)?.algorithm;
    return algorithm === undefined ? undefined : digestOf(algorithm, restored);
  });
  return Buffer.concat([Buffer.from(head, "latin1"), restored, Buffer.from("\r\n\r\n")]);
}

function checkReversal(bytes: Buffer): "reversible" | "irreversible" {
  const held = examine(bytes);
  if (held?.examined.replaced === undefined || held.odd) return "irreversible";
  const back = comeBack(held);
  expect(back.toString("latin1")).toBe(bytes.toString("latin1"));
  expect(digestOf("sha256", back).hex).toBe(held.examined.replaced.digest.hex);
  return "reversible";
}

const PAYLOAD = noise("payload", 200);
const BASE: CaptureText = { uri: "http://a.example/", date: "2020-01-01T00:00:00Z", payload: PAYLOAD };

/** Found by the test that changes bytes: four line ends that are not those of a separator were taken for one. */
test.each(["\n\n\n\n", "\r\n\n\n", "\r\r\n\n", "\n\n\r\n"])("not a separator of %j", (separator) => {
  const bytes = Buffer.concat([captureBytes(BASE).subarray(0, -4), Buffer.from(separator)]);
  expect(checkReversal(bytes)).toBe("irreversible");
});

describe("what comes back", () => {
  test.each<[string, Partial<CaptureText>]>([
    ["a plain response", {}],
    ["a resource", { type: "resource" }],
    ["a resource that is an HTTP message", { type: "resource", bare: false }],
    ["a type in capitals", { type: "RESPONSE" }],
    ["a chunked one", { chunks: [1, 2, 3] }],
    ["a block digest", { blockDigest: true }],
    ["a digest in hex", { digest: "hex" }],
    ["a digest of the body as stored", { chunks: [9], digest: "stored" }],
    ["no digest", { digest: "none" }],
    ["no id", { id: null }],
    ["folded lines", { lines: ["X-Folded: a", "\tb", "  c"] }],
    ["blanks around values", { lines: ["X-Blanks:   a  \t", "Y :b"] }],
    ["bytes beyond ASCII", { lines: ["X: \u00e9\u4e2d"] }],
    ["a header said twice", { lines: ["WARC-Concurrent-To: <a>", "WARC-Concurrent-To: <b>"] }],
    ["WARC/1.1", { version: "WARC/1.1" }],
  ])("%s", (_, more) => {
    expect(checkReversal(captureBytes({ ...BASE, ...more }))).toBe("reversible");
  });

  test.each<[string, Partial<CaptureText>]>([
    ["a wrong digest", { digest: "wrong" }],
    ["a digest of an unknown algorithm", { digestText: "crc32:00000000" }],
    ["a wrong block digest", { lines: ["WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] }],
    ["a block digest of an unknown algorithm", { lines: ["WARC-Block-Digest: crc32:00000000"] }],
    ["a line that is no field", { lines: ["what is this"] }],
    ["two types", { lines: ["WARC-Type: resource"] }],
    ["a length with a leading zero", { lines: ["Content-Length: 0000"] }],
    ["chunk extensions", { chunks: [9], chunkExtension: ";x" }],
    ["a profile", { lines: ["WARC-Profile: http://a.example/"] }],
    ["a reference", { lines: ["warc-refers-to-date: 2020-01-01T00:00:00Z"] }],
    ["our own fields", { lines: [`Holotype-Replaced: response sha256:${"0".repeat(64)}`] }],
  ])("not %s", (_, more) => {
    expect(checkReversal(captureBytes({ ...BASE, ...more }))).toBe("irreversible");
  });
});

describe(`any header, seed ${SEED}`, () => {
  const NAMES = [
    "WARC-Type",
    "warc-type",
    "Content-Length",
    "WARC-Block-Digest",
    "WARC-Payload-Digest",
    "WARC-Truncated",
    "WARC-Refers-To",
    "Holotype-Replaced",
    "Holotype-Chunks",
    "X-Any",
    " X",
    "",
  ];
  const value = fc.oneof(
    fc.constantFrom("response", "resource", "", "  ", "200", "length", "sha1:", "sha256:00", "md5:x", "a: b"),
    fc.string({ maxLength: 12 }),
  );
  const clean = (text: string) => text.replace(/[\r\n]/g, "");
  const line = fc
    .tuple(fc.constantFrom(...NAMES), fc.constantFrom(":", ": ", " : ", "", ":\t"), value)
    .map(([name, colon, text]) => clean(name + colon + text));
  const lineEnd = fc.constantFrom("\r\n", "\r\n", "\r\n", "\n", "\r\r\n", "\r\n ", "\r\n\t");
  const capture = fc.record({
    type: fc.constantFrom("response", "resource", "Response"),
    chunks: fc.option(fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 4 }), { nil: undefined }),
    trailer: fc.constantFrom("\r\n", "\r\n", "\r\n", "", "X: y\r\n\r\n"),
    digest: fc.constantFrom("none", "transferred", "stored", "hex", "sha256", "wrong") as fc.Arbitrary<
      NonNullable<CaptureText["digest"]>
    >,
    blockDigest: fc.boolean(),
    bare: fc.option(fc.boolean(), { nil: undefined }),
    brackets: fc.boolean(),
    version: fc.constantFrom("WARC/1.0", "WARC/1.1", "WARC/0.18", "warc/1.0", "WARC/1.0 "),
    http: fc.array(fc.constantFrom("X: \u00e9", "Transfer-Encoding: chunked", "Empty:", "odd line", " folded"), {
      maxLength: 2,
    }),
  });

  test("with any further lines", () => {
    const counts = { reversible: 0, irreversible: 0 };
    fc.assert(
      fc.property(capture, fc.array(line, { maxLength: 4 }), (text, lines) => {
        counts[checkReversal(captureBytes({ ...BASE, ...text, lines }))]++;
      }),
      { seed: SEED, numRuns: 600 },
    );
    // A test that is always let off proves nothing.
    expect(counts.reversible).toBeGreaterThan(3);
    expect(counts.irreversible).toBeGreaterThan(3);
  });

  test("with any line ends", () => {
    fc.assert(
      fc.property(capture, fc.array(fc.tuple(line, lineEnd), { maxLength: 5 }), fc.nat(), (text, lines, at) => {
        const bytes = captureBytes({ ...BASE, ...text });
        const headEnd = bytes.indexOf("\r\n\r\n") + 2;
        const ends = [...bytes.subarray(0, headEnd).toString("latin1").matchAll(/\r\n/g)].map(({ index }) => index + 2);
        const where = ends[at % ends.length]!;
        const more = Buffer.from(lines.map(([words, end]) => words + end).join(""), "latin1");
        checkReversal(Buffer.concat([bytes.subarray(0, where), more, bytes.subarray(where)]));
      }),
      { seed: SEED, numRuns: 600 },
    );
  });

  test("with a byte changed anywhere in it", () => {
    const bytes = captureBytes({ ...BASE, chunks: [50, 60], blockDigest: true, lines: ["X-Folded: a", " b"] });
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 }), (index, byte) => {
        const changed = Buffer.from(bytes);
        changed[index] = byte;
        checkReversal(changed);
      }),
      { seed: SEED, numRuns: 1500 },
    );
  });
});
