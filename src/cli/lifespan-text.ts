/** Lifespans and captures of an archive as text, and as JSON. */
import type { Archive, CaptureKind, FoundCapture, Lifespan } from "../archive/index.ts";
import { formatIso } from "../base/index.ts";

const DIGEST_SHOWN = 12;
const TIME_WIDTH = "2009-05-14T09:30:04Z".length;

function formatTime(timeMs: number): string {
  return formatIso(timeMs).padEnd(TIME_WIDTH);
}

/** `later` where only the whole lifespan tells the end, `open` where none is known. */
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

/** Where `whole` is false, `end`, `lastSeen` and `captures` are those up to some later time; `at` tells them all. */
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

/** What the catalogue tells of a capture. */
export interface ToldCapture {
  readonly time: string;
  readonly kind: CaptureKind;
  /** Absent for a revisit whose original is not known. */
  readonly sha256: string | null;
  readonly size: number | null;
  /** The file that it came with. */
  readonly source: string | null;
  readonly file: string;
  readonly offset: number;
  readonly flags: readonly string[];
}

export function tellCapture(archive: Archive, found: FoundCapture): ToldCapture {
  const { timeMs, row } = found;
  const original = row.digest === undefined ? undefined : archive.catalogue.anyOriginal(row.digest);
  const { file, offset } = archive.reader.place(found);
  return {
    time: formatIso(timeMs),
    kind: row.kind,
    sha256: original === undefined ? null : Buffer.concat([row.digest!, original.digestRest]).toString("hex"),
    size: original?.payloadSize ?? null,
    source: archive.catalogue.source(row.source)?.name ?? null,
    file,
    offset,
    flags: [
      ...(row.digest === undefined ? ["pending"] : []),
      ...(row.lies ? ["digest-lies"] : []),
      ...(row.oddDate ? ["odd-date"] : []),
    ],
  };
}

/** One line: time, kind, size, digest, where it is, and flags. */
export function formatCapture({ time, kind, sha256, size, file, offset, flags }: ToldCapture): string {
  const digest = sha256?.slice(0, DIGEST_SHOWN) ?? "-".padEnd(DIGEST_SHOWN);
  const columns = [time.padEnd(TIME_WIDTH), kind.padEnd(8), `${size ?? "-"}`.padStart(9), digest, `${file}:${offset}`];
  return [...columns, ...flags].join(" ");
}

/** Whether a capture has the payload of this sha256. */
export function hasPayload({ row }: FoundCapture, sha256: string): boolean {
  return row.digest !== undefined && sha256.startsWith(row.digest.toString("hex"));
}
