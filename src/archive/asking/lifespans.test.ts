/** The example of the PISA paper's Figure 1, and what docs/lifespans.md says of times that are not so simple. */
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest, formatIso } from "../../base/index.ts";
import {
  capturesOf,
  diagnose,
  historyOf,
  makeInput,
  openReader,
  openWriter,
  payloadOf,
  payloadsOf,
  type Visit,
  visitBytes,
} from "../../testing/archive-fixture.ts";
import { captureBytes, noise, revisitBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import type { Archive } from "./archive.ts";

const URI = "http://a.example/page";
const DAY_MS = 86_400_000;
const t = (day: number) => Date.UTC(2008, 0, 1) + day * DAY_MS;
const CONTENTS = [noise("content 1", 900), noise("content 2", 900), noise("content 3", 900)] as const;
const name = (sha256: string) => 1 + CONTENTS.findIndex((content) => digestOf("sha256", content).hex === sha256);

function visit(day: number, content: 1 | 2 | 3, more: Partial<Visit> = {}): Visit {
  return { uri: URI, timeMs: t(day), payload: CONTENTS[content - 1]!, ...more };
}

/** An archive of these records, each added by itself. */
async function archiveOf(...batches: readonly (readonly Uint8Array[])[]): Promise<Archive> {
  const disk = new ForgetfulDisk();
  {
    await using writer = openWriter(disk);
    for (const records of batches) await writer.add([makeInput(disk, records)]);
  }
  return await openReader(disk);
}

async function lifespans(archive: Archive) {
  return (await historyOf(archive, URI)).map(({ sha256, birth, end, lastSeen, captures }) => ({
    content: name(sha256),
    birth: (birth - t(0)) / DAY_MS,
    end: end === undefined ? undefined : (end - t(0)) / DAY_MS,
    lastSeen: (lastSeen - t(0)) / DAY_MS,
    captures,
  }));
}

/** Two updates, at t3 and t9; nine visits. */
const FIGURE: readonly Visit[] = [
  visit(1, 1),
  visit(2, 1),
  visit(4, 2),
  visit(5, 2),
  visit(6, 2),
  visit(8, 2),
  visit(10, 3),
  visit(11, 3),
  visit(12, 3),
];

const FIGURE_LIFESPANS = [
  { content: 1, birth: 1, end: 4, lastSeen: 2, captures: 2 },
  { content: 2, birth: 4, end: 10, lastSeen: 8, captures: 4 },
  { content: 3, birth: 10, end: undefined, lastSeen: 12, captures: 3 },
];

/** The same every time, and nothing like an order. */
function shuffled<T>(things: readonly T[], round: number): T[] {
  return things
    .map((thing, i) => ({ thing, at: digestOf("md5", Buffer.from(`${round} ${i}`)).hex }))
    .sort((one, other) => (one.at < other.at ? -1 : 1))
    .map(({ thing }) => thing);
}

describe("the paper's Figure 1", () => {
  const orders = [[...FIGURE], FIGURE.toReversed(), ...Array.from({ length: 10 }, (_, i) => shuffled(FIGURE, i))];

  it.each(orders.map((order, i) => [i, order] as const))(
    "keeps three contents of nine visits, order %i",
    async (_, order) => {
      await using archive = await archiveOf(...order.map((each) => [visitBytes(each)]));
      expect(await archive.counts()).toMatchObject({ captures: 9, contents: 3, pending: 0 });
      expect(await lifespans(archive)).toEqual(FIGURE_LIFESPANS);
      const moment = (await archive.at(URI, t(7)))!;
      expect(name(moment.lifespan.sha256)).toBe(2);
      expect(moment).toMatchObject({ certainty: "observed", before: { timeMs: t(6) }, after: { timeMs: t(8) } });
      expect(await payloadOf(archive, moment.capture)).toEqual(CONTENTS[1]);
    },
  );
});

describe("a lifespan", () => {
  it("is presumed behind its last capture, with the captures on both sides", async () => {
    await using archive = await archiveOf(FIGURE.map(visitBytes));
    expect(await archive.at(URI, t(9))).toMatchObject({
      certainty: "presumed",
      before: { timeMs: t(8) },
      after: { timeMs: t(10) },
    });
    expect(await archive.at(URI, t(99))).toMatchObject({ certainty: "presumed", after: undefined });
    expect(await archive.at(URI, t(0))).toBeUndefined();
  });

  it("is ended by an error with the same payload, and by a redirect that leads elsewhere", async () => {
    const moved = (day: number, location: string) => visit(day, 2, { status: 302, location });
    const visits = [visit(1, 1), visit(2, 1, { status: 404 }), moved(3, "/a"), moved(4, "/a"), moved(5, "/b")];
    await using archive = await archiveOf(visits.map(visitBytes));
    expect((await historyOf(archive, URI)).map(({ status, captures }) => [status, captures])).toEqual([
      [200, 1],
      [404, 1],
      [302, 2],
      [302, 1],
    ]);
  });

  it("is divided by a capture that comes late", async () => {
    await using archive = await archiveOf([visit(1, 1), visit(5, 1)].map(visitBytes), [visitBytes(visit(3, 2))]);
    expect((await lifespans(archive)).map(({ content, birth, end }) => [content, birth, end])).toEqual([
      [1, 1, 3],
      [2, 3, 5],
      [1, 5, undefined],
    ]);
  });

  it("is confirmed by a revisit and by a 304, which may come before what they refer to", async () => {
    const revisit = revisitBytes({
      uri: URI,
      date: formatIso(t(2)),
      digest: formatDigest(digestOf("sha1", CONTENTS[0])),
      refersTo: { uri: URI, date: formatIso(t(1)) },
    });
    const unchanged = revisitBytes({
      uri: URI,
      date: formatIso(t(3)),
      refersTo: { uri: URI, date: formatIso(t(1)) },
      profile: "http://netpreserve.org/warc/1.0/revisit/server-not-modified",
      http: "HTTP/1.1 304 Not Modified\r\n\r\n",
    });
    const original = visitBytes(visit(1, 1));
    for (const batches of [
      [[original], [revisit, unchanged]],
      [[revisit, unchanged], [original]],
      [[unchanged, original, revisit]],
    ]) {
      await using archive = await archiveOf(...batches);
      expect(await archive.counts()).toMatchObject({ captures: 3, contents: 1, pending: 0 });
      expect(await lifespans(archive)).toEqual([{ content: 1, birth: 1, end: undefined, lastSeen: 3, captures: 3 }]);
      expect(await payloadsOf(archive, URI)).toEqual([CONTENTS[0], CONTENTS[0], CONTENTS[0]]);
    }
  });

  it("is confirmed by a 304 that tells nothing, whichever comes first", async () => {
    const bare = revisitBytes({
      uri: URI,
      date: formatIso(t(3)),
      profile: "http://netpreserve.org/warc/1.0/revisit/server-not-modified",
      http: "HTTP/1.1 304 Not Modified\r\n\r\n",
    });
    const original = visitBytes(visit(1, 1));
    for (const batches of [
      [[original], [bare]],
      [[bare], [original]],
    ]) {
      await using archive = await archiveOf(...batches);
      expect(await archive.counts()).toMatchObject({ captures: 2, pending: 0 });
      expect(await lifespans(archive)).toEqual([{ content: 1, birth: 1, end: undefined, lastSeen: 3, captures: 2 }]);
    }
  });

  it("has no place for a revisit whose original never came, but the capture is kept", async () => {
    const orphan = revisitBytes({
      uri: URI,
      date: formatIso(t(2)),
      digest: formatDigest(digestOf("sha1", CONTENTS[0])),
    });
    await using archive = await archiveOf([orphan]);
    expect(await archive.counts()).toMatchObject({ captures: 1, pending: 1 });
    expect(await historyOf(archive, URI)).toEqual([]);
    const [capture] = await capturesOf(archive, URI);
    expect(capture).toMatchObject({ timeMs: t(2), flags: ["pending"], sha256: undefined });
    await expect(payloadOf(archive, capture!)).rejects.toThrow("whose original is not in the archive");
  });

  it("takes two contents of one moment one after the other, and both can be reached", async () => {
    await using archive = await archiveOf([visit(1, 1, { number: 0 }), visit(1, 2, { number: 1 })].map(visitBytes));
    expect(await historyOf(archive, URI)).toHaveLength(2);
    const payloads = await payloadsOf(archive, URI);
    expect(payloads).toHaveLength(2);
    expect(payloads).toEqual(expect.arrayContaining([CONTENTS[0], CONTENTS[1]]));
  });

  it("counts one visit of a moment, however many captures there are that found the same", async () => {
    const disk = new ForgetfulDisk();
    {
      await using writer = openWriter(disk);
      const visits = Array.from({ length: 300 }, (_, number) => visitBytes(visit(1, 1, { number })));
      expect(await writer.add([makeInput(disk, visits)])).toMatchObject({ captures: 300, contents: 1, damaged: 0 });
    }
    await using archive = await openReader(disk);
    expect(await lifespans(archive)).toEqual([{ content: 1, birth: 1, end: undefined, lastSeen: 1, captures: 1 }]);
    expect(await capturesOf(archive, URI)).toHaveLength(300);
    expect((await archive.at(URI, t(1)))!.others).toHaveLength(299);
    expect(await diagnose(disk)).toEqual([]);
  });
});

describe("a content that came back", () => {
  it("keeps the URL and the media type that it came back with when something else is removed", async () => {
    const disk = new ForgetfulDisk();
    const other = captureBytes({ uri: "http://b.example/", date: "2008-01-01T00:00:00Z", payload: "other" });
    const page = (uri: string, day: number, payload: Buffer, mime: string) =>
      captureBytes({ uri, date: formatIso(t(day)), payload, mime });
    const records = [
      page(URI, 1, CONTENTS[0], "text/html"),
      page(URI, 2, CONTENTS[1], "text/html"),
      page("https://www.a.example/page", 3, CONTENTS[0], "text/plain"),
    ];
    const told = async () => {
      await using archive = await openReader(disk);
      return (await historyOf(archive, URI)).map(({ url, mime }) => `${mime} ${url}`);
    };
    {
      await using writer = openWriter(disk);
      await writer.add([makeInput(disk, [other, ...records])]);
    }
    const before = await told();
    expect(before.at(-1)).toBe("text/plain https://www.a.example/page");
    {
      await using writer = openWriter(disk);
      await writer.remove({ url: "http://b.example/" }, { reason: "a test" });
    }
    expect(await told()).toEqual(before);
  });
});
