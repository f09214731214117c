/**
 * Whether a crawler knows a page, and by which record: from an archive, or from whoever else knows contents. An answer names a
 * response of the same key that holds the payload, since revisits will be written that refer to it: never a revisit, never
 * a record that was cut off, never an empty payload. What cannot be referred to is not known.
 */
import type { Capture } from "../../archive/index.ts";
import { formatDigestValue, parseDigest, parseIso } from "../../base/index.ts";
import { isEmptyDigest, type KnownContents, keyOfUri } from "../../dedup/index.ts";
import { formatField } from "../../warc/index.ts";
import type { Collection } from "../collection.ts";
import { timestampOf } from "./cdx-times.ts";
import type { MemoryQuestion } from "./memory-question.ts";

export interface MemoryLine {
  readonly url: string;
  readonly timeMs: number;
  /** With its label. */
  readonly sha1: string;
  readonly mime?: string | undefined;
  readonly status?: number | undefined;
  readonly length?: number | undefined;
}

export interface CrawlerMemory {
  /** The newest state of a URL, by its key. */
  newest(url: string): Promise<MemoryLine | undefined>;
  /** A record with this payload: of this URL if there is one. */
  withDigest(digest: string, url: string): Promise<Pick<MemoryLine, "url" | "timeMs"> | undefined>;
}

/** More captures than this are not looked at for one answer. */
const LOOKED_MAX = 10_000;

export function archiveMemory(collection: Collection): CrawlerMemory {
  return {
    async newest(url) {
      let wanted: string | undefined;
      const query = { url, order: "backwards", fromMs: Number.MIN_SAFE_INTEGER, limit: LOOKED_MAX } as const;
      for await (const captures of collection.captures(query)) {
        for (const capture of captures) {
          if (!isState(capture)) continue;
          if (capture.size === 0) return undefined;
          wanted ??= capture.sha1;
          if (capture.sha1 === wanted && isOriginal(capture)) return lineOf(capture);
        }
      }
      return undefined;
    },

    async withDigest(digest, url) {
      using known = collection.archive.known();
      const [found] = known.find([{ by: "digest", digests: [digest], uri: url }]);
      const original = found?.original;
      const timeMs = original && parseIso(original.date);
      if (original === undefined || timeMs === undefined || found?.payloadSize === 0) return undefined;
      // The archive knows it; whether it may be shown is for the collection to say.
      for await (const captures of collection.captures({ url: original.uri, fromMs: timeMs, toMs: timeMs }))
        if (captures.some((capture) => capture.url === original.uri && isOriginal(capture)))
          return { url: original.uri, timeMs };
      return undefined;
    },
  };
}

function isState(capture: Capture): boolean {
  const isFound = capture.class === "state" || capture.class === "confirmation";
  return isFound && capture.sha1 !== undefined && !capture.flags.includes("cut-off");
}

/** Whether duplicates may refer to its record. */
function isOriginal(capture: Capture): boolean {
  if (capture.type !== "response" || capture.class !== "state") return false;
  return !capture.flags.some((flag) => flag === "replaced" || flag === "cut-off" || flag === "segmented");
}

function lineOf({ url, timeMs, sha1, mime, status, length }: Capture): MemoryLine {
  return { url, timeMs: timeMs!, sha1: sha1!, mime, status, length };
}

/** A digest index knows URLs as they are written, so that the spellings that a key does not tell apart are tried too. */
export function indexMemory(contents: KnownContents): CrawlerMemory {
  return {
    async newest(url) {
      const found = await contents.find(spellings(url).map((uri) => ({ by: "url", uri })));
      let newest: MemoryLine | undefined;
      let newestMs = Number.NEGATIVE_INFINITY;
      for (const known of found) {
        const sha1 = known?.digests.find((digest) => digest.startsWith("sha1:"));
        const original = known?.original;
        const timeMs = original && parseIso(original.date);
        if (known === undefined || sha1 === undefined || timeMs === undefined || isEmptyDigest(sha1)) continue;
        if (known.timeMs <= newestMs || keyOfUri(original!.uri) !== keyOfUri(url)) continue;
        const { mime, status, payloadSize: length } = known;
        newest = { url: original!.uri, timeMs, sha1, mime, status, length };
        newestMs = known.timeMs;
      }
      return newest;
    },

    async withDigest(digest, url) {
      if (isEmptyDigest(digest)) return undefined;
      const [found] = await contents.find([{ by: "digest", digests: [digest], uri: url }]);
      const timeMs = found?.original && parseIso(found.original.date);
      return timeMs === undefined ? undefined : { url: found!.original!.uri, timeMs };
    },
  };
}

/** With and without `www.`, and with either scheme. */
function spellings(url: string): string[] {
  const match = /^(https?):\/\/(www\.)?(.*)$/s.exec(url);
  if (match === null) return [url];
  const [, , , rest] = match;
  const others = ["http://", "http://www.", "https://", "https://www."].map((start) => start + rest!);
  return [url, ...others.filter((other) => other !== url)];
}

/** One line, or nothing: crawlers take a second one for damage. */
export function lastLine(
  line: MemoryLine | undefined,
  { fields }: Pick<MemoryQuestion, "fields">,
  digests: "base32" | "hex" = "base32",
): string {
  const digest = line && parseDigest(line.sha1);
  if (line === undefined || digest === undefined) return "";
  const [timestamp, value] = [timestampOf(line.timeMs), digests === "hex" ? digest.hex : formatDigestValue(digest)];
  if (fields === "time-and-digest") return `${timestamp} ${value}\n`;
  const { url, mime, status, length } = line;
  const told = [keyOfUri(url), timestamp, url, mime, status, value, length === 0 ? undefined : length];
  return `${told.map((each) => formatField(each === undefined ? undefined : String(each))).join(" ")}\n`;
}
