/** URLs with bytes that are not UTF-8: they are found by the escapes of those bytes, now and after a rebuild. */
import { expect, it } from "vitest";
import { digestOf } from "../../base/index.ts";
import { diagnose, FOLDER, makeInput, openReader, openWriter, rebuild } from "../../testing/archive-fixture.ts";
import { capturesOf, payloadsOf } from "../../testing/asked-archive.ts";
import { captureBytes, idOf, noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

const DATE = "2020-01-05T00:00:00Z";
/** Not UTF-8, UTF-8, and the escapes of both. */
const RAW = "http://a.example/caf\xe9";
const ESCAPED = "http://a.example/caf%E9";
const TEXT = "http://a.example/café";
const OTHER_ESCAPED = "http://a.example/caf%C3%A9";

/** A record with these very bytes for its URL. */
function withUrl(latin1: string, payload: Buffer): Buffer {
  const bytes = captureBytes({ uri: "URL", date: DATE, payload, id: idOf(latin1) });
  return Buffer.from(bytes.toString("latin1").replace("WARC-Target-URI: URL", `WARC-Target-URI: ${latin1}`), "latin1");
}

function arcFile(url: string): Buffer {
  const record = (line: string, block: string) => `${line} ${block.length}\n${block}\n`;
  const about = record("filedesc://a.arc 0.0.0.0 20200105000000 text/plain", "1 0 Test\nURL IP-address\n\n");
  const body = record(`${url} 192.0.2.1 20200105000000 text/html`, "HTTP/1.0 200 OK\r\n\r\nfrom an ARC file");
  return Buffer.from(about + body, "latin1");
}

function put(disk: ForgetfulDisk, path: string, bytes: Uint8Array) {
  using file = disk.open(path, "replace");
  file.write(bytes, 0);
  return { name: path, path, entries: [], size: bytes.length };
}

async function urlsOf(disk: ForgetfulDisk, url: string): Promise<string[]> {
  await using archive = await openReader(disk);
  return (await capturesOf(archive, url)).map((capture) => capture.url);
}

it("are other URLs than those that a Latin-1 reading of them gives", async () => {
  const disk = new ForgetfulDisk();
  const spellings = [RAW, Buffer.from(TEXT).toString("latin1"), ESCAPED, OTHER_ESCAPED];
  const payloads = spellings.map((_, i) => noise(String(i), 200));
  {
    await using writer = openWriter(disk);
    await writer.add([
      makeInput(
        disk,
        spellings.map((url, i) => withUrl(url, payloads[i]!)),
      ),
    ]);
  }
  const check = async () => {
    expect((await urlsOf(disk, ESCAPED)).sort()).toEqual([ESCAPED, ESCAPED]);
    expect((await urlsOf(disk, TEXT)).sort()).toEqual([OTHER_ESCAPED, TEXT]);
    const found = await payloadsOf(disk, ESCAPED);
    expect(new Set(found.map((payload) => payloads.findIndex((each) => each.equals(payload!))))).toEqual(
      new Set([0, 2]),
    );
    expect(await diagnose(disk)).toEqual([]);
  };
  await check();
  await rebuild(disk);
  await check();
});

it.each(["arc\xe9", "arc\x85x", "arc\xa0x", "arc\xc3\xa9", "arc b"])("an ARC record of %j", async (path) => {
  const disk = new ForgetfulDisk();
  {
    await using writer = openWriter(disk);
    await writer.add([put(disk, "/a.arc", arcFile(`http://a.example/${path}`))]);
  }
  const escaped = `http://a.example/${path.replace(/[\x80-\xff ]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)}`;
  const [url] = await urlsOf(disk, escaped);
  expect(url).toMatch(/^http:\/\/a\.example\/arc/);
  await rebuild(disk);
  expect(await urlsOf(disk, escaped)).toEqual([url]);
});

it("a revisit finds such an original", async () => {
  const disk = new ForgetfulDisk();
  const payload = noise("shared", 2000);
  {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, [withUrl(RAW, payload)])]);
    const later = { uri: "http://b.example/", date: "2020-02-05T00:00:00Z", payload };
    expect((await writer.add([makeInput(disk, [captureBytes(later)])])).duplicates).toBe(1);
  }
  await rebuild(disk);
  expect(await payloadsOf(disk, "http://b.example/")).toEqual([payload]);
  expect(await diagnose(disk)).toEqual([]);
});

it("what was removed by a version that read them as Latin-1 stays removed", async () => {
  const disk = new ForgetfulDisk();
  const payload = noise("gone", 500);
  const input = makeInput(disk, [withUrl(RAW, payload)]);
  {
    await using writer = openWriter(disk);
    await writer.add([input]);
  }
  const removed = { url: TEXT, date: DATE, sha256: digestOf("sha256", payload).hex, id: idOf(RAW) };
  const entry = { kind: "remove", time: DATE, reason: "a test", selection: TEXT, captures: [removed] };
  put(disk, `${FOLDER}/journal.jsonl`, Buffer.from(`${JSON.stringify(entry)}\n`));
  await rebuild(disk, { acceptLoss: true });
  expect(await urlsOf(disk, ESCAPED)).toEqual([]);
  {
    await using writer = openWriter(disk);
    expect(await writer.add([input])).toMatchObject({ captures: 0, removed: 1 });
    expect(await writer.add([input], { readmit: true })).toMatchObject({ captures: 1 });
  }
  expect(await urlsOf(disk, ESCAPED)).toEqual([ESCAPED]);
  await rebuild(disk);
  expect(await urlsOf(disk, ESCAPED)).toEqual([ESCAPED]);
});
