/** Lifespans and captures of an archive as text. */
import type { Capture, Lifespan } from "../archive/index.ts";
import { formatIso } from "../base/index.ts";

const DIGEST_SHOWN = 12;
const TIME_WIDTH = "2009-05-14T09:30:04Z".length;
const CLASS_WIDTH = "redirect-to-self".length;

function formatTime(timeMs: number): string {
  return formatIso(timeMs).padEnd(TIME_WIDTH);
}

/** `later` where only the whole lifespan shows the end, `open` where none is known. */
export function formatEnd({ end, isWhole }: Lifespan): string {
  return end === undefined ? (isWhole ? "open" : "later") : formatIso(end);
}

/** One line: birth, end, last seen, captures, status, size, digest, media type, URL. */
export function formatLifespan(lifespan: Lifespan): string {
  const { birth, lastSeen, captures, isWhole, status, payloadSize, sha256, mime, url } = lifespan;
  return [
    formatTime(birth),
    formatEnd(lifespan).padEnd(TIME_WIDTH),
    formatTime(lastSeen),
    `${captures}${isWhole ? "" : "+"}`.padStart(4),
    `${status ?? "-"}`.padStart(3),
    `${payloadSize}`.padStart(9),
    sha256.slice(0, DIGEST_SHOWN),
    (mime ?? "-").padEnd(24),
    url,
  ].join(" ");
}

/** One line: time, class, type, status, size, digest, where it is, and flags. */
export function formatCapture(capture: Capture): string {
  const { timeMs, class: kind, type, status, size, sha256, file, offset, flags } = capture;
  const digest = sha256?.slice(0, DIGEST_SHOWN) ?? "-".padEnd(DIGEST_SHOWN);
  const columns = [
    (timeMs === undefined ? "-" : formatIso(timeMs)).padEnd(TIME_WIDTH),
    kind.padEnd(CLASS_WIDTH),
    type.padEnd(8),
    `${status ?? "-"}`.padStart(3),
    `${size ?? "-"}`.padStart(9),
    digest,
    `${file}:${offset}`,
  ];
  return [...columns, ...flags].join(" ");
}
