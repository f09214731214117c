/** One slow segment makes nobody wait who reads from another. */
import { expect, test } from "vitest";
import type { Disk, DiskFile } from "../../disk/index.ts";
import { FOLDER, makeInput, openWriter, visitBytes } from "../../testing/archive-fixture.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { Archive } from "./archive.ts";

const READERS = 50;
const uriOf = (number: number) => `http://a.example/${number}`;

/** A disk on which one file answers when it is let, and says how often it was read at once. */
function withSlowFile(
  disk: Disk,
  isSlow: (path: string) => boolean,
  isLet: Promise<void>,
): { readonly disk: Disk; readonly atOnce: () => number } {
  let atOnce = 0;
  const slow = (file: DiskFile): DiskFile =>
    new Proxy(file, {
      get: (target, name) => {
        if (name === "readLater") {
          return async (into: Uint8Array, position: number) => {
            await isLet;
            return target.read(into, position);
          };
        }
        if (name === "read") atOnce++;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value as () => unknown).bind(target) : value;
      },
    });
  const open: Disk["open"] = (path, mode, permissions) => {
    const file = disk.open(path, mode, permissions);
    return isSlow(path) ? slow(file) : file;
  };
  const proxy = new Proxy(disk, {
    get: (target, name) => {
      if (name === "open") return open;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
  return { disk: proxy, atOnce: () => atOnce };
}

test("readers of other segments do not notice", async () => {
  const disk = new ForgetfulDisk();
  const visits = Array.from({ length: READERS }, (_, i) => ({ uri: uriOf(i), payload: noise(`${i}`, 3000) }));
  {
    await using writer = openWriter(disk, { segmentSizeBytes: 1 });
    for (const visit of visits)
      await writer.add([makeInput(disk, [visitBytes({ ...visit, timeMs: Date.UTC(2020, 0, 1) })])]);
  }
  let answer = () => {};
  const isLet = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { disk: slowDisk, atOnce } = withSlowFile(disk, (path) => path.endsWith("/000001.warc.gz"), isLet);
  await using archive = await Archive.open(slowDisk, FOLDER);
  const read = async (number: number) => {
    const moment = await archive.at(uriOf(number), Date.UTC(2021, 0, 1));
    await using opened = await archive.open(moment!.capture);
    const pieces: Uint8Array[] = [];
    for await (const piece of opened.payload()) pieces.push(piece);
    expect(Buffer.concat(pieces)).toEqual(visits[number]!.payload);
  };
  const before = atOnce();
  const slow = read(0);
  // All of them end, though the first one has not had a single byte yet.
  await Promise.all(visits.slice(1).map((_, i) => read(i + 1)));
  answer();
  await slow;
  // What tells the compression of a file is read when that is opened.
  expect(atOnce() - before).toBeLessThan(3);
});
