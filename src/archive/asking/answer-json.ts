/** Lifespans and captures as JSON: what commands print with `--json`, and what servers answer. */
import { formatIso } from "../../base/index.ts";
import type { Capture } from "./capture.ts";
import type { Lifespan } from "./lifespans.ts";

/** Where `whole` is false, `end`, `lastSeen` and `captures` are those up to some later time; `at` shows them all. */
export function lifespanJson(lifespan: Lifespan) {
  const { key, birth, end, lastSeen, captures, isWhole, url, status, mime, sha256, payloadSize } = lifespan;
  return {
    url,
    key,
    birth: formatIso(birth),
    end: end === undefined ? null : formatIso(end),
    lastSeen: formatIso(lastSeen),
    captures,
    whole: isWhole,
    status: status ?? null,
    mime: mime ?? null,
    sha256,
    size: payloadSize,
  };
}

/** What the archive knows of a capture, without reading its record. */
export function captureJson(capture: Capture) {
  const { timeMs } = capture;
  return {
    url: capture.url,
    time: timeMs === undefined ? null : formatIso(timeMs),
    class: capture.class,
    type: capture.type,
    status: capture.status ?? null,
    mime: capture.mime ?? null,
    location: capture.location ?? null,
    method: capture.method ?? null,
    sha256: capture.sha256 ?? null,
    sha1: capture.sha1 ?? null,
    size: capture.size ?? null,
    source: capture.source ?? null,
    file: capture.file,
    offset: capture.offset,
    length: capture.length,
    flags: capture.flags,
  };
}
