/**
 * A short hand for the examples that pin down the oracle: records at numbered times, and answers as one line of text.
 * A unit of time is ten seconds.
 */
import { expect, test } from "vitest";
import { digestOf, formatDigest, formatIso } from "../../src/base/index.ts";
import {
  type CaptureText,
  captureBytes,
  noise,
  type RequestText,
  type RevisitText,
  requestBytes,
  revisitBytes,
  storedBody,
} from "../../src/testing/capture-text.ts";
import { type OracleAnswers, oracle } from "./oracle.ts";

export const U = "http://a.example/";
export const V = "http://b.example/";
export const KEY = "example,a)/";
const START_MS = Date.UTC(2020, 0, 1);

export const A = noise("A", 300);
/** The beginning of A. */
export const P = A.subarray(0, 100);
export const B = noise("B", 300);
export const C = noise("C", 300);
export const E = Buffer.alloc(0);
const NAMES = new Map(Object.entries({ A, P, B, C, E }).map(([name, bytes]) => [digestOf("sha256", bytes).hex, name]));

export const time = (n: number) => START_MS + Math.round(n * 10_000);
export const date = (n: number) => formatIso(time(n));
export const sha1 = (bytes: Buffer) => formatDigest(digestOf("sha1", bytes));
export const sha256 = (bytes: Buffer) => formatDigest(digestOf("sha256", bytes));
export const NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
export const head = (status: number, ...lines: string[]) =>
  `${[`HTTP/1.1 ${status} Told`, "Content-Type: text/html", ...lines].join("\r\n")}\r\n\r\n`;

export const SECURE = "https://www.a.example/";
export const ELSEWHERE = "http://c.example/";
export const EMPTY_SHA1 = sha1(E);
export const WRONG = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
export const tag = (text: string) => `ETag: ${text}`;
export const modified = (day: number) => `Last-Modified: Wed, 0${day} Jan 2020 00:00:00 GMT`;
export const CHUNKS = { chunks: [100] };
export const storedA = () => storedBody({ uri: U, date: "", payload: A, ...CHUNKS });

type Some<T> = Omit<Partial<T>, "date" | "status"> & { readonly status?: number };

/** A response, with status 200 and the id `r` and its time. */
export function get(n: number, payload: Buffer, text: Some<CaptureText> = {}): Buffer {
  return captureBytes({ uri: U, date: date(n), payload, id: `r${n}`, ...text, status: `${text.status ?? 200} Told` });
}

export function undated(payload: Buffer, id = "undated"): Buffer {
  return captureBytes({ uri: U, date: "some day", payload, id });
}

/** A redirect without a body. */
export function redirect(n: number, location: string, status = 301): Buffer {
  return get(n, E, { status, http: [`Location: ${location}`] });
}

/** A 304 as a response, or with its validators. */
export function unchanged(n: number, ...http: string[]): Buffer {
  return get(n, E, { status: 304, http });
}

/** A revisit by digest, with a header of status 200 and the id `v` and its time. */
export function visit(n: number, digest?: string, text: Omit<Partial<RevisitText>, "date"> = {}): Buffer {
  const told = digest === undefined ? {} : { digest };
  return revisitBytes({ uri: U, date: date(n), id: `v${n}`, ...told, ...text });
}

/** A revisit that has no HTTP header. */
export function headless(n: number, digest?: string, text: Omit<Partial<RevisitText>, "date"> = {}): Buffer {
  return visit(n, digest, { http: "", ...text });
}

/** A 304 as a revisit. */
export function confirm(n: number, digest?: string, text: Omit<Partial<RevisitText>, "date"> = {}): Buffer {
  return visit(n, digest, { profile: NOT_MODIFIED, http: head(304), ...text });
}

/** A request for the response of that time. */
export function ask(n: number, method: string, text: Omit<Partial<RequestText>, "date"> = {}): Buffer {
  return requestBytes({ uri: U, date: date(n), method, concurrentTo: [`r${n}`], ...text });
}

/** Contents of status 200 in the order that the timeline has them in. */
export function timelineOrder(...payloads: Buffer[]): Buffer[] {
  const mask = Buffer.from(digestOf("sha256", Buffer.from("status 200")).hex, "hex");
  const key = (payload: Buffer) =>
    Buffer.from(digestOf("sha256", payload).hex, "hex").map((byte, i) => byte ^ mask[i]!);
  return payloads.toSorted((one, other) => Buffer.compare(key(one), key(other)));
}

function nameOf(sha: string | null, status: number | null): string {
  const name = sha === null ? "?" : (NAMES.get(sha) ?? sha.slice(0, 6));
  return status === 200 ? name : `${name}/${status ?? "-"}`;
}

const number = (timeMs: number) => String((timeMs - START_MS) / 10_000);

/** Content, birth, end, last seen and captures: `A[1,3)2 x2`. */
export function spans({ lifespans }: OracleAnswers, key = KEY): string {
  return (lifespans[key] ?? [])
    .map(({ sha256: sha, status, birth, end, lastSeen, captures }) => {
      const to = end === null ? "" : number(end);
      return `${nameOf(sha, status)}[${number(birth)},${to})${number(lastSeen)} x${captures}`;
    })
    .join(" ");
}

/** Time, class and content of each: `1 state A, 2 failed B/503`. */
export function list({ captures }: OracleAnswers, key = KEY): string {
  return (captures[key] ?? [])
    .map((it) => {
      const when = it.timeMs === null ? "-" : number(it.timeMs);
      const flags = [it.pending ? " pending" : "", it.cutOff ? " cut-off" : "", it.digestLies ? " digest-lies" : ""];
      return `${when} ${it.class} ${nameOf(it.sha256, it.contentStatus ?? it.status)}${flags.join("")}`;
    })
    .join(", ");
}

export type Example = readonly [title: string, records: readonly Buffer[], lifespans: string, captures?: string];

/** The same in whatever order the records come, each in a file of its own or all in one. */
export function check(examples: readonly Example[]): void {
  for (const [title, records, lifespans, captures] of examples) {
    test(title, () => {
      for (const files of [[records], records.map((record) => [record]), [records.toReversed(), records]]) {
        const answers = oracle(files);
        expect(spans(answers)).toBe(lifespans);
        if (captures !== undefined) expect(list(answers)).toBe(captures);
      }
    });
  }
}
