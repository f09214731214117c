/**
 * Raw records by chance: every class and every kind of revisit, from alphabets so small that they collide all the time.
 * What is drawn is plain data that names other records by their number in the whole list; `rawRecords` makes bytes of it.
 */
import fc from "fast-check";
import { digestOf, formatDigest, formatIso } from "../../src/base/index.ts";
import {
  captureBytes,
  type DigestForm,
  idOf,
  noise,
  requestBytes,
  revisitBytes,
  storedBody,
} from "../../src/testing/capture-text.ts";
import { readRecords } from "./oracle-records.ts";

/** The first three have one key. */
export const URLS = ["http://a.example/", "https://a.example/", "http://www.a.example/", "http://b.example/"] as const;
const ELSEWHERE = "http://c.example/";
const DAY_MS = 86_400_000;
/** Two in one second, one of them with milliseconds. */
export const TIMES = [0, 1, 1 + 500 / DAY_MS, 2, 3, 4].map((days) => Date.UTC(2020, 0, 1) + Math.round(days * DAY_MS));
const A = noise("A", 500);
/** Nothing, A, the beginning of A, B. */
export const PAYLOADS = [Buffer.alloc(0), A, A.subarray(0, 200), noise("B", 400)] as const;
const CHUNKS = [150];
const SHARED_ID = "urn:uuid:shared";
/** By their number, which goes round if there are fewer. */
const anyTarget = fc.nat(19);
const REVISIT = "http://netpreserve.org/warc";

const ANSWERS = {
  found: { status: "200 OK", lines: [] },
  missing: { status: "404 No", lines: [] },
  elsewhere: { status: "301 Moved", lines: [`Location: ${ELSEWHERE}`] },
  itself: { status: "301 Moved", lines: ["Location: https://www.a.example/"] },
  failed: { status: "503 Later", lines: [] },
  part: { status: "206 Part", lines: ["Content-Range: bytes 0-9/9999"] },
  whole: { status: "206 Part", lines: ["Content-Range: bytes 0-9/10"] },
  unchanged: { status: "304 Not Modified", lines: [] },
} as const;
const PROFILES = {
  "1.0": `${REVISIT}/1.0/revisit/identical-payload-digest`,
  "1.1": `${REVISIT}/1.1/revisit/identical-payload-digest`,
  "not modified": `${REVISIT}/1.1/revisit/server-not-modified`,
  unknown: `${REVISIT}/1.1/revisit/something-new`,
  none: null,
} as const;
const CONDITIONS = ['If-None-Match: "x"', "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"];

/** One of the values, each as often as its weight says. */
function weighted<T>(...choices: readonly (readonly [weight: number, value: T])[]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
}

/** What all captures have. A time that is undefined is a date that cannot be read. */
const seen = {
  url: fc.nat(URLS.length - 1),
  time: fc.oneof({ weight: 20, arbitrary: fc.nat(TIMES.length - 1) }, { weight: 1, arbitrary: fc.constant(undefined) }),
  payload: fc.nat(PAYLOADS.length - 1),
  id: weighted<"own" | "shared" | "none">([8, "own"], [1, "shared"], [1, "none"]),
  mime: fc.constantFrom("text/plain", "text/html"),
};
const validators = {
  etag: weighted([4, undefined], [2, '"x"'], [1, 'W/"x"'], [1, '"y"']),
  modified: weighted([4, undefined], [1, "Wed, 01 Jan 2020 00:00:00 GMT"], [1, "Thu, 02 Jan 2020 00:00:00 GMT"]),
};
const claim = weighted<DigestForm>(
  [4, "transferred"],
  [1, "none"],
  [1, "sha256"],
  [1, "hex"],
  [1, "stored"],
  [1, "wrong"],
);
const answer = weighted<keyof typeof ANSWERS>(
  [8, "found"],
  [2, "missing"],
  [1, "elsewhere"],
  [1, "itself"],
  [1, "failed"],
  [1, "part"],
  [1, "whole"],
  [3, "unchanged"],
);

const response = fc.record({
  kind: fc.constant("response" as const),
  ...seen,
  ...validators,
  answer,
  digest: claim,
  isChunked: fc.boolean(),
  cut: weighted<"no" | "truncated" | "short">([8, "no"], [1, "truncated"], [1, "short"]),
});
const resource = fc.record({
  kind: fc.constant("resource" as const),
  ...seen,
  digest: claim,
  cut: weighted<"no" | "truncated">([8, "no"], [1, "truncated"]),
});
const revisit = fc.record({
  kind: fc.constant("revisit" as const),
  ...seen,
  ...validators,
  profile: weighted<keyof typeof PROFILES>([4, "1.0"], [2, "1.1"], [3, "not modified"], [1, "unknown"], [1, "none"]),
  digest: weighted<"none" | "sha1" | "sha256" | "stored" | "wrong" | "empty">(
    [4, "none"],
    [4, "sha1"],
    [2, "sha256"],
    [1, "stored"],
    [1, "wrong"],
    [1, "empty"],
  ),
  /** The record that it refers to, by what, and how exactly. */
  target: anyTarget,
  byId: weighted<"target" | "no" | "another">([3, "target"], [3, "no"], [1, "another"]),
  byUri: weighted<"exact" | "equal" | "no" | "another">([4, "exact"], [1, "equal"], [3, "no"], [1, "another"]),
  byDate: weighted<"moment" | "second" | "no" | "another">([4, "moment"], [1, "second"], [3, "no"], [1, "another"]),
  answer: fc.oneof({ weight: 5, arbitrary: answer }, { weight: 3, arbitrary: fc.constant("none" as const) }),
});
const request = fc.record({
  kind: fc.constant("request" as const),
  target: anyTarget,
  named: weighted<"by request" | "by capture" | "by both" | "not">(
    [4, "by request"],
    [3, "by capture"],
    [1, "by both"],
    [1, "not"],
  ),
  method: weighted([4, "GET"], [1, "POST"], [1, "HEAD"]),
  hasCondition: fc.boolean(),
  isOfThatUri: weighted([6, true], [1, false]),
});
/** The bytes of an earlier record once more. */
const copy = fc.record({ kind: fc.constant("copy" as const), of: anyTarget });

export const anyRecord = fc.oneof(
  { weight: 8, arbitrary: response },
  { weight: 1, arbitrary: resource },
  { weight: 6, arbitrary: revisit },
  { weight: 3, arbitrary: request },
  { weight: 1, arbitrary: copy },
);
export type AnyRecord = typeof anyRecord extends fc.Arbitrary<infer T> ? T : never;
type Of<K extends AnyRecord["kind"]> = Extract<AnyRecord, { readonly kind: K }>;
type AnyCapture = Of<"response" | "resource" | "revisit">;

/**
 * The bytes of all records, by their number. Absent for one of which the page does not say which counts: another record
 * of the same capture that says something else, neither in the place of the other.
 */
export function rawRecords(records: readonly AnyRecord[]): (Buffer | undefined)[] {
  const made: (Buffer | undefined)[] = [];
  const kept = new Map<string, Buffer>();
  for (const [number, record] of records.entries()) {
    const bytes = bytesOf(records, number, record, made);
    const name = bytes && captureName(bytes);
    if (name === undefined || (kept.get(name) ?? bytes!).equals(bytes!)) made.push(bytes);
    else made.push(undefined);
    if (name !== undefined && !kept.has(name)) kept.set(name, bytes!);
  }
  return made;
}

/** What a capture is known by, and whether it has its payload: a revisit may stand beside what it is in the place of. */
function captureName(bytes: Buffer): string | undefined {
  const capture = readRecords([[bytes]]).captures[0];
  if (capture === undefined) return undefined;
  const { key, timeMs, id, told, body, http } = capture;
  return JSON.stringify([key, timeMs, id, told, body !== undefined && http?.status !== 304]);
}

function bytesOf(
  records: readonly AnyRecord[],
  number: number,
  record: AnyRecord,
  made: readonly (Buffer | undefined)[],
): Buffer | undefined {
  switch (record.kind) {
    case "copy":
      return made[record.of % Math.max(number, 1)];
    case "request":
      return requestOf(records, number, record);
    case "revisit":
      return revisitOf(records, number, record);
    default:
      return responseOf(records, number, record);
  }
}

function ownId(number: number): string {
  return idOf(`record ${number}`);
}

function idOfRecord(number: number, record: AnyRecord | undefined): string | null {
  if (record === undefined || !("id" in record) || record.id === "own") return ownId(number);
  return record.id === "shared" ? SHARED_ID : null;
}

function dateOf({ time }: AnyCapture): string {
  return time === undefined ? "some day" : formatIso(TIMES[time]!);
}

/** The lines by which a capture names its requests. */
function concurrentLines(records: readonly AnyRecord[], number: number): string[] {
  return records.flatMap((each, i) =>
    each.kind === "request" &&
    each.target % records.length === number &&
    (each.named === "by capture" || each.named === "by both")
      ? [`WARC-Concurrent-To: <${ownId(i)}>`]
      : [],
  );
}

function headerLines(record: Of<"response" | "revisit">): string[] {
  return [
    ...(record.etag === undefined ? [] : [`ETag: ${record.etag}`]),
    ...(record.modified === undefined ? [] : [`Last-Modified: ${record.modified}`]),
    ...(record.answer === "none" ? [] : ANSWERS[record.answer].lines),
  ];
}

function responseOf(records: readonly AnyRecord[], number: number, record: Of<"response" | "resource">): Buffer {
  const isHttp = record.kind === "response";
  // A 304 has no body, so it is not cut off either: the page is not clear about its Content-Length.
  const is304 = isHttp && record.answer === "unchanged";
  const payload = is304 ? PAYLOADS[0] : PAYLOADS[record.payload]!;
  const isShort = record.cut === "short" && !is304;
  return captureBytes({
    type: record.kind,
    uri: URLS[record.url]!,
    date: dateOf(record),
    payload,
    version: "WARC/1.1",
    id: idOfRecord(number, record),
    mime: record.mime,
    digest: record.digest,
    ...(isHttp && record.isChunked && !isShort && !is304 ? { chunks: CHUNKS } : {}),
    ...(isShort ? { contentLength: payload.length + 100 } : {}),
    ...(isHttp ? { status: ANSWERS[record.answer].status, http: headerLines(record) } : {}),
    lines: [
      ...concurrentLines(records, number),
      ...(record.cut === "truncated" && !is304 ? ["WARC-Truncated: length"] : []),
    ],
  });
}

function revisitOf(records: readonly AnyRecord[], number: number, record: Of<"revisit">): Buffer {
  const { answer: told } = record;
  const status = told === "none" ? "" : `HTTP/1.1 ${ANSWERS[told].status}\r\nContent-Type: ${record.mime}\r\n`;
  const digest = revisitDigest(record);
  return revisitBytes({
    uri: URLS[record.url]!,
    date: dateOf(record),
    id: idOfRecord(number, record),
    profile: PROFILES[record.profile],
    http:
      told === "none"
        ? ""
        : `${status}${headerLines(record)
            .map((line) => `${line}\r\n`)
            .join("")}\r\n`,
    refersTo: referenceOf(records, record),
    lines: concurrentLines(records, number),
    ...(digest === undefined ? {} : { digest }),
  });
}

function revisitDigest({ digest, payload }: Of<"revisit">): string | undefined {
  const bytes = PAYLOADS[payload]!;
  switch (digest) {
    case "none":
      return undefined;
    case "wrong":
      return "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    case "empty":
      return formatDigest(digestOf("sha1", PAYLOADS[0]));
    case "stored":
      return formatDigest(digestOf("sha1", storedBody({ uri: "", date: "", payload: bytes, chunks: CHUNKS })));
    default:
      return formatDigest(digestOf(digest, bytes));
  }
}

function referenceOf(records: readonly AnyRecord[], told: Of<"revisit">) {
  const { byId, byUri, byDate } = told;
  const target = told.target % records.length;
  const named = records[target];
  const id = byId === "target" ? idOfRecord(target, named) : idOfRecord(target + 1, records[target + 1]);
  const { url = 0, time = 0 } = named !== undefined && "url" in named ? named : {};
  const uris = { exact: URLS[url]!, equal: URLS[url === 3 ? 3 : (url + 1) % 3]!, another: URLS[3 - url]! };
  const timeMs = TIMES[time]!;
  const second = timeMs - (timeMs % 1000);
  const dates = { moment: timeMs, second: timeMs === second ? second + 250 : second, another: TIMES.at(-1 - time)! };
  return {
    ...(byId === "no" || id === null ? {} : { id }),
    ...(byUri === "no" ? {} : { uri: uris[byUri] }),
    ...(byDate === "no" ? {} : { date: formatIso(dates[byDate]) }),
  };
}

function requestOf(records: readonly AnyRecord[], number: number, record: Of<"request">): Buffer {
  const target = record.target % records.length;
  const named = records[target];
  const { url = 0 } = named !== undefined && "url" in named ? named : {};
  const id = idOfRecord(target, named);
  const names = record.named === "by request" || record.named === "by both";
  return requestBytes({
    uri: URLS[record.isOfThatUri ? url : (url + 1) % URLS.length]!,
    date: named !== undefined && "time" in named ? dateOf(named) : formatIso(TIMES[0]!),
    method: record.method,
    id: ownId(number),
    // Which of several captures with one id a request means is nothing that records could say.
    concurrentTo: names && id !== null && id !== SHARED_ID ? [id] : [],
    http: record.hasCondition ? [CONDITIONS[number % 2]!] : [],
    body: record.method === "POST" ? "a=1" : "",
  });
}
