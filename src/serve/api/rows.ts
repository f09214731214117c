/** What the API answers with: the JSON of the command line, with times as 14 digits beside ISO 8601. */
import { type Capture, type Change, captureJson, type Lifespan, lifespanJson } from "../../archive/index.ts";
import { formatIso, formatTimestamp } from "../../base/index.ts";
import { hostOf } from "../../url/index.ts";
import type { Version } from "./versions.ts";

function digits(timeMs: number | undefined): string | null {
  return timeMs === undefined ? null : formatTimestamp(timeMs);
}

/** Files by their names: where they lie is nobody's business. */
export function fileName(path: string): string {
  return path.replace(/^.*[/\\!]/, "");
}

export function captureRow(capture: Capture) {
  const { timeMs, file, source } = capture;
  return {
    ...captureJson(capture),
    key: capture.key,
    timestamp: digits(timeMs),
    file: fileName(file),
    source: source === undefined ? null : fileName(source),
  };
}

export function lifespanRow(lifespan: Lifespan) {
  const { birth, end, lastSeen } = lifespan;
  const timestamps = { birth: digits(birth), end: digits(end), lastSeen: digits(lastSeen) };
  return { ...lifespanJson(lifespan), timestamps };
}

export function changeRow({ kind, timeMs, key, lifespan }: Change) {
  const content = lifespan === undefined ? {} : lifespanRow(lifespan);
  return { change: kind, time: formatIso(timeMs), timestamp: digits(timeMs), key, ...content };
}

export function versionRow({ lifespans, count, captures, firstSeen, lastSeen, last }: Version) {
  const { url, key, status, mime, sha256, payloadSize } = last;
  return {
    url,
    key,
    status: status ?? null,
    mime: mime ?? null,
    sha256,
    size: payloadSize,
    firstSeen: formatIso(firstSeen),
    lastSeen: formatIso(lastSeen),
    timestamps: { firstSeen: digits(firstSeen), lastSeen: digits(lastSeen) },
    captures,
    lifespanCount: count,
    lifespans: lifespans.map(({ birth, end, lastSeen: seen, captures: times }) => ({
      birth: formatIso(birth),
      end: end === undefined ? null : formatIso(end),
      lastSeen: formatIso(seen),
      captures: times,
    })),
  };
}

/** The first capture of a URL stands for it. */
export function urlRow({ url, key, timeMs }: Capture) {
  return {
    url,
    key,
    firstCapture: timeMs === undefined ? null : formatIso(timeMs),
    timestamp: digits(timeMs),
  };
}

/** The first capture of a host by key stands for it. */
export function hostRow({ key }: Capture) {
  const host = hostOf(key) ?? "";
  return { host, key: `${key.slice(0, key.indexOf(")"))})` };
}

export interface PageOfUrl {
  readonly first: Lifespan;
  readonly last: Lifespan;
  readonly captures: number;
  readonly lifespans: number;
}

export function pageRow({ first, last, captures, lifespans }: PageOfUrl) {
  return {
    url: last.url,
    key: last.key,
    mime: last.mime ?? null,
    firstSeen: formatIso(first.birth),
    lastSeen: formatIso(last.lastSeen),
    timestamps: { firstSeen: digits(first.birth), lastSeen: digits(last.lastSeen) },
    captures,
    lifespanCount: lifespans,
  };
}
