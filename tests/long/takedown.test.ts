/**
 * A trial on every file of the corpus, sound or not: all of them are added, in two orders; twelve sites are taken down one
 * by one, then half of all hosts. What the segments hold is read by a parser that shares nothing with ours. Nothing may be
 * left with a target URI of what was removed, or tied to it; everything else must be there, once. Where a removed name
 * still occurs, it is counted and printed. Takes minutes, so it runs with `npm run test:long` only.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ArchiveWriter, examineArchive } from "../../src/archive/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs, type Input } from "../../src/pipeline/index.ts";
import { type PlainRecord, segmentRecords } from "../../src/testing/plain-records.ts";
import { loadZstd } from "../../src/warc/index.ts";
import { temporaryFolder } from "../cli/holotype.ts";
import { CORPUS, present } from "../interop/corpus-files.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const why = present ? (long === undefined ? " (skipped: only in test:long)" : "") : " (skipped: no ../shared/corpus)";
const PATIENCE = { timeout: 3_600_000 };
const CAPTURES = new Set(["response", "resource", "revisit"]);

/** The host that a record is about, without `www.` and port; empty where there is none. */
function hostOf(uri: string): string {
  const dns = /^(?:dns|whois):(?:\/\/[^/]*\/)?([^/?;]+)/i.exec(uri)?.[1];
  if (dns !== undefined) return bare(dns);
  // The head of an ARC file names that file.
  if (/^filedesc:/i.test(uri)) return "";
  const url = /^(?:urn:[^:/]+|screenshot|thumbnail|youtube-dl|yt-dlp)(?::\d+)?:(https?:\/\/.+)$/i.exec(uri)?.[1] ?? uri;
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i.exec(url)?.[1];
  return host === undefined ? "" : bare(host);
}

function bare(host: string): string {
  return host.toLowerCase().replace(/^www\d*\./, "");
}

/** What tells records apart; a capture is the same as a revisit of ours and as the record that it stands for. */
function nameOf({ type, uri, date, id, block }: PlainRecord): string {
  if (CAPTURES.has(type)) return ["capture", uri, date, id].join(" ");
  return [type, uri, date, id, createHash("sha256").update(block).digest("hex")].join(" ");
}

interface Left {
  /** Records about what was removed, or tied to it by an id. */
  readonly found: readonly string[];
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  /** Places in which a removed name still occurs. */
  readonly counts: Readonly<Record<string, number>>;
}

function compare(before: readonly PlainRecord[], after: readonly PlainRecord[], sites: readonly string[]): Left {
  const all = new Set(sites);
  const isOf = (uri: string) => {
    for (let host = hostOf(uri); host !== ""; host = host.slice(host.indexOf(".") + 1)) {
      if (all.has(host)) return true;
      if (!host.includes(".")) return false;
    }
    return false;
  };
  const others = new Set(before.filter(({ uri }) => !isOf(uri)).map(({ id }) => id));
  const ids = new Set(before.filter(({ uri, id }) => isOf(uri) && !others.has(id)).map(({ id }) => id));
  const isTied = ({ type, names, isOurs }: PlainRecord) =>
    (type !== "revisit" || isOurs) && names.some((id) => ids.has(id));
  const counts: Record<string, number> = {};
  const count = (what: string, isIt: boolean) => {
    if (isIt) counts[what] = (counts[what] ?? 0) + 1;
  };
  const isLeft = (record: PlainRecord) =>
    isOf(record.uri) || isTied(record) || (record.isOurs && isOf(record.refersToUri));
  const names = new RegExp(sites.slice(0, 50).map(escape).join("|"), "i");
  for (const record of after) {
    count(`revisits of others that name it`, record.type === "revisit" && !record.isOurs && isOf(record.refersToUri));
    count(`blocks of ${record.type} records`, names.test(record.block.toString("latin1")));
    count(`other headers of ${record.type} records`, names.test(record.head));
  }
  const wanted = tally(before.filter((record) => !isOf(record.uri) && !(isTied(record) && !CAPTURES.has(record.type))));
  const there = tally(after.filter((record) => !isLeft(record)));
  const differing = (one: Map<string, number>, other: Map<string, number>) =>
    [...one].filter(([name, times]) => times > (other.get(name) ?? 0)).map(([name]) => name);
  return {
    found: after.filter(isLeft).map(({ head }) => head),
    missing: differing(wanted, there),
    extra: differing(there, wanted),
    counts,
  };
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function tally(records: readonly PlainRecord[]): Map<string, number> {
  const names = new Map<string, number>();
  for (const record of records) names.set(nameOf(record), (names.get(nameOf(record)) ?? 0) + 1);
  return names;
}

function tell(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Hosts by how many records are about them, the largest first. */
function hostsIn(records: readonly PlainRecord[]): string[] {
  const counts = new Map<string, number>();
  for (const { uri } of records) {
    const host = hostOf(uri);
    if (/^[a-z0-9.-]+$/.test(host)) counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  return [...counts].sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1)).map(([host]) => host);
}

describe.skipIf(!present || long === undefined)(`a takedown from the whole corpus${why}`, PATIENCE, () => {
  let inputs: Input[] = [];
  const folder = temporaryFolder();

  beforeAll(async () => {
    await loadZstd();
    inputs = findInputs(nodeDisk, [CORPUS], () => {});
  });

  it.each(["as they lie", "backwards"])(
    "leaves nothing of it in the segments, and all else: %s",
    PATIENCE,
    async (order) => {
      const archive = join(folder, order);
      {
        await using writer = ArchiveWriter.open(nodeDisk, archive, { create: true, segmentSizeBytes: 8 << 20 });
        await writer.add(order === "backwards" ? inputs.toReversed() : inputs);
      }
      const take = async (sites: readonly string[]) => {
        const before = segmentRecords(nodeDisk, archive);
        const started = performance.now();
        let [captures, notes] = [0, 0];
        {
          await using writer = ArchiveWriter.open(nodeDisk, archive);
          for (const site of sites) {
            const report = await writer.remove({ site }, { reason: "a trial" });
            captures += report.captures;
            notes += report.notes;
          }
          writer.compact();
        }
        const seconds = ((performance.now() - started) / 1000).toFixed(1);
        const { found, missing, extra, counts } = compare(before, segmentRecords(nodeDisk, archive), sites);
        const what = sites.length === 1 ? sites[0] : `${sites.length} hosts`;
        tell(`${what}: ${captures} captures, ${notes} other records in ${seconds} s; left: ${JSON.stringify(counts)}`);
        expect({ what, found, missing, extra }).toEqual({ what, found: [], missing: [], extra: [] });
      };
      const hosts = hostsIn(segmentRecords(nodeDisk, archive));
      expect(hosts.length).toBeGreaterThan(100);
      const twelve = Array.from({ length: 12 }, (_, i) => hosts[i < 6 ? i : Math.floor((hosts.length * (i - 5)) / 7)]!);
      for (const site of twelve) await take([site]);
      await take(hostsIn(segmentRecords(nodeDisk, archive)).filter((_, i) => i % 2 === 0));
      const findings: string[] = [];
      for await (const { code, message } of examineArchive(nodeDisk, archive, { scrub: true }))
        if (!code.startsWith("HT_HTTP_CHUNK")) findings.push(message);
      expect(findings).toEqual([]);
      const left = segmentRecords(nodeDisk, archive).map(nameOf).sort();
      await ArchiveWriter.rebuild(nodeDisk, archive);
      {
        await using writer = ArchiveWriter.open(nodeDisk, archive);
        writer.compact({ all: true });
        expect(segmentRecords(nodeDisk, archive).map(nameOf).sort()).toEqual(left);
        // The files do not bring back what was removed.
        await writer.add(inputs);
      }
      expect(segmentRecords(nodeDisk, archive).map(nameOf).sort()).toEqual(left);
      const lines = readFileSync(join(archive, "journal.jsonl"), "utf8").split("\n").length - 1;
      tell(`${order}: ${left.length} records left; the journal names what was removed in ${lines} lines`);
    },
  );
});
