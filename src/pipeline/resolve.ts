/**
 * Collision resolution: payloads with one digest are compared byte for byte, and each line gets a hash extension that
 * tells those apart which differ. On the way it is found out what a revisit would have to tell so that the record can be
 * put together again.
 *
 * Invariant: two lines get one digest and extension only where their payloads have been compared, or through a third
 * with which both have been.
 */
import {
  ArchiveError,
  createHasher,
  type Digest,
  type DigestAlgorithm,
  digestOf,
  formatDigest,
  type Warning,
} from "../base/index.ts";
import { payloadOf, scanRecord, type WarcRecord } from "../warc/index.ts";
import { MANIFEST_WIDTH, type ManifestLine, parseColumns, splitLine } from "./manifest-line.ts";
import type { RecordFetcher } from "./record-fetcher.ts";
import { type Examination, examineRecord } from "./reversal.ts";

/** Payloads up to this size are compared in memory, larger ones by reading both at the same time. */
const HELD_SIZE_MAX = 8 << 20;
const HELD_TOTAL_MAX = 64 << 20;
const ROOM_SIZE = 1 << 20;
/** Records with these flags are neither originals nor copies, so nobody has to compare them. */
const LEFT_OUT: ReadonlySet<string> = new Set(["truncated", "segmented", "damaged", "empty", "revisit"]);

/** Payloads that are equal, one of them at hand. */
interface PayloadClass {
  readonly first: ManifestLine;
  readonly payload: Buffer | undefined;
  /** Of the payload, in the algorithms that headers claim. */
  readonly digests: Map<DigestAlgorithm, Digest>;
}

export interface ResolverOptions {
  readonly onWarning?: (warning: Warning) => void;
  /** Payloads that are held to be compared with, each and of one digest together; for tests. */
  readonly heldSizeMax?: number;
  readonly heldTotalMax?: number;
}

export class Resolver {
  /** How many payloads had the digest of another, and were not it. */
  collisions = 0;
  compared = 0;
  /** Whether lines came out as they came in, and no payload had the digest of another. */
  isOrdered = true;
  private readonly fetcher: RecordFetcher;
  private readonly onWarning: (warning: Warning) => void;
  private readonly heldSizeMax: number;
  private readonly heldTotalMax: number;
  private classes: PayloadClass[] = [];
  private heldTotal = 0;
  /** Where payloads are held; what it has no room for gets its own. */
  private readonly room = Buffer.allocUnsafeSlow(ROOM_SIZE);

  constructor(fetcher: RecordFetcher, options: ResolverOptions = {}) {
    this.fetcher = fetcher;
    this.onWarning = options.onWarning ?? (() => {});
    this.heldSizeMax = options.heldSizeMax ?? HELD_SIZE_MAX;
    this.heldTotalMax = options.heldTotalMax ?? HELD_TOTAL_MAX;
  }

  /** Takes lines sorted by digest and gives each with its extension, in the same order. */
  *resolve(lines: Iterable<string>, place = "(manifest)"): Generator<string> {
    let digest: string | undefined;
    /** Of the line before, whether that was compared or not. */
    let last = "";
    /** The first of a group: its record is read only when there is a second. */
    let waiting: GivenLine | undefined;
    for (const text of lines) {
      const columns = splitLine(text, place);
      const line = parseColumns(columns, place);
      const given = { text, columns, line };
      if (isLeftOut(line)) {
        if (line.digest !== undefined && line.digest > last) {
          last = line.digest;
          if (waiting !== undefined) yield extend(waiting, "0", []);
          waiting = undefined;
        }
        // The first of its digest waits for another that it has to be compared with.
        if (waiting !== undefined) this.isOrdered = false;
        yield extend(given, "-", []);
        continue;
      }
      if (line.digest! < last) throw notSorted(place, line);
      last = line.digest!;
      if (line.digest !== digest) {
        if (waiting !== undefined) yield extend(waiting, "0", []);
        this.classes = [];
        this.heldTotal = 0;
        digest = line.digest;
        waiting = given;
        continue;
      }
      if (waiting !== undefined) {
        yield this.classify(waiting, true);
        waiting = undefined;
      }
      yield this.classify(given, false);
    }
    if (waiting !== undefined) yield extend(waiting, "0", []);
  }

  private classify(given: GivenLine, isFirst: boolean): string {
    const { line } = given;
    try {
      const small = line.payloadSize! <= this.heldSizeMax;
      const { extension, flags } = small ? this.classifyHeld(line, isFirst) : this.classifyStreaming(line);
      if (extension > 0) this.isOrdered = false;
      if (extension > 0 && this.classes[extension]!.first === line) this.collisions++;
      return extend(given, String(extension), flags);
    } catch (error) {
      // A full disk is no fault of the record.
      if (!(error instanceof ArchiveError) || error.code === "HT_NO_SPACE") throw error;
      this.onWarning({ code: error.code, message: error.message, file: line.file, offset: line.offset });
      return extend(given, "-", ["damaged"]);
    }
  }

  private classifyHeld(line: ManifestLine, isFirst: boolean): Classified {
    const { result, odd } = this.fetcher.fetch(line, (record) => {
      const pieces: Uint8Array[] = [];
      const whole = record.block !== undefined;
      // Views into a block that is whole stay valid; others have to be copied.
      const onPayload = (bytes: Uint8Array) => void pieces.push(whole ? bytes : Buffer.from(bytes));
      let extension: number | undefined;
      const classify = () => {
        const payload = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
        check(line, payload.length);
        extension ??= this.findClass(line, payload);
        return extension;
      };
      // Nothing comes before the first, so nothing will take its place, and a plain body has nothing else to tell.
      if (isFirst && line.framing === "plain") {
        scanRecord(record, { onPayload });
        return { examination: undefined, extension: classify() };
      }
      // Equal payloads have equal digests: that of the first is enough for all.
      const known = (algorithm: DigestAlgorithm) => this.digestOfClass(classify(), pieces, algorithm);
      const payloadDigest = line.framing === "plain" ? known : undefined;
      return { examination: examineRecord(record, { onPayload, payloadDigest }), extension: classify() };
    });
    return { extension: result.extension, flags: flagsOf(result.examination, odd) };
  }

  private digestOfClass(extension: number, pieces: readonly Uint8Array[], algorithm: DigestAlgorithm): Digest {
    const { digests } = this.classes[extension]!;
    let digest = digests.get(algorithm);
    if (digest === undefined) {
      digest = pieces.length === 1 ? digestOf(algorithm, pieces[0]!) : digestOfPieces(algorithm, pieces);
      digests.set(algorithm, digest);
    }
    return digest;
  }

  private findClass(line: ManifestLine, payload: Uint8Array): number {
    for (const [extension, { first, payload: held }] of this.classes.entries()) {
      if (first.payloadSize !== payload.length) continue;
      this.compared++;
      if (held === undefined ? this.equalsFetched(first, [payload]) : held.equals(payload)) return extension;
    }
    this.begin(line, payload);
    return this.classes.length - 1;
  }

  private begin(line: ManifestLine, payload: Uint8Array | undefined): void {
    const hold = payload !== undefined && this.heldTotal + payload.length <= this.heldTotalMax;
    const held = hold ? this.hold(payload) : undefined;
    this.classes.push({ first: line, payload: held, digests: new Map() });
  }

  /** A copy of a payload, for as long as those of its digest are compared. */
  private hold(payload: Uint8Array): Buffer {
    const start = this.heldTotal;
    this.heldTotal += payload.length;
    if (this.heldTotal > this.room.length) return Buffer.from(payload);
    const held = this.room.subarray(start, this.heldTotal);
    held.set(payload);
    return held;
  }

  private classifyStreaming(line: ManifestLine): Classified {
    const { result: examination, odd } = this.fetcher.fetch(line, (record) => examineRecord(record));
    check(line, examination.scan.payloadSize);
    const flags = flagsOf(examination, odd);
    for (const [extension, { first }] of this.classes.entries()) {
      if (first.payloadSize !== line.payloadSize) continue;
      this.compared++;
      const { result: equal } = this.fetcher.fetch(line, (record) => {
        const same = this.equalsFetched(first, payloadOf(record).chunks);
        drain(record);
        return same;
      });
      if (equal) return { extension, flags };
    }
    this.begin(line, undefined);
    return { extension: this.classes.length - 1, flags };
  }

  private equalsFetched(first: ManifestLine, chunks: Iterable<Uint8Array>): boolean {
    return this.fetcher.fetch(first, (record) => {
      const equal = equalChunks(payloadOf(record).chunks, chunks);
      drain(record);
      return equal;
    }).result;
  }
}

function digestOfPieces(algorithm: DigestAlgorithm, pieces: readonly Uint8Array[]): Digest {
  const hasher = createHasher(algorithm);
  for (const piece of pieces) hasher.update(piece);
  return hasher.finish();
}

interface GivenLine {
  readonly text: string;
  readonly columns: readonly string[];
  readonly line: ManifestLine;
}

interface Classified {
  readonly extension: number;
  readonly flags: readonly string[];
}

function isLeftOut(line: ManifestLine): boolean {
  return (
    line.length === undefined ||
    line.digest === undefined ||
    line.payloadSize === undefined ||
    line.flags.some((flag) => LEFT_OUT.has(flag))
  );
}

function check(line: ManifestLine, size: number): void {
  if (size === line.payloadSize) return;
  const message = `${line.file}:${line.offset}: a payload of ${size} bytes where the manifest has ${line.payloadSize}`;
  throw new ArchiveError("HT_VERIFY", message, { file: line.file, offset: line.offset });
}

function drain(record: WarcRecord): void {
  while (record.read() !== undefined);
}

/** Compares two sequences of pieces, however they are cut, to the first difference. */
export function equalChunks(one: Iterable<Uint8Array>, other: Iterable<Uint8Array>): boolean {
  const left = one[Symbol.iterator]();
  const right = other[Symbol.iterator]();
  let a: Uint8Array = new Uint8Array(0);
  let b: Uint8Array = new Uint8Array(0);
  for (;;) {
    while (a.length === 0) {
      const step = left.next();
      if (step.done === true) break;
      a = step.value;
    }
    while (b.length === 0) {
      const step = right.next();
      if (step.done === true) break;
      b = step.value;
    }
    const count = Math.min(a.length, b.length);
    if (count === 0) return a.length === b.length;
    if (Buffer.compare(a.subarray(0, count), b.subarray(0, count)) !== 0) return false;
    a = a.subarray(count);
    b = b.subarray(count);
  }
}

function notSorted(place: string, line: ManifestLine): ArchiveError {
  const message = `${place}: not sorted by digest at ${line.file}:${line.offset}; see holotype sort`;
  return new ArchiveError("HT_USAGE", message, { file: line.file, offset: line.offset });
}

function flagsOf(examination: Examination | undefined, odd: boolean): string[] {
  if (examination === undefined) return [];
  const { replaced, storedDigest } = examination;
  const flags = replaced === undefined || odd ? ["irreversible"] : [`record:${formatDigest(replaced.digest)}`];
  if (replaced?.chunks !== undefined && !odd) flags.push(`chunks:${replaced.chunks}`);
  if (storedDigest !== undefined) flags.push(`stored-digest:${storedDigest}`);
  return flags;
}

/** The line with more flags, and the extension behind them. Columns that were behind the flags are made anew. */
function extend({ text, columns }: GivenLine, extension: string, flags: readonly string[]): string {
  let added = "";
  for (const flag of flags) added += `,${flag}`;
  if (columns.length === MANIFEST_WIDTH) return `${text}${added}\t${extension}`;
  const before = columns.slice(0, MANIFEST_WIDTH).join("\t");
  const rest = columns.slice(MANIFEST_WIDTH + 1).map((column) => `\t${column}`);
  return `${before}${added}\t${extension}${rest.join("")}`;
}
