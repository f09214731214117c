/**
 * What was there stays there when everything is made again, where chance (tests/archive/answers.property.test.ts) does not
 * get to: files that are away, clocks that are set back, a catalogue that is lost, digests that lie with those of others.
 */
import { expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import { removeTree } from "../../disk/index.ts";
import { FOLDER, makeInput, openReader, openWriter, rebuild } from "../../testing/archive-fixture.ts";
import { capturesOf, historyOf, payloadsOf } from "../../testing/asked-archive.ts";
import { captureBytes, noise, revisitBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import type { WriterOptions } from "../index.ts";

const PAGE = "http://page.example/";
const GONE = "http://gone.example/";
const OTHER = "http://other.example/";
const DATE = "2020-01-05T00:00:00Z";
const ID = "urn:uuid:same";
const PAYLOADS = {
  one: noise("one", 900),
  two: noise("two", 900),
  three: noise("three", 900),
  large: noise("l", 3000),
};
type Name = keyof typeof PAYLOADS;
const reason = "a test";
const silent = { profile: "http://netpreserve.org/warc/1.0/revisit/server-not-modified", http: "" };

function capture(uri: string, name: Name, date = DATE, text: { id?: string; digestText?: string } = {}): Buffer {
  return captureBytes({ uri, date, payload: PAYLOADS[name], ...text });
}

function sha1(name: Name): string {
  return formatDigest(digestOf("sha1", PAYLOADS[name]));
}

/** What the page held, in the order of times. */
async function held(disk: ForgetfulDisk): Promise<string[]> {
  return (await payloadsOf(disk, PAGE)).map((payload) => {
    if (payload === null) return "waits";
    return Object.entries(PAYLOADS).find(([, bytes]) => bytes.equals(payload))![0];
  });
}

async function add(disk: ForgetfulDisk, options: WriterOptions, ...files: (readonly Buffer[])[]): Promise<void> {
  await using writer = openWriter(disk, options);
  for (const records of files) await writer.add([makeInput(disk, records)]);
}

async function remove(
  disk: ForgetfulDisk,
  selection: { url?: string; name?: Name },
  isCompacted = false,
): Promise<void> {
  await using writer = openWriter(disk);
  const { url, name } = selection;
  await writer.remove(url === undefined ? { sha256: digestOf("sha256", PAYLOADS[name!]).hex } : { url }, { reason });
  if (isCompacted) writer.compact();
}

it("one of two captures with one id, whose original lies in a file that is away for a while", async () => {
  const disk = new ForgetfulDisk();
  const adopted = makeInput(disk, [capture(OTHER, "two", "2020-01-01T00:00:00Z")]);
  {
    await using writer = openWriter(disk);
    await writer.adopt([adopted]);
    await writer.add([
      makeInput(disk, [capture(PAGE, "one", DATE, { id: ID }), capture(PAGE, "two", DATE, { id: ID })]),
    ]);
  }
  await remove(disk, { name: "one" });
  expect(await held(disk)).toEqual(["two"]);
  const bytes = Buffer.alloc(adopted.size!);
  {
    using file = disk.open(adopted.path, "read");
    file.read(bytes, 0);
  }
  disk.remove(adopted.path);
  await rebuild(disk);
  {
    await using writer = openWriter(disk);
    writer.compact();
  }
  expect(await held(disk)).toEqual(["waits"]);
  {
    using file = disk.open(adopted.path, "replace");
    file.write(bytes, 0);
    file.sync();
  }
  await rebuild(disk);
  expect(await held(disk)).toEqual(["two"]);
});

it("a revisit that waits beside a response with its id that was removed", async () => {
  const disk = new ForgetfulDisk();
  const revisit = revisitBytes({ uri: PAGE, date: DATE, digest: sha1("two"), id: ID });
  await add(disk, {}, [revisit], [capture(PAGE, "one", DATE, { id: ID })]);
  await remove(disk, { name: "one" });
  expect(await held(disk)).toEqual(["waits"]);
  await rebuild(disk);
  expect(await held(disk)).toEqual(["waits"]);
});

it("a revisit that came behind a removal, with a file whose number might have been another's", async () => {
  const disk = new ForgetfulDisk();
  await add(disk, { segmentSizeBytes: 1000 }, [capture(OTHER, "one")], [capture(GONE, "two")]);
  await remove(disk, { url: GONE }, true);
  await remove(disk, { url: OTHER });
  await rebuild(disk);
  await add(disk, {}, [revisitBytes({ uri: PAGE, date: DATE, digest: sha1("one") })]);
  expect(await held(disk)).toEqual(["waits"]);
  await rebuild(disk);
  expect(await held(disk)).toEqual(["waits"]);
});

it("what was removed stays so, whenever the power goes while a lost catalogue is made anew", {
  timeout: 60_000,
}, async () => {
  const lost = new ForgetfulDisk();
  const others = [0, 1].map((i) => captureBytes({ uri: `${OTHER}${i}`, date: DATE, payload: noise(`b${i}`, 500) }));
  await add(lost, { segmentSizeBytes: 1000 }, [capture(OTHER, "one")], others);
  await remove(lost, { url: OTHER });
  await add(lost, {}, [revisitBytes({ uri: PAGE, date: DATE, digest: sha1("one") })]);
  for (const { name } of lost.list(FOLDER)) if (name.startsWith("catalogue")) removeTree(lost, `${FOLDER}/${name}`);
  for (let stopAt = 1, stopped = true; stopped; stopAt++) {
    const disk = lost.reopen({ data: "keep", names: "keep", seed: 0 }, { stopAt });
    try {
      await using _ = openWriter(disk, { commitChangeCount: 1 });
    } catch (error) {
      if (!disk.operations.stopped) throw error;
    }
    ({ stopped } = disk.operations);
    const after = disk.reopen({ data: "keep", names: "keep", seed: stopAt });
    await using writer = openWriter(after);
    expect(writer.state, `stopped at ${stopAt}`).toMatchObject({ captures: 3, contents: 2, pending: 1 });
  }
});

it("what a revisit means that tells nothing, where the clock goes backwards", async () => {
  const disk = new ForgetfulDisk();
  let nowMs = Date.UTC(2026, 0, 1);
  const clock = { now: () => (nowMs -= 86_400_000) };
  const records = [
    capture(PAGE, "one", "2020-01-01T00:00:00Z"),
    revisitBytes({ uri: PAGE, date: "2020-01-03T00:00:00Z", ...silent }),
    capture(PAGE, "two", "2020-01-02T00:00:00Z"),
  ];
  await add(disk, { clock }, ...records.map((record) => [record]));
  expect(await held(disk)).toEqual(["one", "two", "two"]);
  await rebuild(disk);
  expect(await held(disk)).toEqual(["one", "two", "two"]);
});

it("a revisit that tells nothing, and means what was removed when the clock had been set back", async () => {
  const disk = new ForgetfulDisk();
  let nowMs = Date.UTC(2026, 0, 1);
  const clock = { now: () => nowMs };
  const [first, second] = [capture(PAGE, "one", "2020-01-01T00:00:00Z"), capture(PAGE, "two", "2020-01-02T00:00:00Z")];
  const revisit = revisitBytes({ uri: PAGE, date: "2020-01-03T00:00:00Z", ...silent });
  for (const record of [first, second, revisit]) {
    nowMs += 1000;
    await add(disk, { clock }, [record]);
  }
  nowMs -= 500;
  const timeMs = Date.UTC(2020, 0, 2);
  {
    await using writer = openWriter(disk, { clock });
    await writer.remove({ url: PAGE, fromMs: timeMs, toMs: timeMs }, { reason });
  }
  expect(await held(disk)).toEqual(["one", "waits"]);
  await rebuild(disk);
  expect(await held(disk)).toEqual(["one", "waits"]);
});

it("the URL of a lifespan that begins where a late state has cut another in two", async () => {
  const disk = new ForgetfulDisk();
  const moved = { payload: noise("B", 400), status: "301 Moved", http: ["Location: http://c.example/"] };
  const unchanged = { payload: "", status: "304 Not Modified", id: "urn:uuid:unchanged" };
  const secure = "https://page.example/";
  await add(
    disk,
    {},
    [
      captureBytes({ uri: PAGE, date: "2020-01-02T00:00:00Z", ...moved }),
      captureBytes({ uri: PAGE, date: "2020-01-02T00:00:00Z", ...unchanged }),
    ],
    // The 304 means the first of these, which by its digest stands between the redirects.
    [
      captureBytes({ uri: PAGE, date: "2020-01-01T00:00:00Z", payload: noise("x", 100) }),
      captureBytes({ uri: secure, date: "2020-01-03T00:00:00Z", ...moved }),
    ],
  );
  const last = async () => {
    await using archive = await openReader(disk);
    return (await historyOf(archive, PAGE)).at(-1);
  };
  expect(await last()).toMatchObject({ birth: Date.UTC(2020, 0, 3), url: secure });
  await rebuild(disk);
  expect(await last()).toMatchObject({ birth: Date.UTC(2020, 0, 3), url: secure });
});

it("a revisit that waits for what a response with its id only says that it holds", async () => {
  const disk = new ForgetfulDisk();
  const first = [
    capture(GONE, "three"),
    revisitBytes({ uri: PAGE, date: DATE, digest: sha1("two"), id: ID }),
    capture("http://x.example/", "large"),
  ];
  await add(disk, { segmentSizeBytes: 2500 }, first, [capture(PAGE, "one", DATE, { id: ID, digestText: sha1("two") })]);
  await remove(disk, { url: GONE }, true);
  expect((await held(disk)).sort()).toEqual(["one", "waits"]);
  await rebuild(disk);
  expect((await held(disk)).sort()).toEqual(["one", "waits"]);
});

it("the request of a revisit, whose response has none", async () => {
  const disk = new ForgetfulDisk();
  const request = Buffer.from(
    [
      "WARC/1.0",
      "WARC-Type: request",
      `WARC-Target-URI: ${PAGE}`,
      `WARC-Date: ${DATE}`,
      "WARC-Record-ID: <urn:uuid:request>",
      `WARC-Concurrent-To: <${ID}>`,
      "Content-Length: 18",
      "",
      "GET / HTTP/1.1\r\n\r\n\r\n\r\n",
    ].join("\r\n"),
  );
  const http = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 900\r\n\r\n";
  const revisit = revisitBytes({ uri: PAGE, date: DATE, digest: sha1("one"), id: ID, http });
  await add(disk, {}, [revisit, request], [capture(PAGE, "one", DATE, { id: ID })]);
  const requests = async () => {
    await using archive = await openReader(disk);
    return (await capturesOf(archive, PAGE)).map(({ method }) => method);
  };
  expect(await requests()).toEqual(["GET"]);
  {
    await using writer = openWriter(disk);
    writer.compact({ all: true });
  }
  await rebuild(disk);
  expect(await requests()).toEqual(["GET"]);
  expect(await held(disk)).toEqual(["one"]);
});
