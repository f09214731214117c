/** What was removed, and what stayed beside it, is told apart when everything is made anew, in whatever order it comes. */
import { expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import { diagnose, makeInput, openReader, openWriter, rebuild, visitBytes } from "../../testing/archive-fixture.ts";
import { captureBytes, idOf, noise, revisitBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

const PAGE = "http://page.example/";
const GONE = "http://gone.example/";
const DATE = "2020-01-05T00:00:00Z";
const [ONE, TWO] = [noise("one", 900), noise("two", 900)];
const NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified";
const reason = "a test";

/** Payloads of the page, in the order of times; null for what waits. */
async function payloads(disk: ForgetfulDisk): Promise<(Buffer | null)[]> {
  await using archive = await openReader(disk);
  return [...archive.captures(PAGE)].map((capture) =>
    capture.row.digest === undefined ? null : archive.reader.payloadBytes(capture),
  );
}

async function removePayload(disk: ForgetfulDisk, payload: Buffer): Promise<void> {
  await using writer = openWriter(disk);
  await writer.remove({ sha256: digestOf("sha256", payload).hex }, { reason });
}

it.each([
  ["with one id", "urn:uuid:one"],
  ["without an id", null],
])(
  "one of two captures of a moment, %s, where the other is a duplicate that comes before its original",
  async (_, id) => {
    const disk = new ForgetfulDisk();
    const gone = captureBytes({ uri: GONE, date: DATE, payload: noise("gone", 900) });
    const first = captureBytes({ uri: "http://a.example/", date: "2020-01-01T00:00:00Z", payload: TWO });
    const records = [ONE, TWO].map((payload) => captureBytes({ uri: PAGE, date: DATE, payload, id }));
    {
      await using writer = openWriter(disk, { segmentSizeBytes: 3400 });
      await writer.add([makeInput(disk, [gone, first])]);
      await writer.add([makeInput(disk, records)]);
    }
    await removePayload(disk, ONE);
    {
      await using writer = openWriter(disk);
      await writer.remove({ url: GONE }, { reason });
      writer.compact();
    }
    expect(await payloads(disk)).toEqual([TWO]);
    await rebuild(disk);
    expect(await payloads(disk)).toEqual([TWO]);
    expect(await diagnose(disk)).toEqual([]);
  },
);

it("a revisit that another one refers to by its moment", async () => {
  const disk = new ForgetfulDisk();
  {
    await using writer = openWriter(disk);
    const first = captureBytes({ uri: "http://a.example/", date: "2020-01-01T00:00:00Z", payload: ONE });
    await writer.add([makeInput(disk, [first, captureBytes({ uri: PAGE, date: DATE, payload: ONE })])]);
    const refersTo = { uri: PAGE, date: DATE };
    await writer.add([
      makeInput(disk, [revisitBytes({ uri: PAGE, date: "2020-01-06T00:00:00Z", refersTo, http: "" })]),
    ]);
    const timeMs = Date.parse(DATE);
    await writer.remove({ url: PAGE, fromMs: timeMs, toMs: timeMs }, { reason });
  }
  expect(await payloads(disk)).toEqual([ONE]);
  await rebuild(disk);
  expect(await payloads(disk)).toEqual([ONE]);
  expect(await diagnose(disk)).toEqual([]);
});

it("a revisit that tells nothing, behind one that leads to another that tells nothing", async () => {
  const silent = { profile: NOT_MODIFIED, http: "" };
  for (const other of ["http://b.example/", "http://c.example/", "http://d.example/", "http://e.example/"]) {
    const disk = new ForgetfulDisk();
    {
      await using writer = openWriter(disk);
      for (const record of [
        captureBytes({ uri: PAGE, date: "2020-01-01T00:00:00Z", payload: ONE }),
        captureBytes({ uri: other, date: "2020-01-01T00:00:00Z", payload: TWO }),
        revisitBytes({ uri: other, date: "2020-01-02T00:00:00Z", ...silent }),
        revisitBytes({
          uri: PAGE,
          date: "2020-01-03T00:00:00Z",
          refersTo: { uri: other, date: "2020-01-02T00:00:00Z" },
        }),
        revisitBytes({ uri: PAGE, date: "2020-01-04T00:00:00Z", ...silent }),
      ])
        await writer.add([makeInput(disk, [record])]);
    }
    expect(await payloads(disk)).toEqual([ONE, TWO, TWO]);
    await rebuild(disk);
    expect(await payloads(disk)).toEqual([ONE, TWO, TWO]);
  }
});

it("captures of one moment and payload go together, whenever the power goes", async () => {
  const timeMs = Date.parse(DATE);
  const before = new ForgetfulDisk();
  {
    await using writer = openWriter(before);
    const records = [200, 404].flatMap((status, number) =>
      [0, 1].map((day) => visitBytes({ uri: PAGE, timeMs: timeMs + day * 86_400_000, payload: ONE, status, number })),
    );
    await writer.add([makeInput(before, records)]);
  }
  for (let stopAt = 1, stopped = true; stopped; stopAt++) {
    const disk = before.reopen({ data: "keep", names: "keep", seed: 0 }, { stopAt });
    try {
      // In portions of one capture, as far as that goes.
      await using writer = openWriter(disk, { commitChangeCount: 10 });
      await writer.remove({ url: PAGE }, { reason });
    } catch (error) {
      if (!disk.operations.stopped) throw error;
    }
    ({ stopped } = disk.operations);
    const after = disk.reopen({ data: "keep", names: "keep", seed: stopAt });
    {
      await using _ = openWriter(after);
    }
    await using archive = await openReader(after);
    const captures = [...archive.captures(PAGE)].length;
    expect([0, 2, 4]).toContain(captures);
    expect(archive.history(PAGE).reduce((sum, lifespan) => sum + lifespan.captures, 0)).toBe(captures);
  }
});

it("a record with a payload is not taken for the revisit with its id that waits for that payload", async () => {
  const digest = formatDigest(digestOf("sha1", ONE));
  const revisit = revisitBytes({ uri: PAGE, date: DATE, digest });
  const response = captureBytes({ uri: PAGE, date: DATE, payload: ONE, id: idOf(`revisit ${PAGE} ${DATE}`) });
  for (const way of ["added", "adopted"] as const) {
    const disk = new ForgetfulDisk();
    const expected = way === "added" ? [ONE] : [ONE, ONE];
    {
      await using writer = openWriter(disk);
      await writer.add([makeInput(disk, [revisit])]);
      expect(writer.state).toMatchObject({ captures: 1, pending: 1 });
      const input = makeInput(disk, [response]);
      if (way === "added") await writer.add([input]);
      else await writer.adopt([input]);
      // What lies in a file of others may go with it.
      expect(writer.state).toMatchObject({ captures: way === "added" ? 1 : 2, pending: 0, contents: 1 });
      // Neither is new any more.
      expect(await writer.add([makeInput(disk, [revisit, response])])).toMatchObject({ captures: 0, known: 2 });
    }
    expect(await payloads(disk)).toEqual(expected);
    await rebuild(disk);
    expect(await payloads(disk)).toEqual(expected);
    {
      await using writer = openWriter(disk);
      writer.compact();
    }
    expect(await payloads(disk)).toEqual(expected);
    expect(await diagnose(disk)).toEqual([]);
  }
});

it.each([
  ["was added", "before"],
  ["was added", "after"],
  ["was adopted", "before"],
  ["was adopted", "after"],
] as const)("a revisit that %s %s its payload was removed, whatever the clock said", async (way, when) => {
  const disk = new ForgetfulDisk();
  const revisit = revisitBytes({ uri: PAGE, date: DATE, digest: formatDigest(digestOf("sha1", ONE)) });
  let nowMs = Date.UTC(2026, 0, 1);
  // Each time the clock is asked, it is set back by a day.
  const clock = { now: () => (nowMs -= 86_400_000) };
  const enter = async () => {
    await using writer = openWriter(disk, { clock });
    const input = makeInput(disk, [revisit]);
    if (way === "was added") await writer.add([input]);
    else await writer.adopt([input]);
  };
  {
    await using writer = openWriter(disk, { clock });
    await writer.add([makeInput(disk, [captureBytes({ uri: "http://a.example/", date: DATE, payload: ONE })])]);
  }
  if (when === "before") await enter();
  {
    await using writer = openWriter(disk, { clock });
    await writer.remove({ url: "http://a.example/" }, { reason });
  }
  if (when === "after") await enter();
  const expected = [when === "before" ? ONE : null];
  expect(await payloads(disk)).toEqual(expected);
  await rebuild(disk);
  expect(await payloads(disk)).toEqual(expected);
  {
    await using writer = openWriter(disk);
    writer.compact();
  }
  expect(await payloads(disk)).toEqual(expected);
  expect(await diagnose(disk)).toEqual([]);
});

it("a capture that a revisit stands for, which says nothing but that nothing has changed", async () => {
  const disk = new ForgetfulDisk();
  const timeMs = Date.parse(DATE);
  {
    await using writer = openWriter(disk);
    for (const record of [
      captureBytes({ uri: PAGE, date: "2020-01-01T00:00:00Z", payload: ONE }),
      captureBytes({ uri: PAGE, date: DATE, payload: TWO }),
      revisitBytes({ uri: PAGE, date: "2020-01-06T00:00:00Z", profile: NOT_MODIFIED, http: "" }),
    ])
      await writer.add([makeInput(disk, [record])]);
    await writer.remove({ url: PAGE, fromMs: timeMs, toMs: timeMs }, { reason });
    writer.compact();
  }
  expect(await payloads(disk)).toEqual([ONE, TWO]);
  await rebuild(disk);
  expect(await payloads(disk)).toEqual([ONE, TWO]);
  expect(await diagnose(disk)).toEqual([]);
});
