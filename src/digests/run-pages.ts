/** The pages that a run is made of: how they are sealed and proven, and what its last one tells. Obeys docs/format/digest-index.md. */
import { crc32 } from "node:zlib";
import { ArchiveError } from "../base/index.ts";
import type { ByteSink, DiskFile } from "../disk/index.ts";
import { damagedIndex } from "./byte-fields.ts";

export const PAGE_SIZE = 4096;
/** Without the checksum at its end. */
export const PAGE_ROOM = PAGE_SIZE - 4;
export const RUN_MAGIC = "HTDR";
export const RUN_VERSION = 1;

/** In the order in which they lie in a run. */
export const SECTIONS = [
  "records",
  "digests",
  "equivalents",
  "words",
  "recordFences",
  "digestFences",
  "equivalentFences",
  "urlFilter",
  "digestFilter",
  "equivalentFilter",
] as const;
export type SectionName = (typeof SECTIONS)[number];

/** `size` counts rows of the first three, bytes of all others. */
export interface Section {
  readonly firstPage: number;
  readonly pages: number;
  readonly size: number;
}

export type Sections = Readonly<Record<SectionName, Section>>;

const SECTION_SIZE = 14;
const FOOT_HEAD_SIZE = 8;

/** Writes pages in order, each with its checksum, into which its number goes too: a page in another's place does not hold. */
export class PageSink {
  private readonly output: ByteSink;
  pages = 0;

  constructor(output: ByteSink) {
    this.output = output;
  }

  put(page: Buffer): void {
    page.writeUInt32BE(crc32(page.subarray(0, PAGE_ROOM), this.pages), PAGE_ROOM);
    this.output.write(page);
    this.pages++;
  }

  /** Bytes over as many pages as they need. */
  putStream(bytes: Uint8Array): Section {
    const firstPage = this.pages;
    const page = Buffer.alloc(PAGE_SIZE);
    for (let at = 0; at < bytes.length; at += PAGE_ROOM) {
      const part = bytes.subarray(at, at + PAGE_ROOM);
      page.set(part);
      page.fill(0, part.length);
      this.put(page);
    }
    return { firstPage, pages: this.pages - firstPage, size: bytes.length };
  }
}

export function isPageSound(page: Buffer, number: number): boolean {
  return page.readUInt32BE(PAGE_ROOM) === crc32(page.subarray(0, PAGE_ROOM), number);
}

/** HT_CORRUPT where it fails its checksum. */
export function readPage(file: DiskFile, number: number, into: Buffer): Buffer {
  if (file.read(into, number * PAGE_SIZE) !== PAGE_SIZE || !isPageSound(into, number)) {
    throw damagedIndex(file.path, `page ${number} is damaged`);
  }
  return into;
}

const STREAM_PAGES = 256;

/** All bytes of a section that is one stream, into an array of their size. */
export function readStream(file: DiskFile, { firstPage, pages, size }: Section): Buffer {
  // Its own memory, so that it can be looked at in words.
  const bytes = Buffer.from(new ArrayBuffer(size));
  const chunk = Buffer.allocUnsafe(STREAM_PAGES * PAGE_SIZE);
  for (let done = 0; done < pages; done += STREAM_PAGES) {
    const count = Math.min(STREAM_PAGES, pages - done);
    const part = chunk.subarray(0, count * PAGE_SIZE);
    if (file.read(part, (firstPage + done) * PAGE_SIZE) !== part.length) {
      throw damagedIndex(file.path, "a run is cut off");
    }
    for (let i = 0; i < count; i++) {
      const page = part.subarray(i * PAGE_SIZE, (i + 1) * PAGE_SIZE);
      const number = firstPage + done + i;
      if (!isPageSound(page, number)) throw damagedIndex(file.path, `page ${number} is damaged`);
      page.copy(bytes, (done + i) * PAGE_ROOM, 0, PAGE_ROOM);
    }
  }
  return bytes;
}

export function encodeHead(): Buffer {
  const page = Buffer.alloc(PAGE_SIZE);
  page.write(RUN_MAGIC, 0, "latin1");
  page.writeUInt16BE(RUN_VERSION, 4);
  return page;
}

/** The last page: where everything lies. */
export function encodeFoot(sections: Sections): Buffer {
  const page = encodeHead();
  for (const [i, name] of SECTIONS.entries()) {
    const { firstPage, pages, size } = sections[name];
    const at = FOOT_HEAD_SIZE + SECTION_SIZE * i;
    page.writeUInt32BE(firstPage, at);
    page.writeUInt32BE(pages, at + 4);
    page.writeUIntBE(size, at + 8, 6);
  }
  return page;
}

export function readFoot(file: DiskFile): Sections {
  const size = file.size();
  const last = size / PAGE_SIZE - 1;
  if (!Number.isInteger(last) || last < 1) throw damagedIndex(file.path, "a run is cut off");
  const page = readPage(file, last, Buffer.alloc(PAGE_SIZE));
  if (page.toString("latin1", 0, 4) !== RUN_MAGIC) throw damagedIndex(file.path, "this is no run");
  if (page.readUInt16BE(4) > RUN_VERSION) {
    throw new ArchiveError("HT_FORMAT_TOO_NEW", `${file.path}: a run of a newer Holotype`, { file: file.path });
  }
  const sections = Object.fromEntries(
    SECTIONS.map((name, i) => {
      const at = FOOT_HEAD_SIZE + SECTION_SIZE * i;
      const section = {
        firstPage: page.readUInt32BE(at),
        pages: page.readUInt32BE(at + 4),
        size: page.readUIntBE(at + 8, 6),
      };
      return [name, section];
    }),
  ) as unknown as Sections;
  if (!isInOrder(sections, last)) throw damagedIndex(file.path, "the sections of a run do not follow each other");
  return sections;
}

/** They follow each other from the page behind the head to the foot, and streams have as many pages as their bytes need. */
function isInOrder(sections: Sections, foot: number): boolean {
  let next = 1;
  for (const [i, name] of SECTIONS.entries()) {
    const { firstPage, pages, size } = sections[name];
    if (firstPage !== next || (i >= 3 && pages !== Math.ceil(size / PAGE_ROOM))) return false;
    next += pages;
  }
  return next === foot;
}
