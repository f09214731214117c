/** Small crawls made of chance, with duplicates by construction and all that is odd about archives. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { digestOf, formatDigest } from "../base/index.ts";
import {
  type CaptureText,
  captureBytes,
  type DigestForm,
  idOf,
  noise,
  packRecords,
  recordBytes,
  revisitBytes,
} from "./capture-text.ts";
import type { ArchiveFile } from "./dedup-trial.ts";
import { arcText, recordBytes as textBytes } from "./record-text.ts";

/** Two of one size, a small one, an empty one. */
export const PAYLOADS: readonly Buffer[] = [
  noise("one", 1800),
  noise("two", 1800),
  noise("three", 2500),
  noise("small", 60),
  Buffer.alloc(0),
  Buffer.from(`5\r\nhello\r\n${"looks like chunks ".repeat(40)}`),
];

const HOSTS = ["http://a.example", "http://b.example", "https://c.example"];
const PATHS = ["/", "/page", "/p?q=\u00e9", "/%20", "/x.png"];
const uri = fc.tuple(fc.constantFrom(...HOSTS), fc.constantFrom(...PATHS)).map((parts) => parts.join(""));
const date = fc
  .tuple(fc.integer({ min: 0, max: 60 }), fc.constantFrom("Z", "Z", "Z", ".25Z", ".750000Z"))
  .map(([hours, end]) => new Date(1_577_836_800_000 + hours * 3_600_000).toISOString().replace(/\.\d+Z$/, end));
const digest = fc.constantFrom<DigestForm>("none", "transferred", "transferred", "transferred", "hex", "sha256");

/** What keeps a record from taking part, or makes that harder. */
const quirk: fc.Arbitrary<Partial<CaptureText>> = fc.constantFrom<Partial<CaptureText>>(
  { digest: "wrong" },
  { digest: "stored" },
  { digest: "stored", chunks: [700] },
  { chunks: [3], trailer: "" },
  { chunks: [3], trailer: "X-Late: yes\r\n\r\n" },
  { chunks: [3], chunkExtension: ";x=y" },
  { http: ["Transfer-Encoding: chunked"] },
  { lines: ["WARC-Truncated: time"] },
  { lines: ["WARC-Segment-Number: 1"] },
  { lines: ["WARC-Refers-To-Date: 2020-01-01T00:00:00Z"] },
  { lines: ["WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] },
  { lines: ["X-Folded: a", " b", "WARC-IP-Address: 192.0.2.1"] },
  { type: "resource", bare: false },
  { bare: true },
  { id: null },
);

const capture = fc
  .record({
    kind: fc.constant("capture" as const),
    uri,
    date,
    payload: fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 4, 5),
    type: fc.constantFrom("response", "response", "response", "response", "resource"),
    chunks: fc.option(fc.array(fc.integer({ min: 1, max: 2000 }), { maxLength: 4 }), { freq: 1, nil: undefined }),
    digest,
    blockDigest: fc.boolean(),
    brackets: fc.boolean(),
    version: fc.constantFrom("WARC/1.0", "WARC/1.1"),
    status: fc.constantFrom("200 OK", "404 Not Found", "301 Moved"),
    mime: fc.constantFrom("text/html", "image/png", "text/html; charset=utf-8"),
  })
  .chain((text) =>
    fc
      .oneof({ weight: 4, arbitrary: fc.constant<Partial<CaptureText>>({}) }, { weight: 1, arbitrary: quirk })
      .map((more) => ({ text, more })),
  )
  .map(({ text, more }) => {
    // Without HTTP there is no transfer coding.
    const bare = more.bare ?? (more.type ?? text.type) === "resource";
    return { ...text, ...more, ...(bare ? { chunks: undefined } : {}) };
  });

const revisit = fc.record({
  kind: fc.constant("revisit" as const),
  uri,
  date,
  payload: fc.nat(PAYLOADS.length - 1),
  refersTo: fc.record({ uri, date }, { requiredKeys: [] }),
  brackets: fc.boolean(),
});

const other = fc.record({
  kind: fc.constant("other" as const),
  type: fc.constantFrom("request", "metadata", "warcinfo", "conversion", "strange"),
  uri,
  date,
});

type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
type CrawledRecord = ValueOf<typeof capture> | ValueOf<typeof revisit> | ValueOf<typeof other>;

const record: fc.Arbitrary<CrawledRecord> = fc.oneof(
  { weight: 20, arbitrary: capture },
  { weight: 1, arbitrary: revisit },
  { weight: 2, arbitrary: other },
);

/** How the records of a file are packed. */
export type Packing = "none" | "gzip" | "zstd" | "shared" | "split" | "arc" | "arc.gz";

const file = fc.record({
  packing: fc.constantFrom<Packing>(
    "none",
    "none",
    "gzip",
    "gzip",
    "gzip",
    "zstd",
    "zstd",
    "shared",
    "split",
    "arc",
    "arc.gz",
  ),
  records: fc.array(record, { minLength: 1, maxLength: 9, size: "max" }),
});

/** Files of a crawl. Frames must have been loaded. */
export const crawl: fc.Arbitrary<readonly ArchiveFile[]> = fc
  .array(file, { minLength: 1, maxLength: 4, size: "max" })
  .map((files) => files.map(({ packing, records }, i) => packFile(i, packing, records)));

function packFile(number: number, packing: Packing, records: readonly CrawledRecord[]): ArchiveFile {
  if (packing === "arc" || packing === "arc.gz") return packArc(number, packing, records);
  const bytes = records.map((each, k) => bytesOf(each, `${number} ${k}`));
  const name = `${number}.warc${packing === "none" ? "" : packing === "zstd" ? ".zst" : ".gz"}`;
  switch (packing) {
    case "shared":
      return { name, bytes: gzipSync(Buffer.concat(bytes)) };
    case "split":
      return {
        name,
        bytes: Buffer.concat(bytes.flatMap((each) => [gzipSync(each.subarray(0, 200)), gzipSync(each.subarray(200))])),
      };
    default:
      return { name, bytes: packRecords(bytes, packing) };
  }
}

function bytesOf(each: CrawledRecord, place: string): Buffer {
  switch (each.kind) {
    case "capture": {
      const { kind: _, payload, id = idOf(place), ...rest } = each;
      return captureBytes({ ...rest, payload: PAYLOADS[payload as number]!, id });
    }
    case "revisit": {
      const claim = formatDigest(digestOf("sha1", PAYLOADS[each.payload]!));
      const refersTo = Object.fromEntries(Object.entries(each.refersTo).filter(([, value]) => value !== undefined));
      return revisitBytes({ uri: each.uri, date: each.date, refersTo, digest: claim, brackets: each.brackets });
    }
    case "other":
      return recordBytes(
        ["WARC/1.0", `WARC-Type: ${each.type}`, `WARC-Target-URI: ${each.uri}`, `WARC-Date: ${each.date}`],
        PAYLOADS[0]!,
      );
  }
}

/** The captures of the records as an ARC file; it has nothing but plain responses. */
function packArc(number: number, packing: "arc" | "arc.gz", records: readonly CrawledRecord[]): ArchiveFile {
  const name = `${number}.${packing}`;
  const described = "1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n\n";
  const texts = [
    arcText({ url: `filedesc://${name}`, ip: "0.0.0.0", mime: "text/plain", block: described }),
    ...records.flatMap((each) => {
      if (each.kind !== "capture") return [];
      const block = Buffer.concat([Buffer.from("HTTP/1.0 200 OK\r\n\r\n"), PAYLOADS[each.payload as number]!]);
      const when = each.date.replace(/\D/g, "").slice(0, 14);
      return [arcText({ url: each.uri.replace("\u00e9", "e"), date: when, block })];
    }),
  ].map(textBytes);
  return { name, bytes: Buffer.concat(packing === "arc" ? texts : texts.map((text) => gzipSync(text))) };
}
