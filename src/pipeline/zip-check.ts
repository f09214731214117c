/**
 * Whether a ZIP file is what it says: each entry has the size and the CRC-32 of the directory, and a WACZ holds what its
 * datapackage.json lists. Archives inside are looked at as bytes only.
 */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { ArchiveError, type ErrorCode, parseDigest, type Warning } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { type ByteSource, openZipEntry, readZipEntries, type ZipEntry } from "../warc/index.ts";
import { type Input, openFile } from "./inputs.ts";

const PIECE_SIZE = 1 << 20;
const PACKAGE_NAME = "datapackage.json";
/** It lists a few files; larger ones are not read. */
const PACKAGE_SIZE_MAX = 16 << 20;

/** Checks each ZIP file that inputs lie in, once. */
export function checkZips(disk: Disk, inputs: readonly Input[], warn: (warning: Warning) => void): void {
  const paths = new Set(inputs.filter(({ entries }) => entries.length > 0).map(({ path }) => path));
  for (const path of paths) {
    const source = openFile(disk, path);
    try {
      checkZip(source, warn);
    } finally {
      source.close?.();
    }
  }
}

const OF_PACKAGE: ReadonlySet<ErrorCode> = new Set(["HT_WACZ_MISSING", "HT_WACZ_HASH"]);

/**
 * Compares each WACZ that inputs lie in with its datapackage.json, for a caller who reads the archives in it and finds
 * their damage by that. One that cannot be opened is left to it, too.
 */
export function comparePackages(disk: Disk, inputs: readonly Input[], warn: (warning: Warning) => void): void {
  try {
    checkZips(disk, inputs, (warning) => {
      if (OF_PACKAGE.has(warning.code)) warn(warning);
    });
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
  }
}

function checkZip(source: ByteSource, warn: (warning: Warning) => void): void {
  const say = (code: ErrorCode, message: string, offset = 0) => warn({ code, message, file: source.name, offset });
  const entries = [...readZipEntries(source)];
  const listed = readPackage(source, entries, say);
  const wanted = new Map(listed.map((resource) => [resource.path, resource]));
  for (const entry of entries) {
    const { name, headerOffset } = entry;
    try {
      const told = wanted.get(name);
      const found = readEntry(openZipEntry(source, entry, `${source.name}!${name}`), told?.sha256 !== undefined);
      if (found.size !== entry.size || found.crc !== entry.crc)
        say("HT_ZIP_CHECKSUM", `${name}: not what the ZIP directory says`, headerOffset);
      else if (told !== undefined && isOther(told, found))
        say("HT_WACZ_HASH", `${name}: ${PACKAGE_NAME} has another hash or size`, headerOffset);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      // What can be read in another way is no damage.
      if (error.code !== "HT_UNSUPPORTED") say("HT_ZIP_DATA", `${name}: cannot be read`, headerOffset);
    }
    wanted.delete(name);
  }
  for (const { path } of wanted.values()) say("HT_WACZ_MISSING", `${path}: listed in ${PACKAGE_NAME}, but not there`);
}

/** A file that datapackage.json lists. */
interface Resource {
  readonly path: string;
  /** In hex. */
  readonly sha256: string | undefined;
  readonly size: number | undefined;
}

interface ReadEntry {
  readonly size: number;
  readonly crc: number;
  readonly sha256: string | undefined;
}

function isOther(told: Resource, found: ReadEntry): boolean {
  if (told.sha256 !== undefined && told.sha256 !== found.sha256) return true;
  return told.size !== undefined && told.size !== found.size;
}

function readEntry(source: ByteSource, isHashed: boolean): ReadEntry {
  const piece = Buffer.allocUnsafe(PIECE_SIZE);
  const hash = isHashed ? createHash("sha256") : undefined;
  let [size, crc] = [0, 0];
  for (let count = source.read(piece, 0); count > 0; count = source.read(piece, size)) {
    const bytes = piece.subarray(0, count);
    crc = crc32(bytes, crc);
    hash?.update(bytes);
    size += count;
  }
  return { size, crc, sha256: hash?.digest("hex") };
}

type Say = (code: ErrorCode, message: string, offset?: number) => void;

/** What a WACZ lists; nothing where it is no WACZ. */
function readPackage(source: ByteSource, entries: readonly ZipEntry[], say: Say): Resource[] {
  const entry = entries.find(({ name }) => name === PACKAGE_NAME);
  if (entry === undefined) return [];
  const resources = entry.size > PACKAGE_SIZE_MAX ? undefined : parsePackage(source, entry);
  if (resources === undefined) {
    say("HT_WACZ_MISSING", `${PACKAGE_NAME} cannot be read, so nobody knows what should be there`, entry.headerOffset);
    return [];
  }
  return resources.flatMap((each): Resource[] => {
    const { path, hash, bytes } = (each ?? {}) as Record<string, unknown>;
    if (typeof path !== "string") return [];
    const digest = typeof hash === "string" ? parseDigest(hash, "sha256") : undefined;
    const sha256 = digest?.algorithm === "sha256" ? digest.hex : undefined;
    return [{ path: path.replace(/^(?:\.?\/)+/, ""), sha256, size: typeof bytes === "number" ? bytes : undefined }];
  });
}

function parsePackage(source: ByteSource, entry: ZipEntry): unknown[] | undefined {
  const bytes = Buffer.alloc(entry.size);
  try {
    const opened = openZipEntry(source, entry, entry.name);
    let size = 0;
    for (let count = 1; count > 0 && size < bytes.length; size += count) {
      count = opened.read(bytes.subarray(size), size);
    }
    const { resources = [] } = JSON.parse(bytes.toString("utf8", 0, size)) as { resources?: unknown };
    return Array.isArray(resources) ? resources : undefined;
  } catch (error) {
    if (error instanceof ArchiveError || error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
