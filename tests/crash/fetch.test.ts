/** A fetch job on a disk that forgets: the power is cut at every operation, and the same job is run again. */
import { describe, expect, it } from "vitest";
import { ChangingSite } from "../../src/testing/changing-site.ts";
import { everyFullDisk, everyMoment } from "../../src/testing/every-stop.ts";
import { fetchInto, recordsIn, tickingClock } from "../../src/testing/fetched.ts";
import type { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";

const PATHS = ["/same/0", "/mirror/0", "/moved", "/chunked/0", "/bare/0", "/empty"];
/** `/moved` leads to the first. */
const RETRIEVALS = PATHS.length;
const OPTIONS = { parallel: 1, fileSizeMaxBytes: 6000 };

/** Everything that was acknowledged is there, once; every revisit reaches its original. */
function checkClosure(disk: ForgetfulDisk, site: ChangingSite, acknowledged: readonly string[]): void {
  const records = recordsIn(disk, "/job");
  const responses = new Map(records.flatMap(({ type, id, uri }) => (type === "response" ? [[id, uri] as const] : [])));
  for (const { type, head } of records) {
    if (type === "revisit")
      expect(responses.get(head("warc-refers-to")!.slice(1, -1))).toBe(head("warc-refers-to-target-uri"));
  }
  const captured = records.filter(({ type }) => type === "response" || type === "revisit").map(({ uri }) => uri);
  for (const path of PATHS) expect(captured).toContain(site.url(path));
  for (const uri of acknowledged) expect(captured.filter((each) => each === uri)).toHaveLength(1);
}

describe("a fetch job that is cut off", () => {
  it("is finished by the next run, at whatever moment that came", { timeout: 120_000 }, async () => {
    await using site = await ChangingSite.start();
    const urls = PATHS.map((path) => site.url(path));
    const acknowledged: string[] = [];
    const moments = await everyMoment(
      async (disk, look) => {
        const onRetrieval = ({ uri }: { readonly uri: string }) => void acknowledged.push(uri);
        await fetchInto(disk, "/job", urls, { options: { ...OPTIONS, onRetrieval } });
        await look();
      },
      () => [...acknowledged],
      async (disk, noted) => {
        site.asked.length = 0;
        const clock = tickingClock(Date.UTC(2026, 7, 1));
        const { left, tally } = await fetchInto(disk, "/job", urls, { clock, options: OPTIONS });
        expect(left).toBe(0);
        expect(tally.counts.retrievals).toBe(RETRIEVALS);
        // What was acknowledged is not asked for again.
        for (const uri of noted) expect(site.asked).not.toContain(new URL(uri).pathname);
        checkClosure(disk, site, noted);
      },
      { aftermathCount: 1 },
    );
    expect(acknowledged).toHaveLength(RETRIEVALS);
    expect(moments).toBeGreaterThan(50);
  });

  it("by a full disk says so, and is finished when there is room", { timeout: 120_000 }, async () => {
    await using site = await ChangingSite.start();
    const urls = PATHS.map((path) => site.url(path));
    let acknowledged: string[] = [];
    const writes = await everyFullDisk(
      async (disk) => {
        acknowledged = [];
        const onRetrieval = ({ uri }: { readonly uri: string }) => void acknowledged.push(uri);
        await fetchInto(disk, "/job", urls, { options: { ...OPTIONS, onRetrieval } });
      },
      async (full, failure) => {
        if (failure !== undefined) expect(failure).toMatchObject({ code: "HT_NO_SPACE" });
        const disk = full.reopen({ data: "keep", names: "keep", seed: 0 });
        const clock = tickingClock(Date.UTC(2026, 7, 1));
        const { left } = await fetchInto(disk, "/job", urls, { clock, options: OPTIONS });
        expect(left).toBe(0);
        checkClosure(disk, site, acknowledged);
      },
    );
    expect(writes).toBeGreaterThan(10);
  });
});
