import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { openTimeline, TimelineWriter } from "./index.ts";

const page = readFileSync(new URL("../../docs/format/timeline.md", import.meta.url), "utf8");
const SIZE = 1606;

function exampleBytes(): Buffer {
  const bytes = Buffer.alloc(SIZE);
  for (const [, offset, hex] of page.matchAll(/^([0-9a-f]{4}) {2}((?:[0-9a-f]{2} ?)+)$/gm)) {
    Buffer.from(hex!.replaceAll(" ", ""), "hex").copy(bytes, Number.parseInt(offset!, 16));
  }
  return bytes;
}

describe("the example in docs/format/timeline.md", () => {
  it("is a timeline that tells what the page says", () => {
    const disk = new ForgetfulDisk();
    disk.makeFolder("/timeline");
    using file = disk.open("/timeline/timeline.pages", "create");
    file.write(exampleBytes(), 0);
    using snapshot = openTimeline(disk, "/timeline");
    expect([...snapshot.check()]).toEqual([]);
    expect(snapshot.info).toMatchObject({
      generation: 3,
      keys: 2,
      entries: 2,
      visits: 4,
      pageSize: 256,
      digestSize: 4,
    });
    expect(snapshot.info.root).toMatchObject({
      kind: "leaf",
      offset: 1550,
      length: 48,
      lastChange: 1061,
      alive: 1,
      changes: { scale: 1, first: 500, bits: 2 ** 30 + 1 },
    });
    expect([...snapshot.visits("org,site)/")].map(({ time }) => time)).toEqual([1000, 1060]);
    expect(snapshot.at("org,site)/a", 1060)).toMatchObject({ birth: 1001, end: 1061, digest: "bbbb" });
    expect(Buffer.from(snapshot.at("org,site)/", 1000)!.value).toString()).toBe("p1");
    expect(snapshot.at("org,site)/a", 1061)).toBeUndefined();
  });

  it("is what is written", () => {
    const disk = new ForgetfulDisk();
    using writer = TimelineWriter.open(disk, "/timeline", { digestSize: 4, pageSize: 256 });
    for (const time of [1000, 1060]) writer.insert("org,site)/", time, Buffer.from("p1"), Buffer.from("aaaa"));
    writer.insert("org,site)/a", 1001, Buffer.from("p2"), Buffer.from("bbbb"));
    writer.end("org,site)/a", 1061);
    writer.commit();
    using file = disk.open("/timeline/timeline.pages", "read");
    const bytes = Buffer.alloc(file.size());
    file.read(bytes, 0);
    expect(bytes.toString("hex")).toBe(exampleBytes().toString("hex"));
  });
});
