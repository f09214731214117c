/** What a revisit refers to (docs/lifespans.md, "Revisits"): cases, each with the one verdict that there is. */
import { digestOf, formatDigest } from "../../src/base/index.ts";
import {
  type CaptureText,
  captureBytes,
  noise,
  type RevisitText,
  revisitBytes,
} from "../../src/testing/capture-text.ts";
import { SHATTERED } from "../dedup/shattered.ts";

const [ONE, TWO] = [noise("one", 700), noise("two", 700)];
const EMPTY = Buffer.alloc(0);
const URI = "http://a.example/page";
const OTHER_URI = "http://b.example/other";
const sha1 = (bytes: Uint8Array) => formatDigest(digestOf("sha1", bytes));
const at = (second: number) => `2020-01-01T00:00:0${second}Z`;
const PROFILE = "http://netpreserve.org/warc/1.0/revisit/";
const NOT_MODIFIED = { profile: `${PROFILE}server-not-modified`, http: "HTTP/1.1 304 Not Modified\r\n\r\n" };

/** Captures are of 2020, revisits of 2021: so `restore` can be asked for these alone. */
const held = (payload: Uint8Array, more: Partial<CaptureText> = {}) =>
  captureBytes({ uri: URI, date: at(1), payload, id: "urn:one", ...more });
const again = (more: Partial<RevisitText> = {}) =>
  revisitBytes({ uri: "http://c.example/again", date: "2021-01-01T00:00:00Z", ...more });

export interface Case {
  readonly name: string;
  /** Each a file by itself. */
  readonly records: readonly Buffer[];
  /** What the revisit stands for; absent for none. */
  readonly payload?: Buffer;
  /** A revisit that is not interpreted: no orphan, and not restored. */
  readonly unread?: boolean;
  /** What `verify` finds besides, which is not about the original: fields that the standard requires. */
  readonly besides?: readonly string[];
}

const plain = held(ONE, { digest: "none" });
const named = { uri: URI, date: at(1) };
const byId = { id: "urn:one" };
const two = held(TWO, { uri: OTHER_URI, date: at(2), id: "urn:two" });
const lying = sha1(noise("nobody's", 10));
const NO_DIGEST = { besides: ["HT_FIELD_MISSING"] };

const silent = (more: Partial<RevisitText> = {}) => again({ ...NOT_MODIFIED, uri: URI, ...more });
const tagged = (etag: string, payload: Uint8Array, second: number) =>
  held(payload, { date: at(second), id: `urn:${second}`, http: [`ETag: ${etag}`] });

export const CASES: readonly Case[] = [
  { name: "id and true digest", records: [plain, again({ refersTo: byId, digest: sha1(ONE) })], payload: ONE },
  { name: "a digest alone", records: [plain, two, again({ digest: sha1(ONE) })], payload: ONE },
  { name: "an id alone", records: [plain, two, again({ refersTo: byId })], payload: ONE, ...NO_DIGEST },
  { name: "before its original", records: [again({ refersTo: byId, digest: sha1(ONE) }), plain], payload: ONE },
  { name: "URI and date alone", records: [two, plain, again({ refersTo: named })], payload: ONE, ...NO_DIGEST },
  {
    name: "an equal URL in the same second",
    records: [held(ONE, { uri: "https://www.a.example/page" }), again({ refersTo: named, digest: sha1(ONE) })],
    payload: ONE,
  },
  {
    name: "an equal URL without a digest, beside the exact one",
    records: [
      held(TWO, { uri: "https://www.a.example/page", id: "urn:www" }),
      held(ONE),
      again({ refersTo: { uri: URI, date: "2020-01-01T00:00:01.5Z" } }),
    ],
    payload: ONE,
    ...NO_DIGEST,
  },
  { name: "a lying digest", records: [held(ONE), two, again({ refersTo: named, digest: lying })] },
  { name: "a lying digest with an id", records: [plain, again({ refersTo: byId, digest: lying })] },
  {
    name: "a lying digest that its original tells, too",
    records: [held(ONE, { digestText: lying }), again({ refersTo: named, digest: lying })],
    payload: ONE,
    // The record's own, and that the revisit claims it.
    besides: ["HT_DIGEST_MISMATCH", "HT_REVISIT_MISMATCH"],
  },
  {
    name: "a lying digest alone, of a record that tells it, too",
    records: [held(ONE, { digestText: lying }), again({ digest: lying })],
    besides: ["HT_DIGEST_MISMATCH"],
  },
  {
    name: "a lying id and a true digest",
    records: [plain, two, again({ refersTo: { id: "urn:two" }, digest: sha1(ONE) })],
    payload: ONE,
  },
  {
    // The id of a record of another URL than the one that is named.
    name: "a lying id without a digest",
    records: [plain, two, again({ refersTo: { ...named, id: "urn:two" } })],
    payload: ONE,
    besides: ["HT_FIELD_MISSING"],
  },
  {
    name: "an id of two payloads",
    records: [plain, held(TWO, { date: at(2) }), again({ refersTo: byId })],
    ...NO_DIGEST,
  },
  {
    name: "an id of two payloads, with a digest",
    records: [plain, held(TWO, { date: at(2) }), again({ refersTo: byId, digest: sha1(TWO) })],
    payload: TWO,
  },
  {
    name: "an id of two payloads, with URI and second",
    records: [plain, held(TWO, { date: at(2) }), again({ refersTo: { ...named, ...byId } })],
    payload: ONE,
    ...NO_DIGEST,
  },
  {
    name: "one digest of two payloads",
    records: [
      ...SHATTERED.map((payload, i) => held(payload, { date: at(i), id: `urn:${i}` })),
      again({ digest: sha1(SHATTERED[0]) }),
    ],
  },
  {
    name: "one digest of two payloads, with URI and date",
    records: [
      ...SHATTERED.map((payload, i) => held(payload, { date: at(i), id: `urn:${i}` })),
      again({ refersTo: named, digest: sha1(SHATTERED[0]) }),
    ],
    payload: SHATTERED[1],
  },
  {
    name: "one digest of two payloads, with an id",
    records: [
      ...SHATTERED.map((payload, i) => held(payload, { date: at(i), id: `urn:${i}` })),
      again({ refersTo: { id: "urn:0" }, digest: sha1(SHATTERED[0]) }),
    ],
    payload: SHATTERED[0],
  },
  {
    name: "a silent 304 after two contents",
    records: [held(TWO, { date: at(2), id: "urn:2" }), held(ONE), silent()],
    payload: TWO,
  },
  {
    name: "a silent 304 between two contents",
    records: [
      held(ONE, { uri: "https://www.a.example/page" }),
      silent(),
      held(TWO, { date: "2022-01-01T00:00:00Z", id: "urn:late" }),
    ],
    payload: ONE,
  },
  {
    name: "a silent 304 after an error",
    records: [held(ONE), held(TWO, { date: at(2), id: "urn:2", status: "404 Not Found" }), silent()],
    payload: ONE,
  },
  {
    name: "a silent 304 with the ETag of an earlier content",
    records: [
      tagged('W/"1"', ONE, 1),
      tagged('"2"', TWO, 2),
      silent({ http: 'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n' }),
    ],
    payload: ONE,
  },
  {
    name: "a silent 304 with the ETag of no content",
    records: [tagged('"1"', ONE, 1), silent({ http: 'HTTP/1.1 304 Not Modified\r\nETag: "3"\r\n\r\n' })],
  },
  { name: "a silent 304 of another URL", records: [held(ONE), silent({ uri: OTHER_URI })] },
  {
    name: "a silent 304 after a revisit that went back to an earlier content",
    records: [
      held(ONE),
      held(TWO, { date: at(2), id: "urn:2" }),
      revisitBytes({ uri: URI, date: at(3), digest: sha1(ONE) }),
      silent(),
    ],
    payload: ONE,
  },
  {
    name: "a 304 with the empty digest",
    records: [held(ONE), held(EMPTY, { uri: OTHER_URI }), silent({ digest: sha1(EMPTY) })],
    payload: ONE,
  },
  {
    name: "a 304 with the empty digest, of no URL that is here",
    records: [held(EMPTY, { uri: OTHER_URI }), silent({ digest: sha1(EMPTY) })],
  },
  { name: "the empty digest", records: [plain, again({ digest: sha1(EMPTY), refersTo: named })], payload: EMPTY },
  { name: "the empty digest, and nothing else", records: [again({ digest: sha1(EMPTY) })], payload: EMPTY },
  {
    name: "a profile that is not known",
    records: [again({ profile: "http://example.org/odd", digest: sha1(ONE) })],
    unread: true,
  },
  {
    name: "a 304 response as the one that it names",
    records: [held(EMPTY, { status: "304 Not Modified" }), again({ refersTo: named })],
    ...NO_DIGEST,
  },
];
