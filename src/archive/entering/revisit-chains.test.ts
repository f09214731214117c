/** Thousands of revisits of one payload: each is looked at a few times, not once for each of the others. */
import { expect, it } from "vitest";
import { digestOf, formatDigest, formatIso } from "../../base/index.ts";
import { capturesOf, makeInput, openReader, openWriter } from "../../testing/archive-fixture.ts";
import { captureBytes, noise, revisitBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

const URI = "http://a.example/";
const PAYLOAD = noise("page", 500);
const DIGEST = formatDigest(digestOf("sha1", PAYLOAD));
const COUNT = 3000;
const date = (second: number) => formatIso(Date.UTC(2020, 0, 1) + 1000 * second);
const original = captureBytes({ uri: URI, date: date(0), payload: PAYLOAD });
const numbers = Array.from({ length: COUNT }, (_, i) => i + 1);
const chain = numbers.map((i) =>
  revisitBytes({ uri: URI, date: date(i), refersTo: { uri: URI, date: date(i - 1) }, http: "" }),
);
const waiting = numbers.map((i) => revisitBytes({ uri: URI, date: date(i), digest: DIGEST, http: "" }));

it.each([
  ["a chain of them", [original, ...chain]],
  ["a chain of them, the last first", [...chain.toReversed(), original]],
  ["those that wait for one original", [...waiting, original]],
])("resolves %s in time", { timeout: 30_000 }, async (_, records) => {
  const disk = new ForgetfulDisk();
  {
    await using writer = openWriter(disk);
    expect(await writer.add([makeInput(disk, records)])).toMatchObject({ captures: COUNT + 1, pending: 0 });
  }
  await using archive = await openReader(disk);
  const statuses = (await capturesOf(archive, URI)).map(({ status }) => status);
  expect(statuses).toEqual(Array.from({ length: COUNT + 1 }, () => 200));
});
