import { describe, expect, it } from "vitest";
import {
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
} from "../testing/archive-fixture.ts";
import { noise } from "../testing/capture-text.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";

const VISITS: readonly Visit[] = [1, 2, 3].map((day) => ({
  uri: "http://a.example/",
  timeMs: Date.UTC(2020, 0, day),
  payload: noise(`day ${day}`, 700),
}));

async function filled(): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk);
  await writer.add([makeInput(disk, VISITS.map(visitBytes))]);
  return disk;
}

async function births(disk: ForgetfulDisk): Promise<number[]> {
  await using archive = await openReader(disk);
  return archive.history("http://a.example/").map(({ birth }) => birth);
}

function derived(disk: ForgetfulDisk): string[] {
  return disk.list(FOLDER).flatMap(({ name }) => (/^(?:catalogue|timeline)-/.test(name) ? [name] : []));
}

describe("a rebuild", () => {
  it("leaves one catalogue and one timeline, with the same answers", async () => {
    const disk = await filled();
    const before = derived(disk);
    await rebuild(disk);
    expect(derived(disk)).toHaveLength(2);
    expect(derived(disk)).not.toEqual(before);
    expect(await births(disk)).toEqual(VISITS.map(({ timeMs }) => timeMs));
    expect(await diagnose(disk)).toEqual([]);
  });

  it("that is interrupted leaves everything as it was", async () => {
    const disk = await filled();
    const before = derived(disk);
    await expect(rebuild(disk, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "HT_INTERRUPTED" });
    expect(derived(disk)).toEqual(before);
    expect(await births(disk)).toEqual(VISITS.map(({ timeMs }) => timeMs));
  });

  it("does not disturb who reads", async () => {
    const disk = await filled();
    await using archive = await openReader(disk);
    await rebuild(disk);
    expect(archive.history("http://a.example/")).toHaveLength(VISITS.length);
    const [capture] = archive.captures("http://a.example/");
    expect(archive.reader.payloadBytes(capture!)).toEqual(VISITS[0]!.payload);
  });
});
