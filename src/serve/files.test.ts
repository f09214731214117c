import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { openWriter } from "../testing/archive-fixture.ts";
import { captureBytes } from "../testing/capture-text.ts";
import { serveRecords } from "../testing/served-archive.ts";

const URI = "http://a.example/";
const record = captureBytes({ uri: URI, date: "2014-01-01T00:00:00Z", payload: "one" });
const other = captureBytes({ uri: "http://b.example/", date: "2014-01-01T00:00:00Z", payload: "two" });

it("serves records and segments only if it is told to", async () => {
  await using archive = await serveRecords([record]);
  for (const target of [`/coll/record/2014/${URI}`, "/coll/segments/000001.warc.gz"])
    expect(await archive.ask(target)).toMatchObject({ status: 404 });
});

it("serves them as they lie on disk, with ranges, and nothing else", async () => {
  await using archive = await serveRecords([record, other], { serveFiles: true });
  const alone = await archive.ask(`/coll/record/2014/${URI}`);
  expect(gunzipSync(alone.body).toString("latin1")).toContain("WARC-Target-URI: http://a.example/");
  const segment = await archive.ask("/coll/segments/000001.warc.gz");
  expect(segment).toMatchObject({ status: 200, headers: { "content-length": `${segment.body.length}` } });
  expect(gunzipSync(segment.body).toString("latin1")).toContain("WARC-Target-URI: http://b.example/");
  for await (const [capture] of archive.collection.captures({ url: URI })) {
    const { offset, length } = capture!;
    const range = `bytes=${offset}-${offset + length - 1}`;
    const part = await archive.ask("/coll/segments/000001.warc.gz", { headers: { range } });
    expect(part.status).toBe(206);
    expect(part.body).toEqual(alone.body);
  }
  for (const name of ["000002.warc.gz", "..%2f..%2fjournal.jsonl", "..", "journal.jsonl", "000001.warc.gz/"])
    expect((await archive.ask(`/coll/segments/${name}`)).status).toBe(404);
});

it("does not serve a segment that waits for compaction after a removal", async () => {
  await using archive = await serveRecords([record, other], { serveFiles: true });
  {
    await using writer = openWriter(archive.disk);
    await writer.remove({ url: URI }, { reason: "test" });
  }
  await archive.collection.refresh();
  expect(await archive.ask("/coll/segments/000001.warc.gz")).toMatchObject({ status: 404 });
  expect(await archive.ask(`/coll/record/2014/${URI}`)).toMatchObject({ status: 404 });
});
