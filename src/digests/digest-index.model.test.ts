/**
 * Digest indexes against a plain list of what they were told: random builds, adds, learning, folds, merges and reopening,
 * asked in every way. What the list answers is found by looking at all of it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatIso } from "../base/index.ts";
import type { KnownQuestion } from "../dedup/index.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { equivalentUrl } from "../url/index.ts";
import { DigestIndex } from "./digest-index.ts";
import { type DigestEntry, mergeStates } from "./entry.ts";
import { EntrySorter } from "./entry-sorter.ts";
import { IndexWriter } from "./index-writer.ts";
import type { IndexSettings } from "./settings.ts";

const FOLDER = "/index";
const URIS = [
  "http://site.test/a",
  "http://www.site.test/a",
  "https://www.site.test/a/",
  "http://site.test/b?x=1",
  "http://site.test/b?x=2",
  "dns:site.test",
  "http://site.test/ü",
];
const SHA1 = ["A", "B", "C", "D"].map((letter) => `sha1:${letter.repeat(32)}`);
const SHA256 = ["a", "b", "c", "d"].map((letter) => `sha256:${letter.repeat(64)}`);

const uri = fc.constantFrom(...URIS);
const time = fc.integer({ min: 0, max: 20 }).map((step) => 1_500_000_000_000 + 500 * step);

const entry: fc.Arbitrary<DigestEntry> = fc
  .record({
    uri,
    timeMs: time,
    content: fc.integer({ min: 0, max: 3 }),
    algorithms: fc.constantFrom("sha1", "sha256", "both"),
    framing: fc.constantFrom("plain" as const, "chunked" as const, undefined),
    refersTo: fc.oneof(
      fc.constant("own" as const),
      fc.constant("second" as const),
      fc.constant(undefined),
      fc.record({
        uri,
        timeMs: time,
        id: fc.option(fc.constantFrom("urn:uuid:00000000-0000-4000-8000-00000000000a", "x"), { nil: undefined }),
      }),
    ),
    etag: fc.option(fc.constantFrom('"x"', 'W/"y"'), { nil: undefined }),
    lastModified: fc.option(fc.constantFrom("Thu, 01 Jan 2026 00:00:00 GMT", "yesterday"), { nil: undefined }),
    origin: fc.option(fc.constantFrom("crawl-1", "crawl-2"), { nil: undefined }),
    mime: fc.option(fc.constantFrom("text/html", "image/png"), { nil: undefined }),
    status: fc.option(fc.constantFrom(200, 404), { nil: undefined }),
    payloadSize: fc.option(fc.nat(), { nil: undefined }),
  })
  .map(({ content, algorithms, refersTo, ...rest }) => {
    const digests = [
      ...(algorithms === "sha256" ? [] : [SHA1[content]!]),
      ...(algorithms === "sha1" ? [] : [SHA256[content]!]),
    ];
    const original =
      refersTo === "own"
        ? { uri: rest.uri, date: formatIso(rest.timeMs), id: undefined }
        : refersTo === "second"
          ? { uri: rest.uri, date: formatIso(Math.floor(rest.timeMs / 1000) * 1000), id: undefined }
          : refersTo && { uri: refersTo.uri, date: formatIso(refersTo.timeMs), id: refersTo.id };
    return { ...rest, digests, original, place: original && { file: "x.warc.gz", offset: rest.timeMs % 1000 } };
  });

type Step = { readonly kind: "build" | "learn" | "reopen"; readonly entries: readonly DigestEntry[] };
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("build" as const, "learn" as const, "learn" as const, "reopen" as const),
  entries: fc.array(entry, { maxLength: 8 }),
});

function build(disk: ForgetfulDisk, settings: IndexSettings, entries: readonly DigestEntry[]): void {
  using writer = IndexWriter.open(disk, FOLDER, { settings });
  using sorter = new EntrySorter(disk, { folder: FOLDER, memoryBytes: 8192 });
  for (const each of entries) sorter.add(each);
  writer.addRun((path) => sorter.writeRun(path, settings));
}

/** What a plain list says. Of several captures that are as good, any may be the answer. */
function expected(told: readonly DigestEntry[], question: KnownQuestion): readonly DigestEntry[] {
  const byUri = URIS.flatMap((each) => [mergeStates(told.filter(({ uri }) => uri === each))]);
  const states = byUri.flat();
  if (question.by === "url")
    return byUri[URIS.indexOf(question.uri)]!.filter(({ timeMs }, _, all) => timeMs === all[0]!.timeMs);
  const same = states.filter(({ digests }) => digests.some((digest) => question.digests.includes(digest)));
  const equivalent = same.filter((each) => equivalentUrl(each.uri) === equivalentUrl(question.uri));
  if (question.by === "equivalent") return equivalent;
  const own = same.filter((each) => each.uri === question.uri);
  return own.length > 0 ? own : equivalent.length > 0 ? equivalent : same;
}

function questions(): KnownQuestion[] {
  const contents = [...SHA1, ...SHA256].map((digest) => [digest]);
  return [...URIS, "http://stranger.test/"].flatMap((each) => [
    { by: "url" as const, uri: each },
    ...contents.flatMap((digests) => [
      { by: "equivalent" as const, uri: each, digests },
      { by: "digest" as const, uri: each, digests, framing: undefined },
      { by: "digest" as const, uri: each, digests, framing: "chunked" as const },
    ]),
  ]);
}

function expectAnswers(index: DigestIndex, told: readonly DigestEntry[]): void {
  const asked = questions().filter(({ uri }) => URIS.includes(uri));
  for (const [i, answer] of index.find(asked).entries()) {
    const question = asked[i]!;
    if (!index.answers.has(question.by)) {
      expect(answer).toBeUndefined();
      continue;
    }
    const right = expected(told, question);
    if (right.length === 0) expect(answer, JSON.stringify(question)).toBeUndefined();
    else {
      expect(answer, JSON.stringify(question)).toBeDefined();
      expect(right.map(({ uri }) => uri)).toContain(answer!.uri);
      if (question.by === "url") expect(right.map(({ timeMs }) => timeMs)).toContain(answer!.timeMs);
      else {
        expect(answer!.digests.some((digest) => question.digests.includes(digest))).toBe(true);
        // One that can be referred to is known: then the answer can be.
        if (right.some(({ original }) => original !== undefined)) expect(answer!.original).toBeDefined();
      }
      expect(answer!.certainty).toBe("claimed");
    }
  }
}

const settings = fc.record({
  url: fc.boolean(),
  digest: fc.constantFrom(true, true, false),
  equivalent: fc.boolean(),
  validators: fc.constant(true),
});

describe("a digest index", () => {
  it("answers as a plain list does, however it was made", { timeout: 240_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(settings, fc.array(step, { minLength: 1, maxLength: 12 }), async (chosen, steps) => {
        const disk = new ForgetfulDisk();
        const told: DigestEntry[] = [];
        let index = DigestIndex.open(disk, FOLDER, { learning: { settings: chosen, foldAt: 5 } });
        for (const { kind, entries } of steps) {
          if (kind === "learn") await Promise.all(entries.map((each) => index.learn(each)));
          else {
            await index.close();
            if (kind === "build") build(disk, chosen, entries);
            index = DigestIndex.open(disk, FOLDER, { learning: { settings: chosen, foldAt: 5 } });
          }
          if (kind !== "reopen") told.push(...entries);
          expectAnswers(index, told);
        }
        await index.close();
        const reader = DigestIndex.open(disk, FOLDER);
        expectAnswers(reader, told);
        const uris = new Set([...reader.entries()].map(({ uri }) => uri));
        expect([...uris].sort()).toEqual([...new Set(told.map(({ uri }) => uri))].sort());
        await reader.close();
      }),
      { numRuns: 60 },
    );
  });

  it("tells an entry as it was told", async () => {
    await fc.assert(
      fc.asyncProperty(entry, async (told) => {
        const disk = new ForgetfulDisk();
        build(disk, { url: true, digest: true, equivalent: true, validators: true }, [told]);
        const index = DigestIndex.open(disk, FOLDER);
        const [answer] = index.find([{ by: "url", uri: told.uri }]);
        expect(answer).toEqual({ ...told, certainty: "claimed" });
        await index.close();
      }),
      { numRuns: 200 },
    );
  });
});
