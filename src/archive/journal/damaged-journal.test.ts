/** An archive whose journal is not what was written: no command goes on as if nothing had been removed. */
import { describe, expect, it } from "vitest";
import { type Disk, removeTree } from "../../disk/index.ts";
import {
  diagnose,
  exportedTypes,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
} from "../../testing/archive-fixture.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { archivePaths, readSettings } from "../segments/archive-folder.ts";

const paths = archivePaths(FOLDER);
const visit = (name: string): Visit => ({
  uri: `http://${name}.example/`,
  timeMs: Date.UTC(2020, 0, 1),
  payload: noise(name, 900),
});

async function removed(): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk);
  await writer.add([
    makeInput(
      disk,
      ["a", "b", "c"].map((name) => visitBytes(visit(name))),
    ),
  ]);
  for (const name of ["a", "b"]) await writer.remove({ url: `http://${name}.example/` }, { reason: "a court" });
  return disk;
}

function edit(disk: Disk, path: string, change: (text: string) => string): void {
  using file = disk.open(path, "update");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  const changed = Buffer.from(change(bytes.toString()));
  file.truncate(changed.length);
  file.write(changed, 0);
}

function loseCatalogue(disk: Disk): void {
  for (const { name } of disk.list(FOLDER)) {
    if (/^(catalogue|timeline)-/.test(name)) removeTree(disk, `${FOLDER}/${name}`);
  }
}

const corrupt = { code: "HT_CORRUPT", message: expect.stringContaining(paths.journal) as string };

const DAMAGE: readonly [string, (text: string) => string][] = [
  ["one character of the first line is another", (text) => text.replace("http://a.example/", "http://x.example/")],
  ["one character of the last line is another", (text) => text.replace("http://b.example/", "http://x.example/")],
  ["its last line is gone", (text) => `${text.split("\n")[0]!}\n`],
  ["its first line is gone", (text) => text.slice(text.indexOf("\n") + 1)],
  ["its last line is cut", (text) => text.slice(0, -20)],
  ["it is empty", () => ""],
];

describe.each(DAMAGE)("where %s", (_, change) => {
  it("every command refuses, and the doctor names it", async () => {
    const disk = await removed();
    edit(disk, paths.journal, change);
    const { sizeBytes } = disk.stat(paths.journal)!;
    await expect(openReader(disk)).rejects.toMatchObject(corrupt);
    expect(() => openWriter(disk)).toThrow(expect.objectContaining(corrupt));
    await expect(exportedTypes(disk, {})).rejects.toMatchObject(corrupt);
    await expect(rebuild(disk)).rejects.toMatchObject(corrupt);
    await expect(rebuild(disk, { acceptLoss: true })).rejects.toMatchObject(corrupt);
    expect(await diagnose(disk)).toEqual([expect.stringContaining(paths.journal)]);
    expect(disk.stat(paths.journal)!.sizeBytes).toBe(sizeBytes);
  });

  it("so they do when the catalogue is lost", async () => {
    const disk = await removed();
    edit(disk, paths.journal, change);
    loseCatalogue(disk);
    expect(() => openWriter(disk)).toThrow(expect.objectContaining(corrupt));
    await expect(rebuild(disk)).rejects.toMatchObject(corrupt);
  });
});

it("an archive of an earlier version is read, and its journal is covered from the first commit on", async () => {
  const disk = await removed();
  edit(disk, paths.settings, (text) => JSON.stringify({ ...(JSON.parse(text) as object), journal: undefined }));
  edit(disk, paths.journal, (text) => text.replaceAll(/,"checksum":"[0-9a-f]{8}"/g, ""));
  loseCatalogue(disk);
  await rebuild(disk);
  expect(await diagnose(disk)).toEqual([]);
  expect(readSettings(disk, FOLDER).journal).toMatchObject({ entries: 2 });
  edit(disk, paths.journal, (text) => text.replace("http://a.example/", "http://x.example/"));
  await expect(openReader(disk)).rejects.toMatchObject(corrupt);
  await expect(rebuild(disk)).rejects.toMatchObject(corrupt);
});
