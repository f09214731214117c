/** Indexes that were cut off or whose bytes are not what they were: a typed error, or the right answer, and never another. */
import { describe, expect, it } from "vitest";
import { ArchiveError, formatIso } from "../base/index.ts";
import type { KnownQuestion } from "../dedup/index.ts";
import { createDice } from "../testing/dice.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { checkIndex } from "./check.ts";
import { DigestIndex } from "./digest-index.ts";
import type { DigestEntry } from "./entry.ts";
import { EntrySorter } from "./entry-sorter.ts";
import { IndexWriter } from "./index-writer.ts";
import { formatLearnedLine, parseLearnedLine } from "./learned-log.ts";

const FOLDER = "/index";
const SETTINGS = { url: true, digest: true, equivalent: true, validators: true };
const ENTRIES: readonly DigestEntry[] = Array.from({ length: 60 }, (_, i) => {
  const uri = `http://www.site.test/${i}`;
  const timeMs = 1_600_000_000_000 + i * 1000;
  const digests = [`sha256:${i.toString(16).padStart(8, "0").repeat(8)}`];
  return { uri, timeMs, digests, mime: "text/html", original: { uri, date: formatIso(timeMs), id: undefined } };
});
const QUESTIONS: readonly KnownQuestion[] = ENTRIES.flatMap(({ uri, digests }) => [
  { by: "url" as const, uri },
  { by: "digest" as const, uri: "http://else.test/", digests },
  { by: "equivalent" as const, uri, digests },
]);

function makeIndex(): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  using writer = IndexWriter.open(disk, FOLDER, { settings: SETTINGS });
  using sorter = new EntrySorter(disk, { folder: FOLDER });
  for (const entry of ENTRIES) sorter.add(entry);
  writer.addRun((path) => sorter.writeRun(path, SETTINGS));
  return disk;
}

function copyOf(disk: ForgetfulDisk): ForgetfulDisk {
  return disk.reopen({ data: "keep", names: "keep", seed: 0 });
}

/** Each question by itself: right, absent only if allowed, or HT_CORRUPT. */
function look(disk: ForgetfulDisk): { errors: number } {
  let errors = 0;
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      expect(["HT_CORRUPT", "HT_FORMAT_TOO_NEW", "HT_NOT_FOUND"]).toContain(error.code);
      errors++;
    }
  };
  attempt(() => {
    const index = DigestIndex.open(disk, FOLDER);
    for (const [i, question] of QUESTIONS.entries()) {
      attempt(() => {
        const [found] = index.find([question]);
        expect(found).toEqual({ ...EXPECTED[Math.floor(i / 3)], certainty: "claimed" });
      });
    }
    void index.close();
  });
  return { errors };
}

const EXPECTED = ENTRIES.map((entry) => ({
  ...entry,
  payloadSize: undefined,
  framing: undefined,
  status: undefined,
  etag: undefined,
  lastModified: undefined,
  origin: undefined,
  place: undefined,
}));

describe("a damaged index", () => {
  it("is sound to begin with", () => {
    const disk = makeIndex();
    expect(look(disk)).toEqual({ errors: 0 });
    expect([...checkIndex(disk, FOLDER)]).toEqual([]);
  });

  it.each(["000001.run", "slots"])("with a flipped bit in %s answers right or says so", (name) => {
    const disk = makeIndex();
    const dice = createDice(5);
    let told = 0;
    for (let round = 0; round < 100; round++) {
      const damaged = copyOf(disk);
      using file = damaged.open(`${FOLDER}/${name}`, "update");
      const at = dice.below(file.size());
      const byte = Buffer.alloc(1);
      file.read(byte, at);
      byte[0]! ^= 1 << dice.below(8);
      file.write(byte, at);
      const { errors } = look(damaged);
      if (errors > 0) told++;
      // Nothing in a run is without a checksum; a slot has its twin.
      if (name.endsWith(".run")) {
        expect([...checkIndex(damaged, FOLDER)]).not.toEqual([]);
      }
    }
    if (name.endsWith(".run")) expect(told).toBeGreaterThan(20);
  });

  it("that was cut off is never taken for a smaller one", () => {
    const disk = makeIndex();
    using whole = disk.open(`${FOLDER}/000001.run`, "read");
    const size = whole.size();
    for (let cut = 0; cut < size; cut += 1000) {
      const damaged = copyOf(disk);
      using file = damaged.open(`${FOLDER}/000001.run`, "update");
      file.truncate(cut);
      expect(() => DigestIndex.open(damaged, FOLDER)).toThrow(expect.objectContaining({ code: "HT_CORRUPT" }));
    }
  });

  it("passes over lines of a learned log that do not hold", async () => {
    const disk = makeIndex();
    const [first, second] = [
      { ...ENTRIES[0]!, uri: "http://a.test/" },
      { ...ENTRIES[1]!, uri: "http://b.test/" },
    ];
    const text = formatLearnedLine(first) + formatLearnedLine(second);
    for (let cut = 0; cut <= text.length; cut++) {
      const damaged = copyOf(disk);
      using file = damaged.open(`${FOLDER}/learned-000001.log`, "create");
      file.write(Buffer.from(text.slice(0, cut)), 0);
      await using index = DigestIndex.open(damaged, FOLDER);
      const found = index.find([first, second].map(({ uri }) => ({ by: "url" as const, uri })));
      const line = formatLearnedLine(first).length;
      const count = cut >= text.length - 1 ? 2 : cut >= line - 1 ? 1 : 0;
      expect(found.filter((each) => each !== undefined).length).toBe(count);
    }
    expect(parseLearnedLine(formatLearnedLine(first).replace("a.test", "c.test").trimEnd())).toBeUndefined();
  });

  it("passes over lines of a learned log that tell what cannot be", () => {
    const whole = {
      ...ENTRIES[0]!,
      payloadSize: 5,
      framing: "chunked" as const,
      status: 200,
      etag: '"é"',
      place: { file: "a.warc", offset: 0 },
    };
    const parse = (more: object) => parseLearnedLine(formatLearnedLine({ ...whole, ...more } as DigestEntry).trimEnd());
    expect(parse({})).toEqual(whole);
    const { original } = whole;
    const odd = [
      { uri: "http://a.test/\r\nX: y" },
      { etag: 5 },
      { lastModified: "x\r\nX: y" },
      { mime: {} },
      { origin: "\0" },
      { status: "200" },
      { payloadSize: -1 },
      { framing: "gzip" },
      { original: null },
      { original: "x" },
      { original: { ...original, id: "urn:x\r\nX: y" } },
      { original: { ...original, id: 5 } },
      { original: { ...original, uri: "http://a.test/\n" } },
      { original: { date: original!.date } },
      { place: { file: 5, offset: 0 } },
      { place: { file: "a.warc", offset: "0" } },
    ];
    for (const more of odd) expect(parse(more), JSON.stringify(more)).toBeUndefined();
  });

  it("gives no text out of a run that would break a header", async () => {
    const disk = new ForgetfulDisk();
    const odd = [
      { etag: '"x"\r\nX: y', lastModified: "x\n" },
      { original: { uri: "http://a.test/\r\nX: y", date: formatIso(0) } },
      { original: { uri: "http://a.test/", date: formatIso(0), id: "urn:x\r\nX: y" } },
    ];
    const entries = odd.map((more, i) => ({ ...ENTRIES[i]!, ...more }));
    const writer = DigestIndex.open(disk, FOLDER, { learning: { settings: SETTINGS } });
    await writer.learn(...entries);
    await writer.close();
    await using index = DigestIndex.open(disk, FOLDER);
    const found = index.find(entries.map(({ uri }) => ({ by: "url" as const, uri })));
    expect(found.map((each) => [each!.etag, each!.lastModified, each!.original])).toEqual([
      [undefined, undefined, ENTRIES[0]!.original],
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
    ]);
  });
});
