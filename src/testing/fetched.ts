/** Fetch jobs in tests, and what they leave on a disk. */
import { type Clock, systemRandom } from "../base/index.ts";
import { type FetchJobOptions, type FetchSettings, type Retrieval, runFetchJob } from "../crawl/index.ts";
import { DigestIndex } from "../digests/index.ts";
import type { Disk } from "../disk/index.ts";
import { AddressGuard, HttpClient } from "../http/index.ts";
import { fileSource, WarcReader } from "../warc/index.ts";

export const FETCH_SETTINGS: FetchSettings = {
  deduplicates: true,
  scheme: "both",
  by: "conditional",
  audit: 0,
  seed: "1",
  writePredicted: false,
  refusesClaims: false,
  redirectsMax: 5,
  indexesEquivalent: true,
  matching: { matching: "digest", tryEquivalent: true, mirrors: "duplicates" },
  headers: [["User-Agent", "test"]],
};

export interface FetchTrial {
  readonly settings?: Partial<FetchSettings>;
  /** Folders of jobs whose digests are asked. */
  readonly against?: readonly string[];
  readonly clock?: Clock;
  readonly options?: Partial<FetchJobOptions>;
}

/** A clock that goes on by a second with each look: captures of one test are then in seconds of their own. */
export function tickingClock(startMs = Date.UTC(2026, 6, 1)): Clock {
  let nowMs = startMs;
  return { now: () => (nowMs += 1000) };
}

/** Runs a job to its end; gives what was told, retrieval by retrieval. */
export async function fetchInto(disk: Disk, folder: string, urls: readonly string[], trial: FetchTrial = {}) {
  const retrievals: Retrieval[] = [];
  const clock = trial.clock ?? tickingClock();
  const guard = new AddressGuard({ allow: ["127.0.0.0/8"] });
  const known = (trial.against ?? []).map((job) => DigestIndex.open(disk, `${job}/digests`));
  const result = await runFetchJob({
    disk,
    clock,
    random: systemRandom,
    folder,
    urls,
    identity: { ...trial.settings },
    settings: { ...FETCH_SETTINGS, ...trial.settings },
    client: new HttpClient({ guard, clock }),
    known,
    delayMs: 0,
    parallel: 4,
    prefix: "test",
    onRetrieval: (retrieval) => void retrievals.push(retrieval),
    ...trial.options,
  });
  for (const index of known) await index.close();
  const of = (path: string) => retrievals.find(({ uri }) => new URL(uri).pathname === path);
  return { ...result, retrievals, of };
}

export interface FetchedRecord {
  readonly type: string;
  readonly id: string;
  readonly uri: string | undefined;
  readonly date: string;
  readonly head: (name: string) => string | undefined;
  readonly block: Buffer;
}

/** Every record of the WARC files of a job. Throws at the first damage. */
export function recordsIn(disk: Disk, folder: string): FetchedRecord[] {
  const names = disk.list(folder).flatMap(({ name }) => (/\.warc\.gz/.test(name) ? [name] : []));
  return names.flatMap((name) => {
    using file = disk.open(`${folder}/${name}`, "read");
    const records: FetchedRecord[] = [];
    for (const record of new WarcReader(fileSource(file, name), { strict: true })) {
      const { type, uri, headers } = record;
      const block = Buffer.from(record.readAll(1 << 24));
      records.push({ type, id: record.id!, uri, date: record.dateText!, head: (field) => headers.get(field), block });
    }
    return records;
  });
}
