/** What was removed, and what stayed beside it, is told apart when everything is made anew, in whatever order it comes. */
import { expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import {
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
} from "../../testing/archive-fixture.ts";
import { capturesOf, historyOf, listOf, payloadsOf } from "../../testing/asked-archive.ts";
import { captureBytes, idOf, noise, requestBytes, revisitBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { segmentRecords } from "../../testing/plain-records.ts";

const PAGE = "http://page.example/";
const GONE = "http://gone.example/";
const DATE = "2020-01-05T00:00:00Z";
const [ONE, TWO] = [noise("one", 900), noise("two", 900)];
const NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified";
const reason = "a test";

/** Payloads of the page, in the order of times; null for what waits. */
async function payloads(disk: ForgetfulDisk): Promise<(Buffer | null)[]> {
  return await payloadsOf(disk, PAGE);
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

it("a revisit that refers to what was removed by its moment, though others have that payload", async () => {
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
  expect(await payloads(disk)).toEqual([null]);
  await rebuild(disk);
  expect(await payloads(disk)).toEqual([null]);
  expect(await diagnose(disk)).toEqual([]);
});

it("a revisit that tells nothing, behind one that refers to another that tells nothing, and so to none", async () => {
  const silent = { profile: NOT_MODIFIED, http: "" };
  // Of keys before and behind that of the page.
  for (const other of ["http://b.example/", "http://z.example/"]) {
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
    expect(await payloads(disk)).toEqual([ONE, null, null]);
    await rebuild(disk);
    expect(await payloads(disk)).toEqual([ONE, null, null]);
  }
});

it("captures of one moment and payload go one by one, and what is left fits together, whenever the power goes", async () => {
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
    const { length } = await capturesOf(archive, PAGE);
    const lifespans = await historyOf(archive, PAGE);
    expect(lifespans.reduce((sum, { captures }) => sum + captures, 0)).toBe(length);
    expect(await diagnose(after)).toEqual([]);
    if (!stopped) expect(length).toBe(0);
  }
});

it.each([
  ["added", "the same HTTP header", 1],
  ["adopted", "the same HTTP header", 1],
  ["added", "another HTTP header", 2],
  ["adopted", "another HTTP header", 2],
] as const)(
  "a record that is %s, and a revisit with its id that waits for its payload, with %s",
  async (way, header, count) => {
    const digest = formatDigest(digestOf("sha1", ONE));
    const id = idOf(`revisit ${PAGE} ${DATE}`);
    const http = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${ONE.length}\r\n\r\n`;
    const revisit = revisitBytes({
      uri: PAGE,
      date: DATE,
      digest,
      ...(header === "the same HTTP header" ? { http } : {}),
    });
    const response = captureBytes({ uri: PAGE, date: DATE, payload: ONE, id });
    const disk = new ForgetfulDisk();
    const expected = Array.from({ length: count }, () => ONE);
    {
      await using writer = openWriter(disk);
      await writer.add([makeInput(disk, [revisit])]);
      expect(writer.state).toMatchObject({ captures: 1, pending: 1 });
      await writer[way === "added" ? "add" : "adopt"]([makeInput(disk, [response])]);
      expect(writer.state).toMatchObject({ captures: count, pending: 0, contents: 1 });
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
  },
);

it("a revisit of ours beside a record of others that counts in its place, whose file goes away", async () => {
  const disk = new ForgetfulDisk();
  const id = "urn:uuid:one";
  const http = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${ONE.length}\r\n\r\n`;
  const revisit = revisitBytes({ uri: PAGE, date: DATE, digest: formatDigest(digestOf("sha1", ONE)), id, http });
  const adopted = makeInput(disk, [captureBytes({ uri: PAGE, date: DATE, payload: ONE, id })], "/holdings");
  {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, [revisit])]);
    await writer.adopt([adopted]);
    writer.compact();
  }
  expect(await payloads(disk)).toEqual([ONE]);
  disk.remove(adopted.path);
  await rebuild(disk);
  expect(await payloads(disk)).toEqual([null]);
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
  expect(await payloads(disk)).toEqual([null]);
  await rebuild(disk);
  expect(await payloads(disk)).toEqual([null]);
  {
    await using writer = openWriter(disk);
    writer.compact();
  }
  expect(await payloads(disk)).toEqual([null]);
  expect(await diagnose(disk)).toEqual([]);
});

it("a state that a revisit means which says nothing but that nothing has changed", async () => {
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
  expect(await payloads(disk)).toEqual([ONE, null]);
  await rebuild(disk);
  expect(await payloads(disk)).toEqual([ONE, null]);
  expect(await diagnose(disk)).toEqual([]);
});

const RESPONSE = captureBytes({ uri: PAGE, date: DATE, payload: ONE });
const EARLIER = { uri: PAGE, date: "2020-01-02T00:00:00Z" };

it.each([
  ["by its digest", "another payload", { digest: formatDigest(digestOf("sha1", ONE)) }, TWO],
  ["by its digest", "the same payload", { digest: formatDigest(digestOf("sha1", ONE)) }, ONE],
  ["by its moment", "another payload", { refersTo: { uri: PAGE, date: DATE } }, TWO],
  ["by its moment", "the same payload", { refersTo: { uri: PAGE, date: DATE } }, ONE],
  ["by its id", "the same payload", { refersTo: { id: idOf(`response ${PAGE} ${DATE}`) } }, ONE],
])(
  "a response that was removed comes again, with an earlier revisit of it %s, behind %s",
  async (_, __, told, payload) => {
    const disk = new ForgetfulDisk();
    {
      await using writer = openWriter(disk);
      await writer.adopt([makeInput(disk, [RESPONSE])]);
    }
    await removePayload(disk, ONE);
    {
      await using writer = openWriter(disk);
      await writer.add([makeInput(disk, [captureBytes({ uri: "http://a.example/", date: DATE, payload })])]);
      await writer.adopt([makeInput(disk, [RESPONSE, revisitBytes({ ...EARLIER, ...told })])]);
    }
    const before = await answers(disk);
    // The response stays away; what refers to it has its payload only by a digest that another one has.
    expect(await payloads(disk)).toEqual(["digest" in told && payload === ONE ? ONE : null]);
    await rebuild(disk);
    expect(await answers(disk)).toEqual(before);
    expect(await diagnose(disk)).toEqual([]);
  },
);

it.each(["capture", "request"] as const)(
  "a request that comes after its capture was removed, named by the %s",
  async (by) => {
    const disk = new ForgetfulDisk();
    const [id, request] = ["urn:uuid:capture", "urn:uuid:request"];
    const lines = by === "capture" ? [`WARC-Concurrent-To: <${request}>`] : [];
    {
      await using writer = openWriter(disk);
      const first = captureBytes({ ...EARLIER, payload: TWO });
      await writer.add([makeInput(disk, [first, captureBytes({ uri: PAGE, date: DATE, payload: ONE, id, lines })])]);
    }
    await removePayload(disk, ONE);
    {
      await using writer = openWriter(disk);
      const concurrentTo = by === "request" ? [id] : [];
      const late = requestBytes({ uri: PAGE, date: DATE, method: "HEAD", id: request, concurrentTo });
      const silent = revisitBytes({ uri: PAGE, date: "2020-01-06T00:00:00Z", profile: NOT_MODIFIED, http: "" });
      await writer.add([makeInput(disk, [late]), makeInput(disk, [silent])]);
    }
    const before = await answers(disk);
    await rebuild(disk);
    expect(await answers(disk)).toEqual(before);
    expect(await diagnose(disk)).toEqual([]);
  },
);

/** All captures, lifespans, and what the page held before, at and after its captures. */
async function answers(disk: ForgetfulDisk): Promise<unknown> {
  await using archive = await openReader(disk);
  const captures = await listOf(archive.captures({}));
  const moments = [EARLIER.date, "2020-01-03T00:00:00Z", DATE, "2020-01-06T00:00:00Z"].map((date) =>
    archive.at(PAGE, Date.parse(date)),
  );
  return {
    captures: captures.map((it) => [it.cursor, it.type, it.class, it.status, it.mime, it.sha256, it.flags]),
    lifespans: await listOf(archive.span(Date.UTC(2020), Date.UTC(2021))),
    moments: (await Promise.all(moments)).map((held) => held && [held.lifespan, held.certainty]),
    counts: await archive.counts(),
  };
}

it("takes a removal that only the journal knows for what it is, and refuses nothing", async () => {
  const disk = new ForgetfulDisk();
  const visits = [1, 2].map(
    (day): Visit => ({ uri: "http://a.example/", timeMs: Date.UTC(2020, 0, day), payload: noise(`${day}`, 500) }),
  );
  {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, visits.map(visitBytes))]);
  }
  const before = disk.reopen({ data: "keep", names: "keep", seed: 0 });
  {
    await using writer = openWriter(disk);
    await writer.remove({ url: "http://a.example/", toMs: visits[0]!.timeMs }, { reason: "a test" });
  }
  // The power went when journal and settings were durable, and nothing else.
  for (const name of ["journal.jsonl", "archive.json"]) {
    const path = `${FOLDER}/${name}`;
    using from = disk.open(path, "read");
    const bytes = Buffer.alloc(from.size());
    from.read(bytes, 0);
    using to = before.open(path, "replace");
    to.write(bytes, 0);
  }
  await rebuild(before);
  await using archive = await openReader(before);
  expect((await capturesOf(archive, "http://a.example/")).map(({ timeMs }) => timeMs)).toEqual([visits[1]!.timeMs]);
});

it("keeps a request that came before its capture, and before another of that moment that was removed", async () => {
  const disk = new ForgetfulDisk();
  const request = requestBytes({ uri: PAGE, date: DATE, method: "HEAD", id: "urn:uuid:request" });
  const gone = captureBytes({ uri: PAGE, date: DATE, payload: ONE, id: null });
  const lines = ["WARC-Concurrent-To: <urn:uuid:request>"];
  const stays = captureBytes({ uri: PAGE, date: DATE, payload: TWO, lines });
  {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, [request])]);
    await writer.add([makeInput(disk, [gone, stays])]);
  }
  await removePayload(disk, ONE);
  const classes = async () => {
    await using archive = await openReader(disk);
    return (await capturesOf(archive, PAGE)).map((capture) => capture.class);
  };
  expect(await classes()).toEqual(["other-method"]);
  await rebuild(disk);
  expect(await classes()).toEqual(["other-method"]);
  {
    await using writer = openWriter(disk);
    writer.compact({ all: true });
  }
  const types = segmentRecords(disk, FOLDER).map(({ type }) => type);
  expect(types.sort()).toEqual(["request", "response"]);
});

it("leads a revisit to a chunked payload by its stored digest, though the first capture of it was removed", async () => {
  const disk = new ForgetfulDisk();
  const chunked = { uri: PAGE, payload: ONE, chunks: [500], digest: "stored" } as const;
  const gone = captureBytes({ ...chunked, date: "2020-01-02T00:00:00Z" });
  const stays = captureBytes({ ...chunked, date: "2020-01-04T00:00:00Z" });
  const digest = /^WARC-Payload-Digest: (\S+)/m.exec(gone.toString("latin1"))![1]!;
  const revisit = revisitBytes({ uri: PAGE, date: "2020-01-03T00:00:00Z", digest, http: "" });
  for (const record of [gone, revisit, stays]) {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, [record])]);
  }
  {
    await using writer = openWriter(disk);
    const timeMs = Date.UTC(2020, 0, 2);
    await writer.remove({ url: PAGE, fromMs: timeMs, toMs: timeMs }, { reason });
  }
  expect(await payloads(disk)).toEqual([ONE, ONE]);
  await rebuild(disk);
  expect(await payloads(disk)).toEqual([ONE, ONE]);
  expect(await diagnose(disk)).toEqual([]);
});
