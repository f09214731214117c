/** An archive that is asked what is known: by URL, by equivalent URL, by digest; and what is proven of that. */
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import type { KnownCapture, KnownQuestion } from "../../dedup/index.ts";
import type { Disk } from "../../disk/index.ts";
import { FOLDER, makeInput, openReader, openWriter } from "../../testing/archive-fixture.ts";
import { type CaptureText, captureBytes, idOf, noise, requestBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

const PAGE = "http://a.example/page?id=1";

function capture(day: number, payload: Buffer, more: Partial<CaptureText> = {}): CaptureText {
  return { uri: PAGE, date: `2020-01-${String(day).padStart(2, "0")}T00:00:00.250000Z`, payload, ...more };
}

function sha256(payload: Buffer): string {
  return formatDigest(digestOf("sha256", payload));
}

function sha1(payload: Buffer): string {
  return formatDigest(digestOf("sha1", payload));
}

function byDigest(digest: string, uri = "http://z.example/"): KnownQuestion {
  return { by: "digest", digests: [digest], uri };
}

async function add(disk: Disk, ...captures: readonly CaptureText[]): Promise<void> {
  await using writer = openWriter(disk);
  await writer.add([makeInput(disk, captures.map(captureBytes))]);
}

async function ask(disk: Disk, question: KnownQuestion): Promise<{ known: KnownCapture; proof: unknown } | undefined> {
  await using archive = await openReader(disk);
  using contents = archive.known();
  const [known] = contents.find([question]);
  if (known === undefined) return undefined;
  const { uri, timeMs, digests, payloadSize, framing, status, mime, etag, lastModified, certainty } = known;
  const { date = "", id, uri: of = "" } = known.original ?? {};
  const original = known.original && { uri: of, date, id };
  const told = { uri, timeMs, digests, payloadSize, framing, status, mime, etag, lastModified, certainty, original };
  return { known: told, proof: contents.prove(known) };
}

/** Turns a byte in the middle of every record of the first segment that holds one of these. */
function rot(disk: Disk, offset: number): void {
  using file = disk.open(`${FOLDER}/volumes/0/segments/000001.warc.gz`, "update");
  const byte = Buffer.alloc(1);
  file.read(byte, offset);
  byte[0]! ^= 0x55;
  file.write(byte, offset);
  file.sync();
}

describe("by URL, an archive knows", () => {
  const [first, second] = [noise("first", 900), noise("second", 700)];

  it("the newest state, with what its server and its record say", async () => {
    const disk = new ForgetfulDisk();
    const http = ['ETag: W/"2"', "Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT"];
    await add(
      disk,
      capture(1, first, { http: ['ETag: "1"'] }),
      capture(2, second, { http, mime: "text/html", id: "urn:uuid:2" }),
      capture(3, noise("busy", 300), { status: "503 Busy" }),
      capture(4, noise("other", 300), { uri: "http://www.a.example/page?id=1" }),
    );
    const answer = await ask(disk, { by: "url", uri: PAGE });
    expect(answer?.known).toEqual({
      uri: PAGE,
      timeMs: Date.UTC(2020, 0, 2, 0, 0, 0, 250),
      digests: [sha256(second), sha1(second)],
      payloadSize: 700,
      framing: "plain",
      status: 200,
      mime: "text/html",
      etag: 'W/"2"',
      lastModified: "Wed, 01 Jan 2020 00:00:00 GMT",
      certainty: "held",
      original: { uri: PAGE, date: "2020-01-02T00:00:00.250000Z", id: "urn:uuid:2" },
    });
    expect(answer?.proof).toBe("proven");
    expect(await ask(disk, { by: "url", uri: "https://a.example/page?id=1" })).toBeUndefined();
    expect(await ask(disk, { by: "url", uri: "http://a.example/" })).toBeUndefined();
  });

  it("the original of a duplicate, and the validators of the duplicate itself", async () => {
    const disk = new ForgetfulDisk();
    await add(disk, capture(1, first, { uri: "http://b.example/", http: ['ETag: "b"'], id: "urn:uuid:b" }));
    await add(disk, capture(5, first, { http: ['ETag: "mine"'] }));
    const answer = await ask(disk, { by: "url", uri: PAGE });
    expect(answer?.known).toMatchObject({ uri: PAGE, etag: '"mine"', framing: "plain" });
    expect(answer?.known.original).toMatchObject({ uri: "http://b.example/", id: "urn:uuid:b" });
    expect(answer?.proof).toBe("proven");
  });

  it("what a 304 confirmed, with the validators that it confirmed", async () => {
    const disk = new ForgetfulDisk();
    const request = (date: string) =>
      requestBytes({ uri: PAGE, date, http: ['If-None-Match: "1"'], id: idOf(`asked ${date}`) });
    const silent = capture(6, Buffer.alloc(0), { status: "304 Not Modified", digest: "none", http: ['ETag: "1"'] });
    await using writer = openWriter(disk);
    const states = [
      capture(1, first, { http: ['ETag: "1"', "Last-Modified: then"] }),
      capture(2, second, { http: ['ETag: "2"'] }),
    ];
    await writer.add([makeInput(disk, [...[...states, silent].map(captureBytes), request(silent.date)])]);
    using contents = await writer.known();
    const [known] = contents.find([{ by: "url", uri: PAGE }]);
    const told = [known?.timeMs, known?.status, known?.lastModified, known?.payloadSize, known?.original?.date];
    expect(told).toEqual([Date.UTC(2020, 0, 6, 0, 0, 0, 250), 200, "then", 900, states[0]!.date]);
  });

  it("a header that is longer than most", async () => {
    const disk = new ForgetfulDisk();
    const long = `Set-Cookie: ${noise("cookie", 9000).toString("hex")}`;
    await add(disk, capture(1, first, { http: [long, 'ETag: "late"'] }));
    expect((await ask(disk, { by: "url", uri: PAGE }))?.known.etag).toBe('"late"');
  });

  it("no original of what is empty or was cut off", async () => {
    const disk = new ForgetfulDisk();
    const cut = { uri: "http://a.example/cut", lines: ["WARC-Truncated: length"] };
    await add(disk, capture(1, Buffer.alloc(0)), capture(2, second, cut));
    for (const uri of [PAGE, cut.uri]) {
      const answer = await ask(disk, { by: "url", uri });
      expect(answer?.known.digests).toHaveLength(2);
      expect([answer?.known.original, answer?.proof]).toEqual([undefined, undefined]);
    }
    expect(await ask(disk, byDigest(sha256(second)))).toBeUndefined();
    expect(await ask(disk, byDigest(sha256(Buffer.alloc(0))))).toBeUndefined();
  });
});

describe("by URL, an archive leads to no record", () => {
  it("of an adopted file that fails its checksum", async () => {
    const disk = new ForgetfulDisk();
    const input = makeInput(disk, [captureBytes(capture(1, noise("rotten", 900)))]);
    {
      using file = disk.open(input.path, "update");
      // The checksum in the trailer of its gzip member.
      file.write(Buffer.from("none"), file.size() - 8);
    }
    {
      await using writer = openWriter(disk);
      await writer.adopt([input]);
    }
    const answer = await ask(disk, { by: "url", uri: PAGE });
    expect([answer?.known.payloadSize, answer?.known.original, answer?.proof]).toEqual([900, undefined, undefined]);
  });
});

describe("by digest, an archive knows", () => {
  const payload = noise("shared", 900);
  const elsewhere = "http://c.example/copy";

  it("a capture of the URL before any other, by either digest", async () => {
    const disk = new ForgetfulDisk();
    await add(disk, capture(1, payload), capture(2, payload, { uri: elsewhere }), capture(3, payload));
    for (const digest of [sha256(payload), sha1(payload), `sha1:${digestOf("sha1", payload).hex}`]) {
      const own = await ask(disk, byDigest(digest, elsewhere));
      expect(own?.known).toMatchObject({ uri: elsewhere, original: { uri: PAGE }, certainty: "held" });
      expect(own?.proof).toBe("proven");
      const other = await ask(disk, byDigest(digest));
      expect(other?.known).toMatchObject({ uri: PAGE, timeMs: Date.UTC(2020, 0, 1, 0, 0, 0, 250) });
    }
    expect(await ask(disk, byDigest(formatDigest(digestOf("md5", payload))))).toBeUndefined();
    expect(await ask(disk, byDigest("no digest at all"))).toBeUndefined();
    expect(await ask(disk, byDigest(sha256(noise("unknown", 9))))).toBeUndefined();
    // Of two digests, the stronger one decides.
    const digests = [sha1(payload), sha256(noise("unknown", 9))];
    expect(await ask(disk, { by: "digest", digests, uri: PAGE })).toBeUndefined();
  });

  it("an original in the framing that is asked for, if there is one", async () => {
    const disk = new ForgetfulDisk();
    const chunked = { uri: elsewhere, chunks: [100, 300] };
    await add(disk, capture(1, payload), capture(2, payload, chunked), capture(3, noise("plain", 500)));
    const asked = (framing: "plain" | "chunked", of = payload): KnownQuestion => ({
      by: "digest",
      digests: [sha256(of)],
      uri: "http://z.example/",
      framing,
    });
    expect((await ask(disk, asked("chunked")))?.known).toMatchObject({ framing: "chunked", uri: elsewhere });
    expect((await ask(disk, asked("plain")))?.known).toMatchObject({ framing: "plain", uri: PAGE });
    expect((await ask(disk, asked("chunked", noise("plain", 500))))?.known.framing).toBe("plain");
  });

  it("equivalent URLs, where the digest is the same", async () => {
    const disk = new ForgetfulDisk();
    const session = (id: number) => `http://www.a.example/list;jsessionid=${id}?page=${id}`;
    await add(disk, capture(1, payload, { uri: session(1) }), capture(2, payload, { uri: session(2) }));
    const question = { by: "equivalent", uri: "http://a.example/list/", digests: [sha1(payload)] } as const;
    expect((await ask(disk, question))?.known).toMatchObject({ uri: session(2), original: { uri: session(1) } });
    expect(await ask(disk, { ...question, uri: "http://a.example/lists" })).toBeUndefined();
    expect(await ask(disk, { ...question, uri: "mailto:somebody" })).toBeUndefined();
    expect(await ask(disk, { ...question, digests: [sha1(noise("unknown", 9))] })).toBeUndefined();
  });

  it("nothing that was removed, and what others share once it has another record", async () => {
    const disk = new ForgetfulDisk();
    const alone = noise("alone", 900);
    const removed = "http://a.example/removed";
    await add(disk, capture(1, payload, { uri: removed }), capture(2, alone, { uri: removed }));
    await add(disk, capture(3, payload, { uri: elsewhere }));
    await using writer = openWriter(disk);
    using contents = await writer.known();
    const [before] = contents.find([byDigest(sha256(payload))]);
    expect(before?.uri).toBe(removed);
    await writer.remove({ url: removed }, { reason: "a test" });
    expect(contents.find([byDigest(sha256(payload)), byDigest(sha256(alone))])).toEqual([undefined, undefined]);
    writer.compact();
    const [known, gone] = contents.find([byDigest(sha256(payload)), byDigest(sha256(alone))]);
    expect([known?.uri, known?.original?.uri, gone]).toEqual([elsewhere, elsewhere, undefined]);
    expect(contents.prove(known!)).toBe("proven");
  });
});

describe("what an archive knows", () => {
  const payload = noise("proof", 2000);

  it("is proven by reading it, once", async () => {
    const disk = new ForgetfulDisk();
    await add(disk, capture(1, payload));
    await using archive = await openReader(disk);
    using contents = archive.known();
    using late = archive.known();
    const [known] = contents.find([byDigest(sha256(payload))]);
    expect(contents.prove(known!)).toBe("proven");
    using file = disk.open(`${FOLDER}/volumes/0/segments/000001.warc.gz`, "read");
    rot(disk, file.size() - 1000);
    expect(contents.prove(known!)).toBe("proven");
    const told = { uri: PAGE, timeMs: 0, digests: [sha256(payload)], certainty: "claimed" } as const;
    expect(contents.prove(told)).toBe("proven");
    const [again] = late.find([byDigest(sha1(payload))]);
    expect(again?.original?.uri).toBe(PAGE);
    expect([late.prove(again!), late.prove(again!), again?.original]).toEqual([undefined, undefined, undefined]);
  });

  it("is not what somebody else says", async () => {
    const disk = new ForgetfulDisk();
    await add(disk, capture(1, payload));
    await using writer = openWriter(disk);
    using contents = await writer.known();
    const claimed = { uri: PAGE, timeMs: 0, certainty: "claimed" } as const;
    expect(contents.prove({ ...claimed, digests: [sha256(noise("another", 9))] })).toBeUndefined();
    expect(contents.prove({ ...claimed, digests: [sha1(payload)] })).toBe("proven");
  });

  it("is found where a compaction has brought it since", async () => {
    const disk = new ForgetfulDisk();
    const removed = "http://a.example/removed";
    await add(disk, capture(1, noise("removed", 900), { uri: removed }), capture(2, payload));
    await using archive = await openReader(disk);
    using contents = archive.known();
    {
      await using writer = openWriter(disk);
      await writer.remove({ url: removed }, { reason: "a test" });
      expect(writer.compact().segments).toBeGreaterThan(0);
    }
    const answers = contents.find([byDigest(sha256(payload)), { by: "url", uri: PAGE }]);
    for (const known of answers) {
      expect([known?.uri, known?.original?.uri]).toEqual([PAGE, PAGE]);
      expect(contents.prove(known!)).toBe("proven");
    }
  });

  it("is that of one commit for a reader, and all that was added for the writer", async () => {
    const disk = new ForgetfulDisk();
    await using writer = openWriter(disk);
    await using archive = await openReader(disk);
    using before = archive.known();
    await writer.add([makeInput(disk, [captureBytes(capture(1, payload))])]);
    using contents = await writer.known();
    expect(contents.find([byDigest(sha256(payload))])[0]?.uri).toBe(PAGE);
    await archive.refresh();
    using after = archive.known();
    expect(before.find([byDigest(sha256(payload))])).toEqual([undefined]);
    expect(after.find([byDigest(sha256(payload))])[0]?.uri).toBe(PAGE);
    expect([...after.answers].sort()).toEqual(["digest", "equivalent", "url"]);
  });
});
