/**
 * What a revisit refers to: the one rule, for files and for archives alike. It obeys docs/lifespans.md, "Revisits". A
 * revisit is turned into a reference; whoever looks for its original gathers the captures that can be found under its
 * keys, and `chooseOriginal` says which of them it is. Nothing depends on the order in which captures became known.
 */
import { digestOf, formatDigest, parseDigest } from "../base/index.ts";
import { urlKey } from "../url/index.ts";
import { timeOfDate } from "./rules.ts";

/** What the header of a revisit says. Digests are in our form, ids without brackets. */
export interface RevisitHeader {
  /** Absent where the record names none; then it is taken for one by digest. */
  readonly profile?: "identical-payload-digest" | "server-not-modified" | "unknown" | undefined;
  /** The payload digest. */
  readonly claim?: string | undefined;
  readonly refersTo?:
    | { readonly uri?: string | undefined; readonly date?: string | undefined; readonly id?: string | undefined }
    | undefined;
  /** Of its own HTTP header, where it has one. */
  readonly status?: number | undefined;
}

/** Under which keys the original of a revisit is found. */
export interface NamedReference {
  readonly kind: "named";
  readonly digest?: string | undefined;
  readonly id?: string | undefined;
  readonly capture?: { readonly uri: string; readonly timeMs: number } | undefined;
}

/**
 * `unread`: the profile is one that we do not know. `empty`: it stands for an empty payload, and needs no original.
 * `silent`: a 304 that says nothing; it means the last state of its own URL. `named` without any key leads nowhere.
 */
export type RevisitReference =
  | { readonly kind: "unread" }
  | { readonly kind: "silent" }
  | (Omit<NamedReference, "kind" | "digest"> & { readonly kind: "empty" })
  | NamedReference;

const EMPTY = new Map(
  (["md5", "sha1", "sha256", "sha512"] as const).map((name) => [name as string, digestOf(name, Buffer.alloc(0)).hex]),
);

/** Whether this is the digest of nothing, which proves nothing. */
export function isEmptyDigest(claim: string | undefined): boolean {
  const digest = claim === undefined ? undefined : parseDigest(claim);
  return digest !== undefined && EMPTY.get(digest.algorithm) === digest.hex;
}

/** Whether a revisit says that its URL had not changed, rather than what it answered. */
export function isNotModified({ profile, status }: Pick<RevisitHeader, "profile" | "status">): boolean {
  return profile === "server-not-modified" || (profile !== "unknown" && status === 304);
}

export function referenceOf(revisit: RevisitHeader): RevisitReference {
  if (revisit.profile === "unknown") return { kind: "unread" };
  const { claim, refersTo } = revisit;
  const isEmpty = isEmptyDigest(claim);
  const is304 = isNotModified(revisit);
  const timeMs = timeOfDate(refersTo?.date);
  const capture = refersTo?.uri === undefined || timeMs === undefined ? undefined : { uri: refersTo.uri, timeMs };
  const digest = isEmpty ? undefined : claim;
  const id = refersTo?.id;
  if (isEmpty && !is304) return { kind: "empty", id, capture };
  if (is304 && digest === undefined && id === undefined && capture === undefined) return { kind: "silent" };
  return { kind: "named", digest, id, capture };
}

/** A capture that may be the original of a revisit. */
export interface OriginalCandidate {
  /** Tells payloads apart: the same for two candidates only if theirs are the same. */
  readonly content: string;
  readonly uri: string | undefined;
  readonly timeMs: number | undefined;
  readonly id: string | undefined;
}

/** The captures that are found under the keys of a reference. The revisit itself is never among them. */
export interface FoundCandidates<C extends OriginalCandidate> {
  /** Of which the digest is proven to be that of their payload. */
  readonly byDigest: readonly C[];
  readonly byId: readonly C[];
  /** Of an equal URL key, in the same second. */
  readonly byCapture: readonly C[];
}

/**
 * The original: by its proven digest; else the record with that id; else the capture of that URI and second. A candidate
 * that is only named counts if it `fits`: its payload has the digest that the revisit tells, as far as it tells one. Where
 * a key leads to several payloads, the next keys decide among them; where none does, there is no original.
 */
export function chooseOriginal<C extends OriginalCandidate>(
  reference: NamedReference,
  { byDigest, byId, byCapture }: FoundCandidates<C>,
  fits: (candidate: C) => boolean,
): C | undefined {
  const isShared = byDigest.length > 0;
  const isProven = (candidate: C) => byDigest.some(({ content }) => content === candidate.content);
  const mayBe = isShared ? isProven : fits;
  const ids = byId.filter((candidate) => isOfNamedUrl(reference, candidate) && mayBe(candidate));
  const chosen = narrow([ids.length > 0 && isOne(ids) ? placedFirst(reference, ids) : []]);
  if (chosen !== undefined) return chosen;
  const places = tiersOf(reference, ids.length > 0 ? ids.filter(isInSecond(reference)) : byCapture.filter(mayBe));
  return narrow(places) ?? (isShared && isOne(byDigest) ? byDigest[0] : undefined);
}

/** Those of the URI and date that are named before the others. */
function placedFirst<C extends OriginalCandidate>(reference: NamedReference, candidates: readonly C[]): readonly C[] {
  return tiersOf(reference, candidates.filter(isInSecond(reference)))[0] ?? candidates;
}

function isInSecond({ capture }: NamedReference): (candidate: OriginalCandidate) => boolean {
  const second = (timeMs: number | undefined) => (timeMs === undefined ? undefined : Math.floor(timeMs / 1000));
  return ({ timeMs }) => capture !== undefined && timeMs !== undefined && second(timeMs) === second(capture.timeMs);
}

/** A revisit that names a URL means none of another one, whatever id it tells. */
function isOfNamedUrl({ capture }: NamedReference, { uri }: OriginalCandidate): boolean {
  return capture === undefined || uri === capture.uri || keyOfUri(uri ?? "") === keyOfUri(capture.uri);
}

/** Whether all have one payload. */
function isOne(candidates: readonly OriginalCandidate[]): boolean {
  return candidates.every(({ content }) => content === candidates[0]!.content);
}

/** The first of the first group that is not empty, if all of that group have one payload. */
function narrow<C extends OriginalCandidate>(groups: readonly (readonly C[])[]): C | undefined {
  const group = groups.find((each) => each.length > 0);
  return group !== undefined && isOne(group) ? group[0] : undefined;
}

/** The exact URI before an equal key, and within that the exact moment before its second. The first that has any. */
function tiersOf<C extends OriginalCandidate>({ capture }: NamedReference, candidates: readonly C[]): C[][] {
  if (capture === undefined || candidates.length === 0) return [];
  const isExactUri = ({ uri }: C) => uri === capture.uri;
  const isExactTime = ({ timeMs }: C) => timeMs === capture.timeMs;
  const [exact, like] = [candidates.filter(isExactUri), candidates.filter((each) => !isExactUri(each))];
  return [exact.filter(isExactTime), exact, like.filter(isExactTime), like].filter((tier) => tier.length > 0);
}

/** The key that equal URLs share; a URI of which no key can be made is its own. */
export function keyOfUri(uri: string): string {
  const key = urlKey(uri);
  return key === "-" ? `-${uri}` : key;
}

/** Names the captures that a revisit may mean by a URI and a date: those of an equal URL in the same second. */
export function keyOfMoment(uri: string, timeMs: number): string {
  return `${Math.floor(timeMs / 1000)} ${keyOfUri(uri)}`;
}

/** Names that a revisit says of the record that it refers to: whoever answers to one of them has to stay where it is. */
export function namesReferredTo(
  uri: string | undefined,
  to:
    | { readonly uri?: string | undefined; readonly date?: string | undefined; readonly id?: string | undefined }
    | undefined,
): string[] {
  const names = to?.id === undefined ? [] : [to.id];
  const timeMs = timeOfDate(to?.date);
  if (to?.uri !== undefined && timeMs !== undefined) return [...names, keyOfMoment(to.uri, timeMs)];
  // Old revisits tell a digest at most, in whatever algorithm: they mean some capture of their own URL.
  const meant = to?.uri ?? uri;
  return meant === undefined ? names : [...names, keyOfUri(meant)];
}

/** What a record answers to. */
export function namesOf({
  uri,
  date,
  id,
}: {
  readonly uri: string | undefined;
  readonly date: string | undefined;
  readonly id: string | undefined;
}): string[] {
  const names = id === undefined ? [] : [id];
  if (uri === undefined) return names;
  const timeMs = timeOfDate(date);
  return [...names, keyOfUri(uri), ...(timeMs === undefined ? [] : [keyOfMoment(uri, timeMs)])];
}

/** The digest in our form, where it can be read. */
export function digestText(claim: string | undefined): string | undefined {
  const digest = claim === undefined ? undefined : parseDigest(claim);
  return digest === undefined ? undefined : formatDigest(digest);
}

/** What tells versions of a page apart for its server; each is compared for equality only. */
export interface Validators {
  readonly etag?: string | number | undefined;
  readonly lastModified?: string | number | undefined;
}

/** A state of a URL, as a silent 304 sees it. */
export interface EarlierState extends Validators {
  readonly status: number | undefined;
}

/**
 * The state that a silent 304 confirms: the last one with status 200, of those that came no later, the last first. Where
 * both tell an ETag (else a Last-Modified) and these differ, it is the last one with that validator, or none.
 */
export function confirmedState<S extends EarlierState>(states: Iterable<S>, told: Validators): S | undefined {
  let compared: keyof Validators | undefined;
  for (const state of states) {
    if (state.status !== 200) continue;
    if (compared === undefined) {
      compared = (["etag", "lastModified"] as const).find(
        (name) => state[name] !== undefined && told[name] !== undefined,
      );
      if (compared === undefined) return state;
    }
    if (state[compared] === told[compared]) return state;
  }
  return undefined;
}
