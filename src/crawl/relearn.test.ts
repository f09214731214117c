/** An index that a job has lost is made again from what the job has written. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { DigestIndex } from "../digests/index.ts";
import { ChangingSite, SITE_DOCUMENTS } from "../testing/changing-site.ts";
import { fetchInto, tickingClock } from "../testing/fetched.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";

let site: ChangingSite;
beforeAll(async () => {
  site = await ChangingSite.start();
});
afterAll(async () => await site[Symbol.asyncDispose]());

const urls = () => SITE_DOCUMENTS.map(({ path }) => site.url(path));
const second = () => ({ clock: tickingClock(Date.UTC(2026, 8, 1)), against: ["/one"] });

async function entriesOf(disk: ForgetfulDisk, job: string) {
  await using index = DigestIndex.open(disk, `${job}/digests`);
  return [...index.entries()].map((entry) => ({ ...entry, digests: entry.digests.toSorted() }));
}

function removeIndex(disk: ForgetfulDisk, job: string): void {
  for (const { name } of disk.list(`${job}/digests`)) disk.remove(`${job}/digests/${name}`);
}

it("makes a lost index again, with what a 304 and a revisit refer to", async () => {
  const disk = new ForgetfulDisk();
  site.state = 1;
  await fetchInto(disk, "/one", urls(), { settings: { origin: "first" } });
  site.state = 2;
  const settings = { origin: "second" };
  const { tally } = await fetchInto(disk, "/two", urls(), { ...second(), settings });
  expect(tally.counts.outcomes["not-modified"]).toBeGreaterThan(0);
  const before = await entriesOf(disk, "/two");
  expect(before).toHaveLength(urls().length);
  removeIndex(disk, "/two");
  site.asked.length = 0;
  const warned: (string | undefined)[] = [];
  const onWarning = ({ file }: { file?: string | undefined }) => void warned.push(file);
  const again = await fetchInto(disk, "/two", urls(), { ...second(), settings, options: { onWarning } });
  expect(site.asked).toEqual([]);
  expect(warned).toEqual(["/two/digests"]);
  expect(again.tally.counts).toEqual(tally.counts);
  expect(await entriesOf(disk, "/two")).toEqual(before);
  // Now it is whole, and nobody is warned.
  await fetchInto(disk, "/two", urls(), { ...second(), settings, options: { onWarning } });
  expect(warned).toHaveLength(1);
});

it("makes the lost tail of a job that was interrupted", async () => {
  const disk = new ForgetfulDisk();
  site.state = 1;
  const stop = new AbortController();
  const onRetrieval = () => stop.abort();
  await fetchInto(disk, "/one", urls(), { options: { signal: stop.signal, onRetrieval, parallel: 1, delayMs: 20 } });
  removeIndex(disk, "/one");
  await fetchInto(disk, "/one", urls());
  expect(new Set((await entriesOf(disk, "/one")).map(({ uri }) => uri))).toEqual(new Set(urls()));
});
