/**
 * What revisits refer to, by docs/lifespans.md, "Revisits": the payload by rules 1 to 4, then status, location and
 * media type. A silent 304 (rule 5) needs the classes and is in oracle-classes.ts.
 */
import { type Capture, field, isDigestOf, keyOf, readMime, sha256 } from "./oracle-records.ts";

/** What a capture answered, its payload apart. */
export interface Answer {
  readonly status: number | null;
  /** Differs from the status where a 206 has the whole, and counts as 200. */
  readonly contentStatus: number | null;
  readonly location: string | null;
  readonly mime: string | null;
}

export const NO_ANSWER: Answer = { status: null, contentStatus: null, location: null, mime: null };
const EMPTY = Buffer.alloc(0);

export type Payloads = ReadonlyMap<Capture, Buffer>;

/** The table of classes, row `confirmation`. */
export function is304(capture: Capture): boolean {
  if (capture.type === "revisit" && capture.profile === "unknown") return false;
  return (capture.type === "revisit" && capture.profile === "not-modified") || capture.http?.status === 304;
}

/** Rule 5, first sentence. */
export function isSilent(capture: Capture): boolean {
  if (!is304(capture)) return false;
  const { id, url, timeMs } = capture.refersTo;
  const tellsPlace = url !== undefined && timeMs !== undefined;
  return capture.type === "response" || (provenDigest(capture) === undefined && id === undefined && !tellsPlace);
}

/** Rule 1: the digest of an empty payload counts as none. */
function provenDigest({ digest }: Capture): Capture["digest"] {
  return digest === undefined || isDigestOf(digest, EMPTY) ? undefined : digest;
}

/** The payload of each capture that has one or leads to one; silent 304s left out. */
export function findPayloads(captures: readonly Capture[]): Payloads {
  const own = captures.filter((capture) => capture.body !== undefined && !is304(capture));
  const known = new Map<Capture, Buffer>(own.map((capture) => [capture, capture.body!]));
  // What has a profile that we do not know is not read.
  const revisits = captures.filter(
    (capture) => capture.type === "revisit" && capture.profile !== "unknown" && !isSilent(capture),
  );
  for (const revisit of revisits) {
    // Rule 1.
    if (!is304(revisit) && revisit.digest !== undefined && isDigestOf(revisit.digest, EMPTY)) known.set(revisit, EMPTY);
    // Rule 2.
    const found = payloadsWithDigest(revisit, own);
    if (found.length === 1) known.set(revisit, found[0]!);
  }
  // Rules 3 and 4. One that is resolved by them is an original for later ones only.
  const left = revisits.filter((revisit) => !known.has(revisit));
  const resolve = (some: readonly Capture[], originals: Payloads) =>
    some.map((revisit) => [revisit, byName(revisit, originals, payloadsWithDigest(revisit, own))] as const);
  const undated = resolve(
    left.filter(({ timeMs }) => timeMs === null),
    known,
  );
  const times = left.map(({ timeMs }) => timeMs).filter((timeMs) => timeMs !== null);
  for (const time of [...new Set(times)].sort((one, other) => one - other)) {
    const now = resolve(
      left.filter(({ timeMs }) => timeMs === time),
      known,
    );
    for (const [revisit, payload] of now) if (payload !== undefined) known.set(revisit, payload);
  }
  for (const [revisit, payload] of undated) if (payload !== undefined) known.set(revisit, payload);
  return known;
}

/** Rule 2: payloads, each once, that have the digest which the revisit tells. */
function payloadsWithDigest(revisit: Capture, own: readonly Capture[]): Buffer[] {
  const digest = provenDigest(revisit);
  if (digest === undefined) return [];
  const isComputed = digest.algorithm === "sha256" || digest.algorithm === "sha1";
  const having = own.filter((capture) => {
    const isInHeader = capture.digest !== undefined && !capture.digestLies && equal(capture.digest, digest);
    return isInHeader || (isComputed && isDigestOf(digest, capture.body!));
  });
  return distinct(having.map((capture) => capture.body!));
}

/** Rules 3 and 4, among payloads that share the digest where there are several. */
function byName(revisit: Capture, originals: Payloads, sharing: readonly Buffer[]): Buffer | undefined {
  const payloadOf = (capture: Capture) => originals.get(capture)!;
  const fitting = [...originals.keys()].filter(
    (capture) =>
      capture !== revisit &&
      fits(revisit, capture, payloadOf(capture)) &&
      (sharing.length === 0 || sharing.some((payload) => payload.equals(payloadOf(capture)))),
  );
  const sharingId = fitting.filter((capture) => sharesId(revisit, capture));
  const named = distinct(sharingId.map(payloadOf));
  if (named.length === 1) return named[0];
  const placed = distinct(atPlace(revisit, named.length === 0 ? fitting : sharingId).map(payloadOf));
  return placed.length === 1 ? placed[0] : undefined;
}

/** Rule 3: a revisit that names a URI and date means none of another URL. */
function sharesId({ refersTo: { id, url, timeMs } }: Capture, capture: Capture): boolean {
  if (capture.id === null || capture.id !== id) return false;
  return url === undefined || timeMs === undefined || keyOf(url) === capture.key;
}

/** Rule 3: where the revisit tells a digest, it must be one that the record has or tells. */
function fits(revisit: Capture, { stored, digest: claimed }: Capture, payload: Buffer): boolean {
  const digest = provenDigest(revisit);
  if (digest === undefined || isDigestOf(digest, payload)) return true;
  return (stored !== undefined && isDigestOf(digest, stored)) || (claimed !== undefined && equal(claimed, digest));
}

/** Rule 4: of the four places where one may lie, those of the first that has any. */
function atPlace({ refersTo }: Capture, captures: readonly Capture[]): readonly Capture[] {
  const { url, timeMs } = refersTo;
  if (url === undefined || timeMs === undefined) return [];
  const second = (time: number) => Math.floor(time / 1000);
  const near = captures.filter(
    (each) => each.key === keyOf(url) && each.timeMs !== null && second(each.timeMs) === second(timeMs),
  );
  const isUri = (each: Capture) => each.url === url;
  const isMoment = (each: Capture) => each.timeMs === timeMs;
  const tiers = [near.filter((each) => isUri(each) && isMoment(each)), near.filter(isUri), near.filter(isMoment), near];
  return tiers.find((tier) => tier.length > 0) ?? [];
}

/** Absent for revisits without HTTP header, and for 304s. */
export function ownAnswer(capture: Capture): Answer | undefined {
  if (capture.type === "resource") return { ...NO_ANSWER, mime: capture.recordMime };
  if (is304(capture)) return undefined;
  if (capture.http === undefined) return capture.type === "revisit" ? undefined : NO_ANSWER;
  const { status, fields } = capture.http;
  const [, from, to, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(field(fields, "content-range") ?? "") ?? [];
  const isWhole = status === 206 && Number(from) === 0 && Number(to) + 1 === Number(size);
  return {
    status,
    contentStatus: isWhole ? 200 : status,
    location: status >= 300 && status <= 399 ? (field(fields, "location") ?? null) : null,
    mime: readMime(field(fields, "content-type")),
  };
}

/** The paragraph "status and location", but for silent 304s. */
export function answerOf(capture: Capture, payloads: Payloads): Answer {
  const own = ownAnswer(capture);
  if (own !== undefined) return own;
  const payload = payloads.get(capture);
  const source = payload === undefined ? undefined : answerSource(capture, payload, payloads);
  return source === undefined ? NO_ANSWER : ownAnswer(source)!;
}

function answerSource(revisit: Capture, payload: Buffer, payloads: Payloads): Capture | undefined {
  const hasOwnStatus = (each: Capture) => (ownAnswer(each)?.status ?? null) !== null;
  const order = (one: Capture, other: Capture) =>
    one.timeMs! - other.timeMs! || compare(one.key, other.key) || compare(one.mark, other.mark);
  const others = [...payloads.keys()]
    .filter((each) => each !== revisit && each.timeMs !== null && hasOwnStatus(each))
    .filter((each) => payloads.get(each)!.equals(payload))
    .sort(order);
  const sharingId = others.filter((capture) => sharesId(revisit, capture));
  const named = [...atPlace(revisit, sharingId), ...sharingId, ...atPlace(revisit, others)][0];
  if (named !== undefined) return named;
  const before = others.filter(
    (each) =>
      each.key === revisit.key &&
      revisit.timeMs !== null &&
      each.timeMs! <= revisit.timeMs &&
      each.profile !== "unknown" &&
      classByAnswer(each.url, ownAnswer(each)!) === "state",
  );
  return before.at(-1) ?? (payload.length === 0 ? undefined : others[0]);
}

/** The class by status and location alone. */
export function classByAnswer(url: string, answer: Answer): "state" | "failed" | "redirect-to-self" | "part" {
  const { status, contentStatus, location } = answer;
  if (status === null) return "state";
  if (contentStatus === 206 || status === 416) return "part";
  if (status >= 300 && status <= 399 && location !== null && leadsTo(url, location) === keyOf(url)) {
    return "redirect-to-self";
  }
  return status === 408 || status === 425 || status === 429 || status >= 500 ? "failed" : "state";
}

function leadsTo(url: string, location: string): string | undefined {
  return URL.canParse(location, url) ? keyOf(new URL(location, url).href) : undefined;
}

/** What the timeline knows a content by; puts contents of one moment in order. Small hex. */
export function timelineDigest(payload: Buffer, { contentStatus, location }: Answer): string {
  if (location !== null) return sha256(`${contentStatus ?? ""} ${sha256(payload)} ${location}`).slice(0, 32);
  const mask = Buffer.from(sha256(`status ${contentStatus ?? 0}`), "hex");
  const bytes = Buffer.from(sha256(payload), "hex").map((byte, i) => byte ^ mask[i]!);
  return Buffer.from(bytes).toString("hex").slice(0, 32);
}

export function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function equal(one: NonNullable<Capture["digest"]>, other: NonNullable<Capture["digest"]>): boolean {
  return one.algorithm === other.algorithm && one.hex === other.hex;
}

function distinct(payloads: readonly Buffer[]): Buffer[] {
  return payloads.filter((payload, i) => payloads.findIndex((each) => each.equals(payload)) === i);
}
