/** A compaction that finds no room: it must not leave less than there was, for it was wanted to make some. */
import { expect, it } from "vitest";
import { diagnose, FOLDER, makeInput, openReader, openWriter, visitBytes } from "../../testing/archive-fixture.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

const PAGES = 40;
const SEGMENTS = `${FOLDER}/volumes/0/segments`;

const uriOf = (page: number) => `http://a.example/${page}`;

/** Larger than what is buffered on its way to the disk. */
async function removedFrom(): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk);
  const visits = Array.from({ length: PAGES }, (_, page) => {
    return visitBytes({ uri: uriOf(page), timeMs: Date.UTC(2020, 0, 1), payload: noise(`${page}`, 40_000) });
  });
  await writer.add([makeInput(disk, visits)]);
  await writer.remove({ url: uriOf(1) }, { reason: "a test" });
  return disk;
}

function sizes(disk: ForgetfulDisk): Map<string, number> {
  return new Map(disk.list(SEGMENTS).map(({ name }) => [name, disk.stat(`${SEGMENTS}/${name}`)!.sizeBytes]));
}

it("takes back what it has copied, and leaves everything as it was", async () => {
  const whole = await removedFrom();
  const before = sizes(whole);
  let failed = 0;
  for (let fullFromWrite = 1; fullFromWrite < 16; fullFromWrite++) {
    const disk = whole.reopen({ data: "keep", names: "keep", seed: 0 }, { fullFromWrite });
    try {
      await using writer = openWriter(disk);
      expect(writer.compact().segments).toBe(1);
      break;
    } catch (error) {
      expect(error).toMatchObject({ code: "HT_NO_SPACE" });
      failed++;
      const isOfSegment = (error as { place: { file: string } }).place.file.startsWith(SEGMENTS);
      if (isOfSegment) expect(sizes(disk)).toEqual(before);
    }
    expect(await diagnose(disk)).toEqual([]);
    await using archive = await openReader(disk);
    expect((await archive.counts()).captures).toBe(PAGES - 1);
  }
  expect(failed).toBeGreaterThan(4);
});
