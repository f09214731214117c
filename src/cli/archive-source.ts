/** The captures of an archive of ours, for a digest index: what they hold, and the records that can be referred to. */
import { Archive, type Capture, type KnownInArchive } from "../archive/index.ts";
import { formatIso } from "../base/index.ts";
import { timeOfDate } from "../dedup/index.ts";
import type { CaptureSource, DigestEntry, SkipReason } from "../digests/index.ts";
import { nodeDisk } from "../disk/index.ts";

const UNFIT: ReadonlySet<string> = new Set(["pending", "cut-off", "segmented", "odd-date", "removed"]);
const CONTENTS: ReadonlySet<string> = new Set(["state", "confirmation", "failed", "redirect-to-self"]);

export class ArchiveSource implements CaptureSource {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  async readInto(intake: Parameters<CaptureSource["readInto"]>[0]): Promise<void> {
    intake.begin(this.name);
    await using archive = await Archive.open(nodeDisk, this.name);
    using known = archive.known();
    const { validators } = intake.settings;
    for await (const captures of archive.captures({})) {
      for (const capture of captures) {
        const entry = entryOf(capture, known);
        intake.take(validators && typeof entry === "object" ? { ...entry, ...validatorsOf(entry, known) } : entry);
      }
      await intake.breathe(0);
    }
  }
}

function entryOf(capture: Capture, known: KnownInArchive): DigestEntry | SkipReason {
  const { url: uri, timeMs, sha1, sha256, flags } = capture;
  if (timeMs === undefined || uri === "") return "no-url";
  if (sha1 === undefined || sha256 === undefined) return "no-digest";
  if (flags.some((flag) => UNFIT.has(flag))) return "truncated";
  if (!CONTENTS.has(capture.class) || capture.status === 304) return "status";
  const digests = [sha1, `sha256:${sha256}`];
  return {
    uri,
    timeMs,
    digests,
    payloadSize: capture.size,
    status: capture.status,
    mime: capture.mime,
    ...originalOf(capture, timeMs, known, digests),
  };
}

/**
 * The record that holds the payload, and how it is stored there: a revisit must not refer to a body in another framing. A
 * record of the capture itself is named; where it is a revisit, or nobody can tell its framing, the one that the archive
 * would give out.
 */
function originalOf(
  { url: uri, type, flags, file, offset }: Capture,
  timeMs: number,
  known: KnownInArchive,
  digests: readonly string[],
): Pick<DigestEntry, "original" | "framing" | "place"> {
  const held = known
    .find((["plain", "chunked"] as const).map((framing) => ({ by: "digest", digests, uri, framing })))
    .flatMap((each) => (each?.original === undefined ? [] : [{ framing: each.framing, original: each.original }]));
  const isOwn = ({ original }: (typeof held)[number]) =>
    original.uri === uri && timeOfDate(original.date) === timeMs && type !== "revisit";
  const own = held.find(isOwn);
  const isStored = type !== "revisit" && !flags.includes("replaced");
  if (isStored && (own !== undefined || new Set(held.map(({ framing }) => framing)).size === 1)) {
    const original = own?.original ?? { uri, date: formatIso(timeMs), id: undefined };
    return { original: plain(original), framing: (own ?? held[0]!).framing, place: { file, offset } };
  }
  const [first] = held;
  return first === undefined ? {} : { original: plain(first.original), framing: first.framing };
}

function plain({ uri, date, id }: NonNullable<DigestEntry["original"]>): DigestEntry["original"] {
  return { uri, date, id };
}

/** Only the newest visit of a URL is asked about again, so only its header is read. */
function validatorsOf(
  { uri, digests }: DigestEntry,
  known: KnownInArchive,
): Pick<DigestEntry, "etag" | "lastModified"> {
  const [newest] = known.find([{ by: "url", uri }]);
  const isIt = newest?.digests.some((digest) => digests.includes(digest)) === true;
  return isIt ? { etag: newest.etag, lastModified: newest.lastModified } : {};
}
