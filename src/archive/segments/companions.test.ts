/** A request that stands behind its response, where only the response says that they belong together. */
import { expect, it } from "vitest";
import { diagnose, exportedTypes, FOLDER, makeInput, openWriter, rebuild } from "../../testing/archive-fixture.ts";
import { captureBytes, noise, recordBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

const URI = "http://a.example/";
const DATE = "2020-01-01T00:00:00Z";

const RESPONSE = captureBytes({
  uri: URI,
  date: DATE,
  payload: noise("page", 900),
  lines: ["WARC-Concurrent-To: <urn:uuid:request>"],
});
const REQUEST = recordBytes(
  [
    "WARC/1.0",
    "WARC-Type: request",
    "WARC-Record-ID: <urn:uuid:request>",
    `WARC-Date: ${DATE}`,
    `WARC-Target-URI: ${URI}`,
    "Content-Type: application/http; msgtype=request",
  ],
  noise("request", 900),
);
const NEXT = captureBytes({ uri: "http://b.example/", date: DATE, payload: noise("next", 900) });

async function filled(): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk);
  await writer.add([makeInput(disk, [RESPONSE, REQUEST, NEXT])]);
  return disk;
}

function size(disk: ForgetfulDisk): number {
  const folder = `${FOLDER}/volumes/0/segments`;
  return disk.list(folder).reduce((sum, { name }) => sum + disk.stat(`${folder}/${name}`)!.sizeBytes, 0);
}

it("is found with it, when it comes and when everything is made anew", async () => {
  const disk = await filled();
  const types = await exportedTypes(disk, { url: URI });
  expect(types.slice(-2)).toEqual(["response", "request"]);
  await rebuild(disk);
  expect(await exportedTypes(disk, { url: URI })).toEqual(types);
  expect(await diagnose(disk)).toEqual([]);
});

it("does not come again with one that is known", async () => {
  const disk = await filled();
  const before = size(disk);
  await using writer = openWriter(disk);
  expect(await writer.add([makeInput(disk, [RESPONSE, REQUEST])])).toMatchObject({ known: 1, bytesKept: 0 });
  expect(size(disk)).toBe(before);
});

it("goes with it when it is removed", async () => {
  const disk = await filled();
  const before = size(disk);
  {
    await using writer = openWriter(disk);
    await writer.remove({ url: URI }, { reason: "a test" });
    writer.compact();
  }
  // Neither the page nor the request are left, which cannot be compressed.
  expect(before - size(disk)).toBeGreaterThan(1800);
});
