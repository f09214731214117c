/** A request that stands behind its response, where only the response says that they belong together. */
import { expect, it } from "vitest";
import { diagnose, exportedTypes, FOLDER, makeInput, openWriter, rebuild } from "../../testing/archive-fixture.ts";
import { captureBytes, noise, recordBytes, requestBytes } from "../../testing/capture-text.ts";
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

it("stays right before its own response when segments are compacted, though another record has the same id", async () => {
  const disk = new ForgetfulDisk();
  const [gone, first, second] = ["http://gone.example/", "http://a.example/1", "http://a.example/2"] as const;
  const response = (uri: string, id: string) => captureBytes({ uri, date: DATE, payload: noise(uri, 900), id });
  const request = requestBytes({ uri: second, date: DATE, concurrentTo: ["urn:uuid:shared"] });
  {
    await using writer = openWriter(disk);
    const files = [
      [response(gone, "urn:uuid:gone"), response(first, "urn:uuid:shared")],
      [request, response(second, "urn:uuid:shared")],
    ];
    await writer.add(files.map((records) => makeInput(disk, records)));
    await writer.remove({ url: gone }, { reason: "a test" });
    expect(writer.compact()).toMatchObject({ segments: 1 });
  }
  expect((await exportedTypes(disk, { url: second })).slice(-2)).toEqual(["request", "response"]);
  expect(await diagnose(disk)).toEqual([]);
});
