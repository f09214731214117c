/** Captures that were split over several records: their whole body is there, or what is missing of it is named. */
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { capturesOf, diagnose, makeInput, openReader, openWriter, rebuild } from "../../testing/archive-fixture.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import {
  SEGMENTED_HEAD as HEAD,
  SEGMENTED_ID as ORIGIN,
  SEGMENTED_PAYLOAD as PAYLOAD,
  segments,
  SEGMENTED_URL as URL,
} from "../../testing/segmented-text.ts";

async function archiveOf(kind: "add" | "adopt", ...files: readonly (readonly Buffer[])[]): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  for (const records of files) {
    const input = makeInput(disk, records, "/holdings");
    await using writer = openWriter(disk);
    await writer[kind]([input]);
  }
  return disk;
}

async function look(disk: Disk) {
  await using archive = await openReader(disk);
  const [capture, ...others] = await capturesOf(archive, URL);
  expect(others).toEqual([]);
  await using opened = await archive.open(capture!);
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened.payload()) chunks.push(chunk);
  const { flags, sha256, size, class: kind } = capture!;
  return { payload: Buffer.concat(chunks), missing: opened.missing, flags, sha256, size, kind };
}

const WHOLE = {
  payload: PAYLOAD,
  missing: undefined,
  flags: ["segmented"],
  sha256: digestOf("sha256", PAYLOAD).hex,
  size: PAYLOAD.length,
  kind: "state",
};

const [one, two, three] = segments();

describe.each(["add", "adopt"] as const)("a segmented capture: %s", (kind) => {
  it.each([
    ["in one file", [[one, two, three]]],
    ["over two files", [[one, two], [three]]],
    ["in any order", [[three], [two], [one]]],
    ["twice", [[one, two, three], [one], [two, three]]],
  ])("is whole %s", async (_, files) => {
    const disk = await archiveOf(kind, ...files);
    expect(await look(disk)).toEqual(WHOLE);
    expect(await diagnose(disk)).toEqual([]);
    await rebuild(disk);
    expect(await look(disk)).toEqual(WHOLE);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("says which segment is missing, and is whole when that comes", async () => {
    const disk = await archiveOf(kind, [one], [three]);
    const part = PAYLOAD.subarray(0, 3000 - HEAD.length);
    const found = await look(disk);
    expect(found).toMatchObject({ payload: part, missing: "segment 2 is not in the archive" });
    expect(found.flags).toEqual(["cut-off", "segmented"]);
    expect(await diagnose(disk)).toEqual([]);
    const input = makeInput(disk, [two], "/holdings");
    {
      await using writer = openWriter(disk);
      await writer[kind]([input]);
    }
    expect(await look(disk)).toEqual(WHOLE);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("says that the end is missing", async () => {
    const found = await look(await archiveOf(kind, [one, two]));
    const part = PAYLOAD.subarray(0, 6000 - HEAD.length);
    expect(found).toMatchObject({ payload: part, missing: "segment 3 is not in the archive" });
  });

  it("says that its digest is false", async () => {
    const disk = await archiveOf(kind, segments(formatDigest(digestOf("sha1", noise("other", 10)))));
    expect(await look(disk)).toMatchObject({ payload: PAYLOAD, flags: ["segmented", "digest-lies"] });
  });
});

it("stays whole when its segments are compacted", async () => {
  const disk = await archiveOf("add", [one, two], [three]);
  {
    await using writer = openWriter(disk);
    const text = one.toString("latin1").replaceAll("long.example", "gone.example").replaceAll(ORIGIN, "urn:gone:1");
    const other = Buffer.from(text, "latin1");
    await writer.add([makeInput(disk, [other], "/holdings")]);
    await writer.remove({ site: "gone.example" }, { reason: "a test" });
    expect(writer.compact()).toMatchObject({ segments: 1 });
  }
  expect(await look(disk)).toEqual(WHOLE);
  expect(await diagnose(disk)).toEqual([]);
  await rebuild(disk);
  expect(await look(disk)).toEqual(WHOLE);
});

it("is not continued by a record of another URL", async () => {
  const false2 = Buffer.from(two.toString("latin1").replaceAll("long.example", "evil.example"), "latin1");
  const disk = await archiveOf("add", [false2, one], [three]);
  expect(await look(disk)).toMatchObject({ missing: "segment 2 is not in the archive" });
});
