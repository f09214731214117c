/** Records that rot in the segments of an archive, and are still recognised there. */
import type { Disk } from "../disk/index.ts";
import { FOLDER } from "./archive-fixture.ts";
import { packRecords } from "./capture-text.ts";

const SEGMENTS = `${FOLDER}/volumes/0/segments`;

function segmentBytes(disk: Disk): { readonly path: string; readonly bytes: Buffer }[] {
  return disk.list(SEGMENTS).map(({ name }) => {
    const path = `${SEGMENTS}/${name}`;
    using file = disk.open(path, "read");
    const bytes = Buffer.alloc(file.size());
    file.read(bytes, 0);
    return { path, bytes };
  });
}

/** Its member without the checksum at its end, so that it is recognised when that has rotted. */
function bodyOf(record: Buffer): Buffer {
  return packRecords([record]).subarray(0, -8);
}

/** How often a record is in segments, rotten or not. */
export function countOf(disk: Disk, record: Buffer): number {
  const body = bodyOf(record).toString("latin1");
  return segmentBytes(disk).reduce((sum, { bytes }) => sum + bytes.toString("latin1").split(body).length - 1, 0);
}

/** Changes the checksum of a record: all else of it could be read. */
export function rot(disk: Disk, record: Buffer): void {
  for (const { path, bytes } of segmentBytes(disk)) {
    const at = bytes.indexOf(packRecords([record]));
    if (at < 0) continue;
    using file = disk.open(path, "update");
    file.write(Buffer.of(bytes[at + bodyOf(record).length]! ^ 0x55), at + bodyOf(record).length);
    file.sync();
    return;
  }
  throw new Error("the record is in no segment");
}
