/**
 * Looks for inconsistencies: every block of the index has its record where the index says, every record of the
 * segments is one that the index knows the outcome of, and the counters are those of the last records. With `scrub` all
 * bytes are read, decompressed and held against their signatures.
 */

import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { Codecs } from "../codec.ts";
import { verifyContent, verifyContentStream } from "../content-check.ts";
import { formatAddress } from "../content-key.ts";
import type { CheckOptions, Finding } from "../volume.ts";
import type { VolumeSettings } from "../volume-settings.ts";
import type { PackCore } from "./pack-core.ts";
import type { BlockEntry } from "./pack-index.ts";
import { listSegments, type ScannedRecord, scanSegment, segmentPath } from "./segment.ts";

/** What segments say of blocks that the index does not have: they must be gone. */
type Absent = Map<string, { sequence: number; references: number; file: string; offset: number }>;

export async function* checkPack(
  disk: Disk,
  core: PackCore,
  settings: VolumeSettings,
  codecs: Codecs,
  options: CheckOptions,
): AsyncGenerator<Finding> {
  const segments = listSegments(disk, core.folder);
  const absent: Absent = new Map();
  let [places, counters, done] = [0, 0, 0];
  for (const segment of segments) {
    const path = segmentPath(core.folder, segment);
    using file = disk.open(path, "read");
    for (const scanned of scanSegment(file, 0, options.scrub === true)) {
      if ("damageAt" in scanned) {
        const { damageAt: offset, message } = scanned;
        yield { code: "HT_CORRUPT", message: `${path}:${offset}: ${message}`, file: path, offset };
        continue;
      }
      const { isPlace, isCounter, finding } = judge(core, segment, path, scanned, absent);
      places += isPlace ? 1 : 0;
      counters += isCounter ? 1 : 0;
      if (finding !== undefined) yield finding;
    }
    options.onProgress?.(++done, segments.length);
  }
  for (const [name, { references, file, offset }] of absent) {
    if (references > 0) {
      yield { code: "HT_LOST", message: `${name}: in a segment, but not in the index`, file, offset };
    }
  }
  yield* checkEntries(core, settings, codecs, options, places, counters);
}

function judge(core: PackCore, segment: number, path: string, { record, offset }: ScannedRecord, absent: Absent) {
  const nothing = { isPlace: false, isCounter: false, finding: undefined };
  if (record === undefined) return nothing;
  const entry = core.state.block(record);
  const name = formatAddress(record);
  if (entry === undefined) {
    const known = absent.get(name);
    if (known === undefined || known.sequence < record.sequence) {
      absent.set(name, { sequence: record.sequence, references: record.references, file: path, offset });
    }
    return nothing;
  }
  const isPlace = record.change === "block" && entry.segment === segment && entry.offset === offset;
  const isCounter = entry.sequence === record.sequence;
  const message = contradiction(entry, record.sequence, isCounter && entry.references !== record.references);
  const finding: Finding | undefined =
    message === undefined ? undefined : { code: "HT_CORRUPT", message: `${name}: ${message}`, file: path, offset };
  return { isPlace, isCounter, finding };
}

function contradiction(entry: BlockEntry, sequence: number, countsOtherwise: boolean): string | undefined {
  if (sequence > entry.sequence) return "the segments know more of it than the index";
  return countsOtherwise ? "the index has another count of references than the segments" : undefined;
}

async function* checkEntries(
  core: PackCore,
  settings: VolumeSettings,
  codecs: Codecs,
  options: CheckOptions,
  places: number,
  counters: number,
): AsyncGenerator<Finding> {
  let blocks = 0;
  const totals = { contentBytes: 0, storedBytes: 0, references: 0 };
  for (const { signature, entry } of core.entries()) {
    blocks++;
    totals.contentBytes += entry.size;
    totals.storedBytes += entry.storedSize;
    totals.references += entry.references;
    if (options.scrub === true) yield* scrub(core, settings, codecs, signature, entry);
  }
  const file = core.folder;
  if (places !== blocks) {
    yield { code: "HT_LOST", message: `${file}: the index has ${blocks} blocks, the segments ${places} of them`, file };
  }
  if (counters !== blocks) {
    yield { code: "HT_CORRUPT", message: `${file}: ${blocks} blocks, but ${counters} of their last counters`, file };
  }
  const { contentBytes, storedBytes, references } = core.state.summary;
  const same = totals.contentBytes === contentBytes && totals.storedBytes === storedBytes;
  if (!same || totals.references !== references || blocks !== core.state.summary.blocks) {
    yield { code: "HT_CORRUPT", message: `${file}: the totals are not those of the blocks`, file };
  }
}

async function* scrub(
  core: PackCore,
  settings: VolumeSettings,
  codecs: Codecs,
  signature: string,
  entry: BlockEntry,
): AsyncGenerator<Finding> {
  const file = segmentPath(core.folder, entry.segment);
  try {
    const data = core.files.read(entry);
    const claim = { signature, size: entry.size, compression: entry.compression };
    if (data instanceof Uint8Array) verifyContent(codecs, settings.signature, claim, data);
    else await verifyContentStream(codecs, settings.signature, claim, data);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    const code = error.code === "HT_SIGNATURE" ? "HT_SIGNATURE" : "HT_CORRUPT";
    yield { code, message: error.message, file, offset: entry.offset };
  }
}
