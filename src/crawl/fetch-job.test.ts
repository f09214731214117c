import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../base/index.ts";
import { bodyOf, ChangingSite, expectedAnswers, SITE_DOCUMENTS } from "../testing/changing-site.ts";
import { fetchInto, recordsIn, tickingClock } from "../testing/fetched.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { parseProfile } from "../warc/index.ts";

let site: ChangingSite;
/** A crawl of the first state. */
const crawled = new ForgetfulDisk();
beforeAll(async () => {
  site = await ChangingSite.start();
  await fetchInto(crawled, "/one", all());
});
afterAll(async () => await site[Symbol.asyncDispose]());
beforeEach(() => {
  site.state = 1;
  site.asked.length = 0;
});

const all = () => SITE_DOCUMENTS.map(({ path }) => site.url(path));
const LATER_MS = Date.UTC(2026, 8, 1);

/** A disk with a crawl of the first state. The site is in its second. */
function crawledOnce(): ForgetfulDisk {
  site.state = 2;
  return crawled.reopen({ data: "keep", names: "keep", seed: 0 });
}

const later = () => ({ clock: tickingClock(LATER_MS), against: ["/one"] });

describe("a first fetch", () => {
  it("stores each distinct content once, byte for byte, with its request", async () => {
    const disk = new ForgetfulDisk();
    const { tally, retrievals } = await fetchInto(disk, "/one", all());
    const records = recordsIn(disk, "/one");
    const mirrors = SITE_DOCUMENTS.filter(({ kind }) => kind.like !== undefined).length;
    expect(tally.counts.outcomes).toMatchObject({ stored: SITE_DOCUMENTS.length - mirrors, duplicate: mirrors });
    expect(retrievals).toHaveLength(SITE_DOCUMENTS.length);
    for (const document of SITE_DOCUMENTS) {
      const uri = site.url(document.path);
      const [capture, ...more] = records.filter((each) => each.uri === uri && each.type !== "request");
      expect(more).toEqual([]);
      const digest = formatDigest(digestOf("sha1", bodyOf(document, 1)));
      expect(capture!.head("warc-payload-digest")).toBe(digest);
      expect(capture!.head("warc-ip-address")).toBe("127.0.0.1");
      expect(capture!.head("warc-protocol")).toBe("http/1.1");
      const request = records.find(
        ({ type, head }) => type === "request" && head("warc-concurrent-to") === `<${capture!.id}>`,
      );
      expect(request!.block.toString()).toMatch(new RegExp(`^GET ${document.path} HTTP/1.1\r\nHost: [^\r]+\r\n`));
      if (capture!.type === "revisit") continue;
      expect(capture!.block.toString("latin1")).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      if (document.kind.chunked !== true)
        expect(capture!.block.subarray(-document.kind.size)).toEqual(bodyOf(document, 1));
    }
  });

  it("stores one of two equal bodies that are in flight together", async () => {
    const disk = new ForgetfulDisk();
    site.delayMs = 30;
    const { tally } = await fetchInto(disk, "/one", [site.url("/large/0"), site.url("/large/0", "localhost")], {
      options: { parallel: 2 },
    });
    site.delayMs = 0;
    expect(tally.counts.outcomes).toMatchObject({ stored: 1, duplicate: 1 });
  });

  it("follows redirects, each URL once, and says why it does not follow one", async () => {
    const disk = new ForgetfulDisk();
    const urls = ["/moved", "/chain/3", "/chain/9", "/loop", "/away", "/same/0"].map((path) => site.url(path));
    const { of, retrievals, tally } = await fetchInto(disk, "/one", urls, { settings: { redirectsMax: 4 } });
    expect(of("/same/0")).toMatchObject({ outcome: "stored", hops: "" });
    expect(of("/bare/0")).toMatchObject({ hops: "RRRR", via: site.url("/chain/0"), seed: site.url("/chain/3") });
    expect(of("/chain/5")).toMatchObject({ hops: "RRRR", redirectTrouble: "too-many" });
    expect(of("/loop")).toMatchObject({ status: 302, outcome: "stored", kept: "empty" });
    expect(of("/secret")).toMatchObject({ outcome: "failed", failure: "address-refused", status: -5001 });
    expect(new Set(retrievals.map(({ uri }) => uri)).size).toBe(retrievals.length);
    expect(tally.counts.failures).toEqual({ "address-refused": 1 });
  });

  it("names what is not a URL, and goes on", async () => {
    const disk = new ForgetfulDisk();
    const urls = ["not a url", "ftp://a.example/", "http://", site.url("/same/0")];
    const { retrievals } = await fetchInto(disk, "/one", urls);
    expect(retrievals.map(({ outcome, failure }) => failure ?? outcome).sort()).toEqual([
      "stored",
      "url",
      "url",
      "url",
    ]);
    expect((await fetchInto(disk, "/one", urls)).retrievals).toEqual([]);
  });

  it("writes no revisit of an empty payload, and keeps a 304 that nobody asked for as it is", async () => {
    const disk = new ForgetfulDisk();
    await fetchInto(disk, "/one", [site.url("/empty"), site.url("/unasked")]);
    const again = await fetchInto(disk, "/two", [site.url("/empty"), site.url("/unasked")], later());
    expect(again.of("/empty")).toMatchObject({ outcome: "stored", kept: "empty" });
    expect(again.of("/unasked")).toMatchObject({ outcome: "unasked", status: 304 });
    expect(again.tally.counts.outcomes.unasked).toBe(1);
    expect(recordsIn(disk, "/two").filter(({ type }) => type === "revisit")).toEqual([]);
  });
});

describe("a second fetch", () => {
  it.each(["etag", "datestamp", "both", "either"] as const)(
    "asks by %s for what may not have changed",
    async (scheme) => {
      const disk = crawledOnce();
      const { retrievals, tally } = await fetchInto(disk, "/two", all(), { ...later(), settings: { scheme } });
      const { asked, unchanged } = expectedAnswers(scheme);
      const paths = (those: typeof retrievals) => those.map(({ uri }) => new URL(uri).pathname).sort();
      expect(paths(retrievals.filter((retrieval) => retrieval.asked !== undefined))).toEqual([...asked].sort());
      expect(paths(retrievals.filter(({ outcome }) => outcome === "not-modified"))).toEqual([...unchanged].sort());
      expect(tally.counts.asked.any).toBe(asked.length);
      // Every revisit leads in one step to a response of the first crawl, and has its digest.
      const originals = new Map(recordsIn(disk, "/one").map((record) => [record.id, record]));
      const revisits = recordsIn(disk, "/two").filter(({ type }) => type === "revisit");
      expect(revisits.length).toBeGreaterThan(unchanged.length);
      for (const { head, uri, block } of revisits) {
        const original = originals.get(head("warc-refers-to")!.slice(1, -1))!;
        expect(original.type).toBe("response");
        expect(head("warc-refers-to-target-uri")).toBe(original.uri);
        expect(head("warc-refers-to-date")).toBe(original.date);
        expect(head("warc-payload-digest")).toBe(original.head("warc-payload-digest"));
        const isConfirmed = unchanged.includes(new URL(uri!).pathname);
        const profile = isConfirmed ? "server-not-modified" : "identical-payload-digest";
        expect(parseProfile(head("warc-profile"))).toBe(profile);
        expect(block.toString()).toMatch(isConfirmed ? /^HTTP\/1\.1 304 / : /^HTTP\/1\.1 200 /);
        expect(head("warc-truncated")).toBe("length");
      }
    },
  );

  it("stores a content again that comes in another framing, since no revisit could stand for it", async () => {
    const disk = crawledOnce();
    const { of } = await fetchInto(disk, "/two", all(), later());
    expect(of("/recut/0")).toMatchObject({ outcome: "stored", kept: "framing", original: { hit: "exact" } });
    expect(of("/chunked/0")).toMatchObject({ outcome: "duplicate" });
    // The next time there is an original in either framing.
    const clock = tickingClock(Date.UTC(2026, 10, 1));
    const third = await fetchInto(disk, "/three", all(), { clock, against: ["/one", "/two"] });
    expect(third.of("/recut/0")).toMatchObject({ outcome: "duplicate" });
  });

  it("carries originals on, so that a third one refers to the first", async () => {
    const disk = crawledOnce();
    await fetchInto(disk, "/two", all(), later());
    const third = await fetchInto(disk, "/three", all(), {
      clock: tickingClock(Date.UTC(2026, 10, 1)),
      against: ["/two"],
    });
    const { asked } = expectedAnswers("both");
    // Nothing changed between the two.
    expect(third.tally.counts.outcomes["not-modified"]).toBe(asked.length);
    expect(third.tally.counts.outcomes.stored).toBe(0);
    const originals = new Set(
      [...recordsIn(disk, "/one"), ...recordsIn(disk, "/two")].flatMap(({ type, id }) =>
        type === "response" ? [id] : [],
      ),
    );
    for (const { type, head } of recordsIn(disk, "/three")) {
      if (type === "revisit") expect(originals).toContain(head("warc-refers-to")!.slice(1, -1));
    }
  });

  it("fetches an audited share in full, and always the same one", async () => {
    const disk = crawledOnce();
    const half = await fetchInto(disk, "/two", all(), { ...later(), settings: { audit: 0.5 } });
    const audited = half.retrievals.flatMap((retrieval) => (retrieval.audited === true ? [retrieval.uri] : []));
    expect(audited.length).toBeGreaterThan(SITE_DOCUMENTS.length / 5);
    expect(audited.length).toBeLessThan((SITE_DOCUMENTS.length * 4) / 5);
    for (const retrieval of half.retrievals) if (retrieval.audited === true) expect(retrieval.asked).toBeUndefined();
    const again = await fetchInto(disk, "/three", all(), { ...later(), settings: { audit: 0.5 } });
    expect(again.retrievals.flatMap((retrieval) => (retrieval.audited === true ? [retrieval.uri] : [])).sort()).toEqual(
      audited.sort(),
    );
    const other = await fetchInto(disk, "/four", all(), { ...later(), settings: { audit: 0.5, seed: "2" } });
    expect(
      other.retrievals.flatMap((retrieval) => (retrieval.audited === true ? [retrieval.uri] : [])).sort(),
    ).not.toEqual(audited);
  });

  it("knows of documents fetched in full how right their headers were", async () => {
    const disk = crawledOnce();
    const { tally } = await fetchInto(disk, "/two", all(), { ...later(), settings: { audit: 1 } });
    expect(tally.headers.total.get("etag")).toMatchObject({
      changeCorrectly: 3,
      changeFalsely: 3,
      nonChangeCorrect: 9,
      nonChangeFalsely: 3,
      missing: 16,
    });
    expect(tally.headers.total.get("datestamp")).toMatchObject({
      changeCorrectly: 3,
      nonChangeFalsely: 3,
      missing: 16,
    });
    expect(tally.counts.asked.any).toBe(0);
  });

  it("does not refer to what is only claimed, where that is not enough", async () => {
    const disk = crawledOnce();
    const { tally } = await fetchInto(disk, "/two", all(), { ...later(), settings: { refusesClaims: true } });
    expect(tally.counts.revisits).toMatchObject({ claimed: 0 });
    expect(tally.counts.asked.any).toBe(0);
    expect(tally.kept.get("claimed")).toBeGreaterThan(0);
  });

  it("refers to no capture of the same URL in the same second, which would be itself", async () => {
    const disk = new ForgetfulDisk();
    const clock = { now: () => LATER_MS };
    const urls = [site.url("/same/0"), site.url("/bare/0")];
    await fetchInto(disk, "/now", urls, { clock });
    const { tally } = await fetchInto(disk, "/again", urls, { clock, against: ["/now"] });
    expect(tally.counts).toMatchObject({ asked: { any: 0 }, outcomes: { stored: 2, duplicate: 0 } });
    const aborting = { by: "abort", writePredicted: true } as const;
    const third = await fetchInto(disk, "/third", urls, { clock, against: ["/now"], settings: aborting });
    expect(third.tally.counts.outcomes).toMatchObject({ stored: 2, predicted: 0 });
  });

  it("stores everything where it is told to, and makes no index", async () => {
    const disk = crawledOnce();
    const { tally } = await fetchInto(disk, "/two", all(), { ...later(), settings: { deduplicates: false } });
    expect(tally.counts.outcomes).toMatchObject({ stored: SITE_DOCUMENTS.length, duplicate: 0, "not-modified": 0 });
    expect(tally.exempt.get("disabled")).toBe(SITE_DOCUMENTS.length);
    expect(disk.stat("/two/digests")).toBeUndefined();
  });

  it("leaves out what the media types say", async () => {
    const disk = crawledOnce();
    const mimeFilter = { expression: "^image/.*", mode: "whitelist" } as const;
    const matching = { matching: "url", tryEquivalent: true, mirrors: "counted", mimeFilter } as const;
    const { retrievals } = await fetchInto(disk, "/two", all(), { ...later(), settings: { matching } });
    for (const retrieval of retrievals) {
      const isImage = /\/(?:same|changed|eager|stale|mirror)\//.test(retrieval.uri);
      expect(retrieval.kept === "mime").toBe(!isImage);
      expect(retrieval.asked !== undefined).toBe(isImage);
    }
  });
});

describe("a fetch that aborts after the header", () => {
  it("predicts, and captures nothing by that", async () => {
    const disk = crawledOnce();
    const { retrievals, tally } = await fetchInto(disk, "/two", all(), {
      ...later(),
      settings: { by: "abort", scheme: "etag" },
    });
    const { unchanged } = expectedAnswers("etag");
    const predicted = retrievals.filter(({ outcome }) => outcome === "predicted");
    expect(predicted.map(({ uri }) => new URL(uri).pathname).sort()).toEqual([...unchanged].sort());
    for (const retrieval of predicted) expect(retrieval).toMatchObject({ status: 200, original: { hit: "exact" } });
    expect(predicted.filter(({ place, digest }) => place !== undefined || digest !== undefined)).toEqual([]);
    expect(tally.counts.outcomes.predicted).toBe(unchanged.length);
    const uris = new Set(recordsIn(disk, "/two").map(({ uri }) => uri));
    for (const { uri } of predicted) expect(uris.has(uri)).toBe(false);
    // The next crawl knows of them what the first one saw.
    const clock = tickingClock(Date.UTC(2026, 10, 1));
    const third = await fetchInto(disk, "/three", all(), { clock, against: ["/two"] });
    expect(third.of("/same/0")).toMatchObject({ outcome: "not-modified", original: { uri: site.url("/same/0") } });
  });

  it("writes predictions as what no tool takes for an observation", async () => {
    const disk = crawledOnce();
    const settings = { by: "abort", scheme: "datestamp", writePredicted: true } as const;
    const { tally } = await fetchInto(disk, "/two", all(), { ...later(), settings });
    const predicted = recordsIn(disk, "/two").filter(
      ({ type, head }) => type === "revisit" && head("warc-profile") === "urn:holotype:revisit:predicted-unchanged",
    );
    expect(predicted).toHaveLength(tally.counts.outcomes.predicted);
    expect(predicted.length).toBeGreaterThan(0);
    for (const { head, block } of predicted) {
      expect(parseProfile(head("warc-profile"))).toBeUndefined();
      expect(head("warc-payload-digest")).toBeUndefined();
      expect(block.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/);
    }
  });
});

describe("a job", () => {
  it("is not done twice, and not mistaken for another", async () => {
    const disk = new ForgetfulDisk();
    const urls = [site.url("/same/0"), site.url("/moved")];
    const first = await fetchInto(disk, "/one", urls);
    site.asked.length = 0;
    const again = await fetchInto(disk, "/one", urls);
    expect(site.asked).toEqual([]);
    expect(again.retrievals).toEqual([]);
    expect(again.tally.counts).toEqual(first.tally.counts);
    await expect(fetchInto(disk, "/one", urls.slice(1))).rejects.toMatchObject({ code: "HT_EXISTS" });
    await expect(fetchInto(disk, "/one", urls, { settings: { audit: 1 } })).rejects.toMatchObject({
      code: "HT_EXISTS",
    });
    disk.makeFolder("/other/stuff");
    await expect(fetchInto(disk, "/other", urls)).rejects.toMatchObject({ code: "HT_EXISTS" });
  });

  it("ends at once when it is told to, and goes on", async () => {
    const disk = new ForgetfulDisk();
    const stop = new AbortController();
    const onRetrieval = () => stop.abort();
    const first = await fetchInto(disk, "/one", all(), {
      options: { signal: stop.signal, onRetrieval, parallel: 1, delayMs: 20 },
    });
    expect(first.isInterrupted).toBe(true);
    expect(first.left).toBeGreaterThan(0);
    const second = await fetchInto(disk, "/one", all());
    expect(second.left).toBe(0);
    expect(second.retrievals).toHaveLength(first.left);
    expect(second.tally.counts.retrievals).toBe(SITE_DOCUMENTS.length);
  });

  it("tries again what failed, when it is run again", async () => {
    const disk = new ForgetfulDisk();
    const closed = await ChangingSite.start();
    const { port } = closed;
    const url = closed.url("/same/0");
    await closed[Symbol.asyncDispose]();
    const first = await fetchInto(disk, "/one", [url]);
    expect(first.retrievals).toMatchObject([{ outcome: "failed", failure: "connect-failed", status: -2 }]);
    await using _site = await ChangingSite.start(port);
    const second = await fetchInto(disk, "/one", [url]);
    expect(second.retrievals).toMatchObject([{ outcome: "stored" }]);
    expect(second.tally.counts).toMatchObject({ retrievals: 1, failures: {} });
  });
});

it("leaves files alone that somebody else has put into its folder", async () => {
  const disk = new ForgetfulDisk();
  await fetchInto(disk, "/other", [site.url("/same/0")]);
  const [foreign] = disk.list("/other").filter(({ name }) => name.endsWith(".warc.gz"));
  await fetchInto(disk, "/job", [site.url("/same/1")], { options: { archive: "/archive" } });
  const planted = ["/job/IAH-20200101000000000-00007.warc.gz", "/job/y-20200101000000000-00008.warc.gz.open"];
  disk.rename(`/other/${foreign!.name}`, planted[0]!);
  {
    using file = disk.open(planted[1]!, "create");
    file.write(Buffer.from("notes of mine"), 0);
  }
  const warned: (string | undefined)[] = [];
  const options = {
    archive: "/archive",
    onWarning: ({ file }: { file?: string | undefined }) => void warned.push(file),
  };
  await fetchInto(disk, "/job", [site.url("/same/1")], { options });
  expect(planted.map((path) => disk.stat(path)?.kind)).toEqual(["file", "file"]);
  expect(new Set(warned)).toEqual(new Set(planted));
});
