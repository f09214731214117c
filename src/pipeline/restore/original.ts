/**
 * The payloads of originals, wherever they lie: WARC, ARC, an entry of a WACZ. Small ones are held for a while, because
 * a payload that was found twice was most often found many times; large ones are read as they are needed.
 */
import { ArchiveError, formatPlace, isDamage, parseDigest, type Warning } from "../../base/index.ts";
import { digestText } from "../../dedup/index.ts";
import type { Disk } from "../../disk/index.ts";
import { type HttpHead, judgeDigest, payloadOf, scanRecord, WarcReader, type WarcRecord } from "../../warc/index.ts";
import { type Input, openInput, splitName } from "../inputs.ts";
import type { Locator } from "../locator.ts";
import { flagValue, type ManifestLine } from "../manifest-line.ts";
import { RecordFetcher } from "../record-fetcher.ts";

/** A larger payload is not held: whoever needs it reads it from its file. */
export const HELD_SIZE_MAX = 8 << 20;
const HELD_TOTAL_MAX = 32 << 20;

/** The payload of an original, and what its record says of it. */
export interface OriginalPayload {
  /** Pieces are valid until the next one is asked for. */
  readonly chunks: Iterable<Uint8Array>;
  /** Absent where the original is no HTTP message. */
  readonly http: HttpHead | undefined;
  /** The media type of the original's block. */
  readonly blockType: string;
}

interface HeldPayload {
  readonly bytes: Buffer;
  readonly http: HttpHead | undefined;
  readonly blockType: string;
}

export class Originals implements Disposable {
  private readonly disk: Disk;
  private readonly fetcher: RecordFetcher;
  /** In order of their last use. */
  private readonly held = new Map<string, HeldPayload>();
  private heldTotal = 0;

  constructor(disk: Disk) {
    this.disk = disk;
    this.fetcher = new RecordFetcher(disk, pathLocator(disk));
  }

  /** Whether `use` may read the payload as often as it likes. */
  isHeld(line: ManifestLine): boolean {
    return line.payloadSize !== undefined && line.payloadSize <= HELD_SIZE_MAX;
  }

  /** Hands the payload to `use`. Throws where the record cannot be read, or is not the one that the line tells of. */
  use<T>(line: ManifestLine, use: (payload: OriginalPayload) => T): T {
    if (!this.isHeld(line)) return this.fetch(line, use);
    const { bytes, http, blockType } = this.hold(line);
    return use({ chunks: [bytes], http, blockType });
  }

  private hold(line: ManifestLine): HeldPayload {
    const key = `${line.offset} ${flagValue(line, "inner") ?? ""} ${line.file}`;
    const there = this.held.get(key);
    if (there !== undefined) {
      this.held.delete(key);
      this.held.set(key, there);
      return there;
    }
    const held = this.fetch(line, ({ chunks, http, blockType }) => {
      const pieces: Buffer[] = [];
      for (const chunk of chunks) pieces.push(Buffer.from(chunk));
      return { bytes: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), http, blockType };
    });
    this.held.set(key, held);
    this.heldTotal += held.bytes.length;
    for (const [oldest, { bytes }] of this.held) {
      if (this.heldTotal <= HELD_TOTAL_MAX) break;
      this.held.delete(oldest);
      this.heldTotal -= bytes.length;
    }
    return held;
  }

  /** The size of the payload, if nothing says that it is another one than a revisit with this digest stands for. */
  measure(line: ManifestLine, claim: string | undefined): number | undefined {
    const algorithm = parseDigest(claim ?? "")?.algorithm;
    const request = algorithm === undefined ? {} : { payload: [algorithm], stored: [algorithm] };
    return this.read(line, (record) => {
      const scan = scanRecord(record, request);
      const isSaid = digestText(record.payloadDigest) === digestText(claim);
      return isSaid || judgeDigest(claim, scan) !== "mismatch" ? scan.payloadSize : undefined;
    });
  }

  private fetch<T>(line: ManifestLine, use: (payload: OriginalPayload) => T): T {
    return this.read(line, (record) => {
      const { http, chunks } = payloadOf(record);
      const result = use({ http, chunks, blockType: record.blockType });
      while (record.read() !== undefined);
      return result;
    });
  }

  private read<T>(line: ManifestLine, take: (record: WarcRecord) => T): T {
    return line.length === undefined ? this.fetchShared(line, take) : this.fetcher.fetch(line, take).result;
  }

  /** A record that shares its member is reached by reading those before it. */
  private fetchShared<T>(line: ManifestLine, take: (record: WarcRecord) => T): T {
    const inner = flagValue(line, "inner");
    const source = openInput(this.disk, pathLocator(this.disk).locate(line.file));
    let damage: Warning | undefined;
    const onWarning = (warning: Warning) => {
      if (isDamage(warning)) damage ??= warning;
    };
    const reader = new WarcReader(source, { start: line.offset, onWarning });
    try {
      for (let record = reader.next(); record?.offset === line.offset; record = reader.next()) {
        if (String(record.inner) !== String(inner) || record.id !== line.id) continue;
        const result = take(record);
        if (damage !== undefined) throw unreadable(line, damage.message);
        return result;
      }
    } finally {
      reader.close();
      source.close?.();
    }
    throw unreadable(line, "another record than expected");
  }

  [Symbol.dispose](): void {
    this.fetcher[Symbol.dispose]();
  }
}

function unreadable(line: ManifestLine, message: string): ArchiveError {
  const place = { file: line.file, offset: line.offset };
  return new ArchiveError("HT_VERIFY", `${formatPlace(place)}: ${message}`, place);
}

/** Names are those that `findInputs` gave: paths, with the entry where they lie in a ZIP file. */
export function pathLocator(disk: Disk): Locator {
  return {
    locate(name: string): Input {
      const [path, ...entries] = splitName(disk, name);
      return { name, path, entries, size: undefined };
    },
  };
}
