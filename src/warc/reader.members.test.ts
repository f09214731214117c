/** Files that were compressed in blocks, whatever stands in them, as bgzip does: a record may begin at any byte of a member. */
import { describe, expect, it } from "vitest";
import { drippingSource, readArchive, readArchiveLater } from "../testing/archive-reading.ts";
import { gzipMember } from "../testing/gzip-member.ts";
import { fourWarcRecords, recordBytes, threeArcRecords } from "../testing/record-text.ts";
import { handmadeFrame, loadFrames } from "../testing/zstd-frame.ts";
import { loadZstd } from "./zstd-codec.ts";

await Promise.all([loadFrames(), loadZstd()]);

const FILES = {
  warc: Buffer.concat(fourWarcRecords().map(recordBytes)),
  "arc 1": Buffer.concat(threeArcRecords(1).map(recordBytes)),
  "arc 2": Buffer.concat(threeArcRecords(2).map(recordBytes)),
};
const PACKS = { gzip: gzipMember, zstd: handmadeFrame };

function cut(bytes: Buffer, size: number, pack: (content: Uint8Array) => Buffer): Buffer {
  const members: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) members.push(pack(bytes.subarray(at, at + size)));
  return Buffer.concat(members);
}

function contents({ records, warnings, error }: ReturnType<typeof readArchive>) {
  const garbage = warnings.filter(({ code }) => code === "HT_GARBAGE");
  return { records: records.map(({ type, uri, digest, size }) => ({ type, uri, digest, size })), garbage, error };
}

describe.each(Object.entries(FILES))("a file of %s", (_, bytes) => {
  const plain = contents(readArchive(bytes));

  it.each(Object.entries(PACKS))("has the same records, wherever its members of %s are cut", (__, pack) => {
    expect(plain.records.length).toBeGreaterThan(2);
    for (let size = 1; size < bytes.length; size += size < 40 ? 1 : 13) {
      expect(contents(readArchive(cut(bytes, size, pack))), `members of ${size} bytes`).toEqual(plain);
    }
  });

  it("has them too where the source answers later, a few bytes at a time", async () => {
    for (const size of [1, 3, 5, 97]) {
      const source = drippingSource(cut(bytes, size, gzipMember), 7);
      expect(contents(await readArchiveLater(source)), `members of ${size} bytes`).toEqual(plain);
    }
  });
});

it("takes no bytes at the end of a member for the beginning of the record in the next", () => {
  const record = recordBytes(fourWarcRecords()[0]!);
  for (const end of ["W", "WARC", "WARC/", "WARC/1", "warc"]) {
    const bytes = Buffer.concat([gzipMember(record), gzipMember(Buffer.from(end)), gzipMember(record)]);
    const { records } = readArchive(bytes);
    expect(records).toHaveLength(2);
    expect(records[1]).toMatchObject({ offset: bytes.length - gzipMember(record).length, inner: undefined });
  }
  const [first, second] = threeArcRecords(1).map(recordBytes);
  const arc = readArchive(Buffer.concat([first!, Buffer.from("http"), second!].map((part) => gzipMember(part))));
  expect(arc.records.map(({ uri }) => uri)).toEqual(
    readArchive(Buffer.concat([first!, second!].map((part) => gzipMember(part)))).records.map(({ uri }) => uri),
  );
});

it("knows where a record begins that goes on in the next member", () => {
  const [one, two] = fourWarcRecords().map(recordBytes);
  const members = [Buffer.concat([one!, two!.subarray(0, 3)]), two!.subarray(3)].map((part) => gzipMember(part));
  const { records } = readArchive(Buffer.concat(members));
  expect(records[1]).toMatchObject({ offset: 0, inner: one!.length, length: undefined });
});

it("finds a record behind garbage on its line, wherever its version line is cut", () => {
  const [one, two, three] = fourWarcRecords().map(recordBytes) as [Buffer, Buffer, Buffer];
  for (const junk of ["WARC", "xWARC/1", "junk\r\n"]) {
    const all = Buffer.concat([one, Buffer.from(junk), two, three]);
    const plain = contents(readArchive(all)).records;
    expect(plain).toHaveLength(3);
    for (let cutAt = one.length - 4; cutAt < one.length + junk.length + 14; cutAt++) {
      const members = [all.subarray(0, cutAt), all.subarray(cutAt)].map((part) => gzipMember(part));
      const { records } = readArchive(Buffer.concat(members));
      expect(
        records.map(({ uri }) => uri),
        `${junk} cut at ${cutAt}`,
      ).toEqual(plain.map(({ uri }) => uri));
    }
  }
});

it("tells no garbage of a member in which all but the end of it is a record", () => {
  const [one, two] = fourWarcRecords().map(recordBytes) as [Buffer, Buffer];
  const first = Buffer.concat([one, Buffer.from("junk\r\n"), two.subarray(0, 3)]);
  const { warnings } = readArchive(Buffer.concat([first, two.subarray(3)].map((part) => gzipMember(part))));
  const garbage = warnings.filter(({ code }) => code === "HT_GARBAGE");
  expect(garbage.map(({ message }) => message)).toEqual(["bytes inside a member that belong to no record"]);
});
