import { describe, expect, it } from "vitest";
import { createDurably } from "../disk/index.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { ZipWriter } from "../warc/index.ts";
import { findInputs, openInput, type SkippedInput } from "./inputs.ts";

/** A disk in memory with these files in it; a name that ends in a slash is a folder. */
function diskWith(files: Readonly<Record<string, string | Buffer>>): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  for (const [path, content] of Object.entries(files)) {
    disk.makeFolder(path.replace(/[^/]*$/, ""));
    if (!path.endsWith("/")) createDurably(disk, path, (output) => output.write(Buffer.from(content)));
  }
  return disk;
}

function find(disk: ForgetfulDisk, ...names: readonly string[]) {
  const skipped: SkippedInput[] = [];
  const inputs = findInputs(disk, names, (input) => void skipped.push(input));
  return {
    names: inputs.map(({ name }) => name),
    inputs,
    skipped: skipped.map(({ name, error }) => [name, error.code]),
  };
}

/** A ZIP file with entries that are empty. */
function emptyZip(...names: readonly string[]): Buffer {
  const locals = names.map((name) => {
    const header = Buffer.alloc(30);
    header.write("PK\x03\x04");
    header.writeUInt16LE(name.length, 26);
    return Buffer.concat([header, Buffer.from(name)]);
  });
  let offset = 0;
  const directory = names.map((name, i) => {
    const entry = Buffer.alloc(46);
    entry.write("PK\x01\x02");
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    offset += locals[i]!.length;
    return Buffer.concat([entry, Buffer.from(name)]);
  });
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(names.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...directory, end]);
}

/** A ZIP file whose entries are stored. */
function storedZip(entries: Readonly<Record<string, string | Buffer>>): Buffer {
  const pieces: Buffer[] = [];
  const zip = new ZipWriter({ write: (bytes) => void pieces.push(Buffer.from(bytes)) }, { timeMs: 0 });
  for (const [name, content] of Object.entries(entries)) zip.add(name, Buffer.from(content));
  zip.finish();
  return Buffer.concat(pieces);
}

/** The same file with all its entries said to be deflated. */
function saidDeflated(zip: Buffer): Buffer {
  const copy = Buffer.from(zip);
  for (let at = copy.indexOf("PK\x01\x02"); at >= 0; at = copy.indexOf("PK\x01\x02", at + 1)) copy[at + 10] = 8;
  return copy;
}

describe("inputs", () => {
  it("are files in the order in which they were named, whatever their names", () => {
    const disk = diskWith({ "/a/z.warc.gz": "1", "/a/notes.txt": "22", "/a/b.arc": "333" });
    const { inputs, skipped } = find(disk, "/a/z.warc.gz", "/a/b.arc", "/a/notes.txt", "-");
    expect(inputs).toEqual([
      { name: "/a/z.warc.gz", path: "/a/z.warc.gz", entries: [], size: 1 },
      { name: "/a/b.arc", path: "/a/b.arc", entries: [], size: 3 },
      { name: "/a/notes.txt", path: "/a/notes.txt", entries: [], size: 2 },
      { name: "-", path: "-", entries: [], size: undefined },
    ]);
    expect(skipped).toEqual([]);
  });

  it("are, of a folder, the archives in it and below, by name", () => {
    const names = [
      "b.warc",
      "a.warc.gz",
      "c.WARC.GZ",
      "d.arc.gz",
      "e.warc.zst",
      "f.warc.gz.open",
      "g.wat.gz",
      "m/n.arc",
    ];
    const others = ["x.cdxj", "x.warc.gz.idx", "warc", ".x.warc.gz.12-0123456789ab.partial", "x.gz"];
    const files = Object.fromEntries([...names, ...others].map((name) => [`/crawl/${name}`, "x"]));
    const { names: found, skipped } = find(diskWith(files), "/crawl");
    expect(found).toEqual([...names].map((name) => `/crawl/${name}`).sort());
    expect(skipped).toEqual([]);
    expect(find(diskWith(files), "/crawl/").names).toEqual(found);
  });

  it("are none in a folder without archives, which is told", () => {
    const { names, skipped } = find(diskWith({ "/empty/": "", "/other/notes.txt": "x" }), "/empty", "/other");
    expect(names).toEqual([]);
    expect(skipped).toEqual([
      ["/empty", "HT_NOT_FOUND"],
      ["/other", "HT_NOT_FOUND"],
    ]);
  });

  it("in a folder are taken though a bad one lies among them", () => {
    const disk = diskWith({ "/a/1.warc": "x", "/a/2.wacz": emptyZip("a.txt"), "/a/3.warc": "x" });
    const { names, skipped } = find(disk, "/a");
    expect(names).toEqual(["/a/1.warc", "/a/3.warc"]);
    expect(skipped).toEqual([["/a/2.wacz", "HT_FORMAT_UNKNOWN"]]);
  });

  it("that are not there are told, and the others taken", () => {
    const disk = diskWith({ "/a.warc": "x" });
    const { names, skipped } = find(disk, "/none", "/a.warc", "/none!entry", "/a.warc/b");
    expect(names).toEqual(["/a.warc"]);
    expect(skipped).toEqual([
      ["/none", "HT_NOT_FOUND"],
      ["/none!entry", "HT_NOT_FOUND"],
      ["/a.warc/b", "HT_NOT_FOUND"],
    ]);
  });

  it("are the archives in a ZIP file, which is known by its bytes", () => {
    const zip = emptyZip("archive/a.warc.gz", "datapackage.json", "archive/b.arc");
    const { inputs, skipped } = find(diskWith({ "/x.data": zip }), "/x.data", "/x.data!archive/b.arc", "/x.data!c");
    expect(inputs).toEqual([
      { name: "/x.data!archive/a.warc.gz", path: "/x.data", entries: ["archive/a.warc.gz"], size: 0, crc: 0 },
      { name: "/x.data!archive/b.arc", path: "/x.data", entries: ["archive/b.arc"], size: 0, crc: 0 },
      { name: "/x.data!archive/b.arc", path: "/x.data", entries: ["archive/b.arc"], size: 0, crc: 0 },
    ]);
    expect(skipped).toEqual([["/x.data!c", "HT_NOT_FOUND"]]);
  });

  it("of a ZIP file that cannot be reached are told, and the others taken", () => {
    const inner = storedZip({ "archive/a.warc.gz": "a", "deep.wacz": "no matter" });
    const disk = diskWith({
      "/twice.wacz": emptyZip("archive/a.warc.gz", "archive/a.warc.gz", "archive/b.warc.gz"),
      "/packed.zip": saidDeflated(emptyZip("in.wacz", "b.warc.gz")),
      "/stored.zip": storedZip({ "hurt.wacz": "PK", "in.wacz": inner, "b.warc.gz": "b" }),
    });
    const { names, skipped } = find(disk, "/twice.wacz", "/packed.zip", "/stored.zip");
    expect(names).toEqual([
      "/twice.wacz!archive/a.warc.gz",
      "/twice.wacz!archive/b.warc.gz",
      "/packed.zip!b.warc.gz",
      "/stored.zip!in.wacz!archive/a.warc.gz",
      "/stored.zip!b.warc.gz",
    ]);
    expect(skipped).toEqual([
      ["/twice.wacz!archive/a.warc.gz", "HT_UNSUPPORTED"],
      ["/packed.zip!in.wacz", "HT_UNSUPPORTED"],
      ["/stored.zip!hurt.wacz", "HT_ZIP_DATA"],
      ["/stored.zip!in.wacz!deep.wacz", "HT_UNSUPPORTED"],
    ]);
  });

  it("may have an exclamation mark in their own name", () => {
    expect(find(diskWith({ "/hey!.warc": "x" }), "/hey!.warc").inputs[0]).toMatchObject({
      path: "/hey!.warc",
      entries: [],
    });
  });

  it("of a ZIP file that is damaged or empty are skipped with a reason", () => {
    const zip = emptyZip("archive/a.warc.gz");
    const disk = diskWith({ "/cut.wacz": zip.subarray(0, 40), "/none.wacz": emptyZip("a.txt") });
    expect(find(disk, "/cut.wacz", "/none.wacz").skipped).toEqual([
      ["/cut.wacz", "HT_ZIP_DATA"],
      ["/none.wacz", "HT_FORMAT_UNKNOWN"],
    ]);
  });

  it("are opened where they lie, and closed", () => {
    const disk = diskWith({ "/a.warc": "hello" });
    const source = openInput(disk, find(disk, "/a.warc").inputs[0]!);
    const into = Buffer.alloc(3);
    expect([source.size, source.seekable, source.read(into, 2), into.toString()]).toEqual([5, true, 3, "llo"]);
    source.close?.();
  });
});
