/**
 * Taking captures out of an archive. They leave catalogue and timeline at once; the journal says what left, when and why.
 * Their records leave the disk with the next compaction, unless their payload is what others refer to.
 */
import { ArchiveError, formatIso } from "../base/index.ts";
import { keyRange } from "../url/index.ts";
import type { ArchiveCore } from "./archive-core.ts";
import { timeOf, urlHash } from "./capture-key.ts";
import { CaptureReader } from "./capture-reader.ts";
import { archiveKey, DIGEST_HALF } from "./capture-row.ts";
import { type FoundCapture } from "./catalogue-view.ts";
import type { RemovedCapture } from "./journal.ts";

/** Which captures: of a URL, a host and all below it, or a prefix; or those with a payload. The span holds for all. */
export interface Selection {
  readonly url?: string | undefined;
  readonly site?: string | undefined;
  readonly prefix?: string | undefined;
  readonly sha256?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export interface RemoveOptions {
  /** Stands in the journal. */
  readonly reason: string;
  /** Tells what would be removed, and removes nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface RemoveReport {
  readonly captures: readonly RemovedCapture[];
  /** Payloads that no capture has any more. */
  readonly contents: number;
}

const FIRST_MS = -(2 ** 51);
const LAST_MS = 2 ** 51 - 1;
const ENTRY_SIZE = 1000;

export function removeCaptures(core: ArchiveCore, selection: Selection, options: RemoveOptions): RemoveReport {
  const { catalogue, shelf, clock } = core;
  const reader = new CaptureReader(catalogue, shelf);
  const digests = new Map<string, Buffer>();
  const captures: RemovedCapture[] = [];
  const found = new Set<string>();
  for (const each of select(core, selection)) {
    const { digest } = each.row;
    const { url, date, id } = reader.details(each);
    found.add(each.key);
    const rest = digest === undefined ? undefined : catalogue.anyOriginal(digest)?.digestRest;
    const sha256 = digest === undefined || rest === undefined ? null : Buffer.concat([digest, rest]).toString("hex");
    captures.push({ url, date: date ?? formatIso(each.timeMs), sha256, id: id ?? null });
    if (digest !== undefined) digests.set(digest.toString("hex"), digest);
  }
  if (options.dryRun === true) return { captures, contents: countLast(core, digests, found) };
  if (captures.length === 0) return { captures, contents: 0 };
  const shared = {
    kind: "remove",
    time: formatIso(clock.now()),
    reason: options.reason,
    selection: inWords(selection),
  } as const;
  const keys = new Set<string>();
  for (let at = 0; at < captures.length; at += ENTRY_SIZE) {
    const entered = core.journal({ ...shared, captures: captures.slice(at, at + ENTRY_SIZE) });
    for (const key of entered) keys.add(key);
  }
  const before = catalogue.state.contents;
  core.forgetRemoved(keys);
  core.drop(digests.values());
  return { captures, contents: before - catalogue.state.contents };
}

/** How many of the payloads no other captures than these have. */
function countLast(
  { catalogue }: ArchiveCore,
  digests: ReadonlyMap<string, Buffer>,
  removed: ReadonlySet<string>,
): number {
  let count = 0;
  for (const digest of digests.values()) {
    const others = [...catalogue.seen(digest)].some((key) => !removed.has(key));
    if (!others) count++;
  }
  return count;
}

function inWords({ url, site, prefix, sha256, fromMs, toMs }: Selection): string {
  const where =
    url ?? (site === undefined ? undefined : `site ${site}`) ?? (prefix === undefined ? undefined : `${prefix}*`);
  const words = [where ?? `sha256:${sha256!}`];
  if (fromMs !== undefined) words.push(`from ${formatIso(fromMs)}`);
  if (toMs !== undefined) words.push(`to ${formatIso(toMs)}`);
  return words.join(" ");
}

function* select(core: ArchiveCore, selection: Selection): Generator<FoundCapture> {
  const { url, site, prefix, sha256, fromMs = FIRST_MS, toMs = LAST_MS } = selection;
  if ([url, site, prefix, sha256].filter((each) => each !== undefined).length !== 1) {
    throw new ArchiveError("HT_USAGE", "one of URL, site, prefix or digest says what is removed");
  }
  const { catalogue } = core;
  if (sha256 !== undefined) {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new ArchiveError("HT_USAGE", `not a sha256: ${sha256}`);
    for (const key of catalogue.seen(Buffer.from(sha256, "hex").subarray(0, DIGEST_HALF))) {
      const row = catalogue.capture(key);
      const timeMs = timeOf(key);
      if (row !== undefined && timeMs >= fromMs && timeMs <= toMs) yield { key, timeMs, row };
    }
    return;
  }
  if (url !== undefined) {
    yield* catalogue.captures(urlHash(archiveKey(url)), fromMs, toMs);
    return;
  }
  const range = site === undefined ? keyRange(prefix!, "prefix") : keyRange(site, "domain");
  using snapshot = core.timeline.snapshot();
  let last: string | undefined;
  for (const { key } of snapshot.span(FIRST_MS, LAST_MS, range)) {
    if (key === last) continue;
    last = key;
    for (const found of catalogue.captures(urlHash(key), fromMs, toMs)) {
      if (found.row.digest !== undefined) yield found;
    }
  }
  yield* pendingIn(core, range, fromMs, toMs);
}

/** Revisits whose originals are not known are in no timeline. */
function* pendingIn(
  core: ArchiveCore,
  range: { readonly from: string; readonly to: string },
  fromMs: number,
  toMs: number,
): Generator<FoundCapture> {
  const { catalogue, shelf } = core;
  if (catalogue.state.pending === 0) return;
  for (const found of catalogue.allCaptures()) {
    if (found.row.digest !== undefined || found.timeMs < fromMs || found.timeMs > toMs) continue;
    const key = archiveKey(shelf.read(found.row.place, ({ uri }) => uri));
    if (key >= range.from && key < range.to) yield found;
  }
}
