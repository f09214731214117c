import { type Archive, type Capture, captureJson, lifespanJson, type Moment, OpenedCapture } from "../archive/index.ts";
import { ArchiveError, formatIso } from "../base/index.ts";
import {
  type ByteSink,
  DurableOutput,
  nodeDisk,
  scratchFolder,
  writeStandardError,
  writeStandardOutput,
} from "../disk/index.ts";
import { type ContentCoding, decodeContent, loadZstd, parseContentCodings } from "../warc/index.ts";
import { ARCHIVE_OPTION, openToAsk, parseAsOf, parseSince, requireWords } from "./archive-option.ts";
import type { Command } from "./command.ts";
import { formatCapture, formatEnd } from "./lifespan-text.ts";
import { formatNumber, printText } from "./talk.ts";

export const at: Command = {
  name: "at",
  purpose: "Show what a URL returned at a given time, or save it to a file.",
  usage: "URL TIME [--output FILE]",
  details: `Content is "observed" between two captures that found it, with no failed visit in between; otherwise it is
"presumed" until a capture found something else. A time that is short of digits means its end: 2014 is the last moment
of that year.`,
  options: {
    ...ARCHIVE_OPTION,
    nearest: { type: "boolean", help: "what the capture nearest to that time found, before or after it" },
    output: {
      type: "string",
      short: "o",
      value: "FILE",
      help: "write the payload to a new file, or to standard output (-)",
    },
    decode: {
      type: "boolean",
      short: "d",
      help: "with --output: undo the content coding (gzip, deflate, br, zstd)",
    },
    headers: { type: "boolean", help: "show the HTTP header, too" },
  },
  exits: "3 segments of the capture are missing · 20 no archive, or nothing known of that URL and time · 23 damaged",
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
    if (decode && output === undefined) throw new ArchiveError("HT_USAGE", "--decode needs --output");
    await using archive = await openToAsk(args);
    const moment = await (args.flag("nearest") ? archive.nearest(url, timeMs) : archive.at(url, timeMs));
    if (moment === undefined) throw await nothing(archive, url, timeMs);
    await using opened = await archive.open(moment.capture);
    // A second is what most captures are told apart by; one within it is one of that time.
    const isSecond = timeMs - sinceMs < 1000 && (moment.capture.timeMs ?? 0) >= sinceMs;
    const answer = new Answer(url, isSecond ? { ...moment, certainty: "observed" } : moment, opened);
    if (opened.missing !== undefined) writeStandardError(`holotype: incomplete: ${opened.missing}\n`);
    const exit = opened.missing === undefined ? 0 : 3;
    if (output === "-") {
      await answer.prove();
      await answer.writeTo({ write: writeStandardOutput }, decode);
      return exit;
    }
    if (output !== undefined) {
      using file = DurableOutput.begin(nodeDisk, output, { access: archive.access });
      await answer.writeTo(file, decode);
      file.commit();
    }
    const withHeaders = args.flag("headers");
    const text = args.flag("json") ? `${JSON.stringify(answer.toJson(withHeaders))}\n` : answer.format(withHeaders);
    printText(text);
    return exit;
  },
};

/** What the archive has of the URL instead. */
async function nothing(archive: Archive, url: string, timeMs: number): Promise<ArchiveError> {
  let first: number | undefined;
  const others = new Map<string, number>();
  for await (const batch of archive.captures({ url })) {
    for (const { class: kind, flags, timeMs: own } of batch) {
      const isState = (kind === "state" || kind === "confirmation") && !flags.includes("pending");
      if (isState) first ??= own;
      const name = flags.includes("pending") ? "pending" : kind;
      if (!isState) others.set(name, (others.get(name) ?? 0) + 1);
    }
  }
  const has = [...others].map(([name, count]) => `${count} ${name}`).join(", ");
  const instead = has === "" ? "" : `; other captures: ${has} (see holotype history --all)`;
  const message =
    first !== undefined && first > timeMs
      ? `nothing is known of it from before ${formatIso(first)}, its first state; --nearest takes that`
      : has === ""
        ? "the archive has no capture of it"
        : "the archive has no state of it";
  return new ArchiveError("HT_NOT_FOUND", `${url}: ${message}${instead}`);
}

/** What is shown of a moment. */
class Answer {
  private readonly asked: string;
  private readonly moment: Moment;
  private readonly opened: OpenedCapture;

  constructor(asked: string, moment: Moment, opened: OpenedCapture) {
    this.asked = asked;
    this.moment = moment;
    this.opened = opened;
  }

  /** Of what is written to others nothing can be taken back: a payload too large to wait in memory is read twice. */
  async prove(): Promise<void> {
    if ((this.opened.size ?? 0) <= OpenedCapture.provenFirstMax) return;
    for await (const _ of this.opened.payload());
  }

  /** Writes the payload as it was sent, or decoded. */
  async writeTo(sink: ByteSink, decode: boolean): Promise<void> {
    const coding = decode ? this.opened.http?.headers.get("content-encoding") : undefined;
    const codings = parseContentCodings(coding, this.moment.capture);
    if (codings.length > 0) await this.writeDecoded(sink, codings);
    else for await (const piece of this.opened.payload()) sink.write(piece);
  }

  /** Only what is proven is decoded, and it may be large: it waits in a file. */
  private async writeDecoded(sink: ByteSink, codings: readonly ContentCoding[]): Promise<void> {
    if (codings.includes("zstd")) await loadZstd();
    using scratch = scratchFolder(nodeDisk);
    using file = nodeDisk.open(`${scratch.path}/payload`, "create");
    let size = 0;
    for await (const piece of this.opened.payload()) {
      file.write(piece, size);
      size += piece.length;
    }
    for await (const piece of decodeContent(piecesOf(file), codings, this.moment.capture)) sink.write(piece);
  }

  toJson(withHeaders: boolean) {
    const { lifespan, certainty, capture, others, before, after, doubts, since } = this.moment;
    const shown = (each: Capture | undefined) => (each === undefined ? null : captureJson(each));
    return {
      ...lifespanJson(lifespan),
      certainty,
      confirmed: capture.class === "confirmation",
      before: shown(before),
      after: shown(after),
      capture: { ...captureJson(capture), id: this.opened.id ?? null },
      others: others.map(captureJson),
      doubts: doubts.map(captureJson),
      since: since.map(captureJson),
      missing: this.opened.missing ?? null,
      ...(withHeaders ? { headers: this.opened.http?.text ?? null } : {}),
    };
  }

  format(withHeaders: boolean): string {
    const { lifespan, capture, others, doubts, since } = this.moment;
    const listed = (name: string, captures: readonly Capture[]): [string, string][] =>
      captures.map((each) => [name, formatCapture(each)]);
    const rows: [string, string][] = [
      ["url", lifespan.url],
      ...(capture.url === this.asked ? [] : [["captured", capture.url] as [string, string]]),
      ["birth", formatIso(lifespan.birth)],
      ["end", formatEnd(lifespan)],
      ["last seen", formatIso(lifespan.lastSeen)],
      ["captures", formatNumber(lifespan.captures)],
      ["certainty", this.formatCertainty()],
      ["status", `${lifespan.status ?? "-"}`],
      ["mime", lifespan.mime ?? "-"],
      ["digest", `sha256:${lifespan.sha256}`],
      ["size", `${lifespan.payloadSize}`],
      ["capture", `${timeOf(capture)}, ${this.describe()}, from ${capture.source ?? "an unknown file"}`],
      ["record", `${capture.file}:${capture.offset}`],
      ...capture.flags.map((flag): [string, string] => ["flag", flag]),
      ...(this.opened.missing === undefined ? [] : [["missing", this.opened.missing] as [string, string]]),
      ...listed("also then", others),
      ...listed("in doubt", doubts),
      ...listed("since then", since),
    ];
    const text = rows.map(([name, value]) => `${name.padEnd(11)}${value}\n`).join("");
    const header = withHeaders ? `\n${(this.opened.http?.text ?? "").replace(/\r\n/g, "\n").trimEnd()}\n` : "";
    return text + header;
  }

  private describe(): string {
    const { capture } = this.moment;
    if (capture.class === "confirmation") return "confirmed by a 304";
    return capture.flags.includes("replaced") ? "a duplicate kept as a revisit" : `a ${capture.type}`;
  }

  private formatCertainty(): string {
    const { after, lifespan, certainty, capture, doubts } = this.moment;
    const seen = timeOf(capture);
    const next = after === undefined ? undefined : timeOf(after);
    const isSeenAgain = after?.timeMs !== undefined && after.timeMs <= lifespan.lastSeen;
    if (certainty === "observed")
      return isSeenAgain ? `observed: captured ${seen}, and unchanged ${next}` : `observed: captured ${seen}`;
    const [doubt] = doubts;
    if (doubt !== undefined) return `presumed: captured ${seen}; a visit of ${timeOf(doubt)} did not find out`;
    if (next === undefined) return `presumed: captured ${seen}, and not since`;
    const found = after!.sha256 === undefined ? "is a revisit without its original" : "found another content";
    return `presumed: captured ${seen}; the next capture, ${next}, ${found}`;
  }
}

function timeOf({ timeMs }: Capture): string {
  return timeMs === undefined ? "without a date" : formatIso(timeMs);
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
