/** Records at which other readers stop go out in a file of their own. */
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Disk } from "../../disk/index.ts";
import { FOLDER, makeInput, openWriter, type Visit, visitBytes } from "../../testing/archive-fixture.ts";
import { recordBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { bufferSource, openZipEntry, readZipEntries } from "../../warc/index.ts";
import { exportArchive } from "./export.ts";

const text = (page: number) => {
  const visit: Visit = {
    uri: `http://a.example/${page}`,
    timeMs: Date.UTC(2020, 0, page),
    payload: Buffer.from(`${page}`),
  };
  return visitBytes(visit).toString("latin1");
};
const NOTE = recordBytes(
  ["WARC/0.9", "WARC-Type: conversion", "WARC-Record-ID: <urn:uuid:c>", "WARC-Date: 2020-01-01T00:00:00Z"],
  "note",
).toString("latin1");
const PLAIN = [text(1), text(5)];
const ODD = [
  text(2).replace("WARC/1.0", "WARC/0.9"),
  text(3).replace("WARC-Date", "a line without a colon\r\nWARC-Date"),
  text(4).replace(/^[^]*?\r\n\r\n/, (head) => head.replaceAll("\r\n", "\n")),
];

function bytesOf(disk: Disk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

async function filled(how: "add" | "adopt", records: readonly string[]): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk);
  await writer[how]([
    makeInput(
      disk,
      records.map((each) => Buffer.from(each, "latin1")),
    ),
  ]);
  return disk;
}

const asked = { selection: {}, description: "all", software: "test" } as const;

/** Where each of the records is. */
function whereabouts(records: readonly string[], files: ReadonlyMap<string, string>): string[] {
  return records.map((each) =>
    [...files]
      .filter(([, bytes]) => bytes.includes(each))
      .map(([name]) => name)
      .join(" "),
  );
}

describe.each(["add", "adopt"] as const)("what came by %s", (how) => {
  it("goes to WARC files of two kinds", async () => {
    const disk = await filled(how, [PLAIN[0]!, ...ODD, NOTE, PLAIN[1]!]);
    const report = await exportArchive(disk, FOLDER, { ...asked, output: "/x.warc.gz", format: "warc", cdxj: true });
    expect(report).toMatchObject({ captures: 5, odd: 4, files: ["/x.warc.gz", "/x.odd.warc.gz", "/x.cdxj"] });
    const files = new Map(
      ["x.warc.gz", "x.odd.warc.gz"].map((name) => [name, gunzipSync(bytesOf(disk, `/${name}`)).toString("latin1")]),
    );
    expect(whereabouts(PLAIN, files)).toEqual(PLAIN.map(() => "x.warc.gz"));
    expect(whereabouts([...ODD, NOTE], files)).toEqual([...ODD, NOTE].map(() => "x.odd.warc.gz"));
    expect(
      bytesOf(disk, "/x.cdxj")
        .toString()
        .match(/x\.odd\.warc\.gz/g)?.length,
    ).toBeGreaterThanOrEqual(3);
  });

  it("goes to two entries of a WACZ", async () => {
    const disk = await filled(how, [PLAIN[0]!, ...ODD, PLAIN[1]!]);
    await exportArchive(disk, FOLDER, { ...asked, output: "/x.wacz", format: "wacz" });
    const source = bufferSource(bytesOf(disk, "/x.wacz"));
    const files = new Map<string, string>();
    for (const entry of readZipEntries(source)) {
      if (!entry.name.endsWith(".gz")) continue;
      const bytes = Buffer.alloc(entry.size);
      openZipEntry(source, entry, entry.name).read(bytes, 0);
      files.set(entry.name, gunzipSync(bytes).toString("latin1"));
    }
    expect(whereabouts([...PLAIN, ...ODD], files)).toEqual([
      ...PLAIN.map(() => "archive/data.warc.gz"),
      ...ODD.map(() => "archive/data.odd.warc.gz"),
    ]);
  });

  it("makes no such file where there is none, and takes that of an earlier export away", async () => {
    const disk = await filled(how, [PLAIN[0]!, ...ODD]);
    const options = { ...asked, output: "/x.warc.gz", format: "warc", replace: true } as const;
    await exportArchive(disk, FOLDER, options);
    const { files } = await exportArchive(disk, FOLDER, { ...options, selection: { url: "http://a.example/1" } });
    expect(files).toEqual(["/x.warc.gz"]);
    expect(disk.stat("/x.odd.warc.gz")).toBeUndefined();
  });
});
