/** Captures of adopted files that say something wrong of themselves, and can be read all the same: they go out too. */
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { digestOf } from "../../base/index.ts";
import { FOLDER, makeInput, openReader, openWriter, type Visit, visitBytes } from "../../testing/archive-fixture.ts";
import { readArchive } from "../../testing/archive-reading.ts";
import { capturesOf, payloadOf } from "../../testing/asked-archive.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { exportArchive } from "./export.ts";

const ODD: Visit = { uri: "http://a.example/", timeMs: Date.UTC(2020, 0, 1), payload: noise("odd", 3000) };
const NEXT: Visit = { uri: "http://b.example/", timeMs: Date.UTC(2020, 0, 1), payload: noise("next", 500) };

function withLength(told: string): Buffer {
  const text = visitBytes(ODD).toString("latin1");
  return gzipSync(Buffer.from(text.replace(/\d+(?=\r\n\r\nHTTP)/, told), "latin1"));
}

function withoutChecksum(): Buffer {
  const member = gzipSync(visitBytes(ODD));
  member[member.length - 8]! ^= 1;
  return member;
}

/** The file holds the member, and one that is sound behind it. */
async function adopted(member: Buffer): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  const { path } = makeInput(disk, [], "/holdings");
  const bytes = Buffer.concat([member, gzipSync(visitBytes(NEXT))]);
  {
    using file = disk.open(path, "update");
    file.write(bytes, 0);
    file.sync();
  }
  await using writer = openWriter(disk);
  const report = await writer.adopt([{ name: path, path, entries: [], size: bytes.length }]);
  expect(report).toMatchObject({ captures: 2, damaged: 0 });
  return disk;
}

function read(disk: ForgetfulDisk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

it.each([
  ["a Content-Length that is too large", withLength("4000")],
  ["no Content-Length that can be read", withLength("many")],
  ["a checksum that does not hold", withoutChecksum()],
])("exports a record with %s", async (_, member) => {
  const disk = await adopted(member);
  const [output, description, software] = ["/out.warc.gz", "test", "test"];
  const report = await exportArchive(disk, FOLDER, { output, format: "warc", selection: {}, description, software });
  expect(report).toMatchObject({ captures: 2, record: 2 });
  const { records, warnings } = readArchive(read(disk, output));
  const block = visitBytes(ODD).subarray(visitBytes(ODD).indexOf("HTTP/1.1"), -4);
  expect(records[1]).toMatchObject({ uri: ODD.uri, digest: digestOf("sha1", block).hex });
  expect(records[2]).toMatchObject({ uri: NEXT.uri });
  expect(warnings).toEqual([]);
  await using archive = await openReader(disk);
  const [capture] = await capturesOf(archive, ODD.uri);
  expect(await payloadOf(archive, capture!)).toEqual(ODD.payload);
});
