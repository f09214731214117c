/** The keys under which a record is found beside its URL: each of its digests, and each with its equivalent URL. */
import { DIGEST_ALGORITHMS, formatDigest } from "../base/index.ts";
import { equivalentUrl } from "../url/index.ts";
import { DIGEST_SIZES, FIXED_SIZE, FLAG, URL_PREFIXES } from "./entry-bytes.ts";
import type { HashSorter } from "./hash-sorter.ts";
import type { IndexSettings } from "./settings.ts";
import { createHashPair, type HashPair, hashText } from "./url-hash.ts";

const PLACE_SIZE = 5;

export class RowKeys {
  private readonly settings: IndexSettings;
  private readonly digestRows: HashSorter;
  private readonly equivalentRows: HashSorter;
  private readonly pair = createHashPair();

  constructor(settings: IndexSettings, digestRows: HashSorter, equivalentRows: HashSorter) {
    this.settings = settings;
    this.digestRows = digestRows;
    this.equivalentRows = equivalentRows;
  }

  /** The rows of the record that lies in this page of the section, in this slot. */
  add(record: Buffer, size: number, page: number, slot: number): void {
    const { digest, equivalent } = this.settings;
    if (!digest && !equivalent) return;
    const mask = record[FIXED_SIZE - 1]!;
    let urlAt = FIXED_SIZE;
    for (let i = 0; i < DIGEST_SIZES.length; i++) if ((mask & (1 << i)) !== 0) urlAt += DIGEST_SIZES[i]!;
    const url = equivalent ? equivalentUrl(uriAt(record, urlAt, size)) : "";
    for (let i = 0, at = FIXED_SIZE; i < DIGEST_SIZES.length; i++) {
      if ((mask & (1 << i)) === 0) continue;
      const end = at + DIGEST_SIZES[i]!;
      if (digest) addRow(this.digestRows, record.readUInt32BE(at), record.readUInt32BE(at + 4), page, slot);
      if (equivalent) {
        const digest = formatDigest({ algorithm: DIGEST_ALGORITHMS[i]!, hex: record.toString("hex", at, end) });
        hashEquivalent(url, digest, this.pair);
        addRow(this.equivalentRows, this.pair[0]!, this.pair[1]!, page, slot);
      }
      at = end;
    }
  }
}

function uriAt(record: Buffer, at: number, size: number): string {
  const prefix = URL_PREFIXES[(record.readUInt16BE(0) & FLAG.prefix) >> FLAG.prefixShift]!;
  return prefix + record.toString("utf8", at + 2, Math.min(size, at + 2 + record.readUInt16BE(at)));
}

/** What a content of an equivalent URL is found by; the digest in our form. */
export function hashEquivalent(equivalent: string, digest: string, into: HashPair): void {
  hashText(`${equivalent} ${digest}`, into);
}

function addRow(rows: HashSorter, high: number, low: number, page: number, slot: number): void {
  const at = rows.reserve(PLACE_SIZE);
  rows.buffer.writeUInt32BE(page, at);
  rows.buffer[at + PLACE_SIZE - 1] = slot;
  rows.add(high, low, PLACE_SIZE);
}
