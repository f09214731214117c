import type { Archive, CaptureDetails, FoundCapture, Moment } from "../archive/index.ts";
import { ArchiveError, createHasher, formatIso } from "../base/index.ts";
import { type ByteSink, DurableOutput, nodeDisk, scratchFolder, writeStandardOutput } from "../disk/index.ts";
import { type ContentCoding, decodeContent, loadZstd, parseContentCodings } from "../warc/index.ts";
import { ARCHIVE_OPTION, openToAsk, parseAsOf, parseSince, requireWords } from "./archive-option.ts";
import type { Command } from "./command.ts";
import { formatCapture, formatEnd, hasPayload, lifespanJson, type ToldCapture, tellCapture } from "./lifespan-text.ts";
import { formatNumber, printText } from "./talk.ts";

export const at: Command = {
  name: "at",
  purpose: "Tell what a URL held at a time, or write it to a file.",
  usage: "URL TIME [--output FILE]",
  details: `A content counts as observed up to the last capture that found it, and as presumed behind that, until a capture
found another. A time that is short of digits means its end: 2014 is the last moment of that year.`,
  options: {
    ...ARCHIVE_OPTION,
    nearest: { type: "boolean", help: "what the capture nearest to that time found, before or behind it" },
    output: {
      type: "string",
      short: "o",
      value: "FILE",
      help: "write the payload to a new file, or to standard output (-)",
    },
    decode: {
      type: "boolean",
      short: "d",
      help: "with --output: undo what it was sent with (gzip, deflate, br, zstd)",
    },
    headers: { type: "boolean", help: "tell the HTTP header too" },
  },
  exits: "20 no archive, or nothing is known of that URL and time · 23 the record is damaged",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype at http://cabinet.example/ 2014 --archive /tmp/cabinet",
    "holotype at http://cabinet.example/visit.html 2014 --archive /tmp/cabinet --output - | head -n 20",
  ],
  async run(args) {
    const [url, time] = requireWords(at, args, 2) as [string, string];
    const [sinceMs, timeMs] = [parseSince(time), parseAsOf(time)];
    const output = args.text("output");
    const decode = args.flag("decode");
    if (decode && output === undefined) throw new ArchiveError("HT_USAGE", "--decode is for what --output writes");
    await using archive = await openToAsk(args);
    const moment = args.flag("nearest") ? archive.nearest(url, timeMs) : archive.at(url, timeMs);
    if (moment === undefined) throw nothing(archive, url, timeMs);
    const answer = new Answer(archive, url, moment);
    // A second is what most captures are told apart by; one within it is one of that time.
    if (timeMs - sinceMs < 1000 && moment.lifespan.lastSeen >= sinceMs) answer.certainty = "observed";
    if (output === "-") {
      await answer.writeTo({ write: writeStandardOutput }, decode);
      return 0;
    }
    if (output !== undefined) {
      using file = DurableOutput.begin(nodeDisk, output);
      await answer.writeTo(file, decode);
      file.commit();
    }
    const withHeaders = args.flag("headers");
    const told = args.flag("json") ? `${JSON.stringify(answer.toJson(withHeaders))}\n` : answer.format(withHeaders);
    printText(told);
    return 0;
  },
};

function nothing(archive: Archive, url: string, timeMs: number): ArchiveError {
  const [first] = archive.captures(url);
  const message =
    first === undefined
      ? "the archive has no capture of it"
      : first.timeMs > timeMs
        ? `nothing is known of it from before ${formatIso(first.timeMs)}, its first capture; --nearest takes that`
        : "all captures up to then are revisits whose originals are not in the archive";
  return new ArchiveError("HT_NOT_FOUND", `${url}: ${message}`);
}

const KINDS: Readonly<Record<ToldCapture["kind"], string>> = {
  response: "a response",
  resource: "a resource",
  revisit: "a revisit",
  replaced: "a duplicate kept as a revisit",
};

/** What is told of a moment. */
class Answer {
  certainty: Moment["certainty"];
  private readonly archive: Archive;
  private readonly moment: Moment;
  /** The capture that is shown for it, and all others of its very time. */
  private readonly shown: FoundCapture;
  private readonly others: readonly FoundCapture[];
  private readonly details: CaptureDetails;

  constructor(archive: Archive, url: string, moment: Moment) {
    this.archive = archive;
    this.moment = moment;
    this.certainty = moment.certainty;
    const { shown, details } = findShown(archive, url, moment);
    this.shown = shown;
    this.details = details;
    const { timeMs } = shown;
    this.others = [...archive.captures(url, timeMs, timeMs)].filter(({ key }) => key !== shown.key);
  }

  /** Writes the payload as it was sent, or decoded. */
  async writeTo(sink: ByteSink, decode: boolean): Promise<void> {
    const codings = decode ? parseContentCodings(this.details.http?.headers.get("content-encoding")) : [];
    if (codings.length === 0) this.write(sink);
    else await this.writeDecoded(sink, codings);
  }

  /** Only what is proven is decoded, and it may be large: it waits in a file. */
  private async writeDecoded(sink: ByteSink, codings: readonly ContentCoding[]): Promise<void> {
    if (codings.includes("zstd")) await loadZstd();
    using scratch = scratchFolder(nodeDisk);
    using file = nodeDisk.open(`${scratch.path}/payload`, "create");
    let size = 0;
    this.write({
      write: (bytes) => {
        file.write(bytes, size);
        size += bytes.length;
      },
    });
    for await (const piece of decodeContent(piecesOf(file), codings)) sink.write(piece);
  }

  /** The payload, proven. */
  private write(sink: ByteSink): void {
    const { sha256 } = this.moment.lifespan;
    const hasher = createHasher("sha256");
    this.archive.reader.payload(this.shown, (chunks) => {
      for (const chunk of chunks) {
        hasher.update(chunk);
        sink.write(chunk);
      }
    });
    if (hasher.finish().hex === sha256) return;
    const { file, offset } = this.details;
    const message = `${file}:${offset}: the payload is not the one that was captured; holotype doctor tells more`;
    throw new ArchiveError("HT_CORRUPT", message, { file, offset });
  }

  toJson(withHeaders: boolean) {
    const { archive, certainty } = this;
    const { lifespan, before, after } = this.moment;
    const tell = (found: FoundCapture | undefined) => (found === undefined ? null : tellCapture(archive, found));
    return {
      ...lifespanJson(lifespan),
      certainty,
      before: tell(before),
      after: tell(after),
      capture: this.tellShown(),
      others: this.others.map((found) => tellCapture(archive, found)),
      ...(withHeaders ? { headers: this.details.http?.text ?? null } : {}),
    };
  }

  private tellShown(): ToldCapture & { readonly id: string | null; readonly length: number } {
    const { id, length } = this.details;
    return { ...tellCapture(this.archive, this.shown), id: id ?? null, length };
  }

  format(withHeaders: boolean): string {
    const { lifespan } = this.moment;
    const told = this.tellShown();
    const rows: [string, string][] = [
      ["url", lifespan.url],
      ["birth", formatIso(lifespan.birth)],
      ["end", formatEnd(lifespan)],
      ["last seen", formatIso(lifespan.lastSeen)],
      ["captures", formatNumber(lifespan.captures)],
      ["certainty", this.formatCertainty()],
      ["status", `${lifespan.status ?? "-"}`],
      ["mime", lifespan.mime ?? "-"],
      ["digest", `sha256:${lifespan.sha256}`],
      ["size", `${lifespan.payloadSize}`],
      ["capture", `${told.time}, ${KINDS[told.kind]}, from ${told.source ?? "an unknown file"}`],
      ["record", `${told.file}:${told.offset}`],
      ...told.flags.map((flag): [string, string] => ["flag", flag]),
      ...this.others.map((found): [string, string] => ["also then", formatCapture(tellCapture(this.archive, found))]),
    ];
    const text = rows.map(([name, value]) => `${name.padEnd(11)}${value}\n`).join("");
    const header = withHeaders ? `\n${(this.details.http?.text ?? "").replace(/\r\n/g, "\n").trimEnd()}\n` : "";
    return text + header;
  }

  private formatCertainty(): string {
    const { after, lifespan } = this.moment;
    const seen = formatIso(this.shown.timeMs);
    const next = after === undefined ? undefined : formatIso(after.timeMs);
    if (this.certainty === "observed") {
      const isBetween =
        after !== undefined && after.timeMs <= lifespan.lastSeen && this.moment.certainty === "observed";
      return isBetween ? `observed: captured ${seen}, and unchanged ${next}` : `observed: captured ${seen}`;
    }
    if (after === undefined) return `presumed: captured ${seen}, and not since`;
    const found = after.row.digest === undefined ? "is a revisit without its original" : "found another content";
    return `presumed: captured ${seen}; the next capture, ${next}, ${found}`;
  }
}

/** The last capture up to the moment that found the content. Of several of one time, the one with its status. */
function findShown(archive: Archive, url: string, { lifespan, before }: Moment) {
  let found: FoundCapture | undefined;
  for (const capture of archive.captures(url, lifespan.birth, before?.timeMs, true)) {
    if (found !== undefined && capture.timeMs < found.timeMs) break;
    if (!hasPayload(capture, lifespan.sha256)) continue;
    const details = archive.reader.details(capture);
    if (details.http?.status === lifespan.status) return { shown: capture, details };
    found ??= capture;
  }
  if (found !== undefined) return { shown: found, details: archive.reader.details(found) };
  throw new ArchiveError(
    "HT_CORRUPT",
    `${url}: its captures are not in the catalogue; holotype rebuild makes it again`,
  );
}

const PIECE_SIZE = 1 << 16;

function* piecesOf(file: { read(into: Uint8Array, position: number): number }): Generator<Uint8Array> {
  for (let position = 0; ; ) {
    const piece = Buffer.allocUnsafe(PIECE_SIZE);
    const count = file.read(piece, position);
    if (count === 0) return;
    yield piece.subarray(0, count);
    position += count;
  }
}
