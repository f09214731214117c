/** A rebuild of records that have rotted, and of adopted files that are others now: named, nobody's content, nothing lowered. */
import { describe, expect, it } from "vitest";
import type { ArchiveError } from "../../base/index.ts";
import { type Disk, removeTree } from "../../disk/index.ts";
import type { Input } from "../../pipeline/index.ts";
import {
  capturesOf,
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  payloadOf,
  rebuild,
  type Visit,
  visitBytes,
} from "../../testing/archive-fixture.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { segmentPath } from "../segments/segments.ts";

const NAMES = ["a", "b", "c"];
const urlOf = (name: string) => `http://${name}.example/`;
const visit = (name: string): Visit => ({ uri: urlOf(name), timeMs: Date.UTC(2020, 0, 1), payload: noise(name, 900) });
const SEGMENT = segmentPath(`${FOLDER}/volumes/0/segments`, 1);

async function known(disk: Disk): Promise<string[]> {
  await using archive = await openReader(disk);
  const found: string[] = [];
  for (const name of NAMES) if ((await capturesOf(archive, urlOf(name))).length > 0) found.push(name);
  return found;
}

async function filled(kind: "add" | "adopt", isPlain = false): Promise<{ disk: ForgetfulDisk; path: string }> {
  const disk = new ForgetfulDisk();
  let input: Input = makeInput(
    disk,
    NAMES.map((name) => visitBytes(visit(name))),
    "/holdings",
  );
  if (isPlain) {
    const bytes = Buffer.concat(NAMES.map((name) => visitBytes(visit(name))));
    using file = disk.open(input.path, "replace");
    file.write(bytes, 0);
    input = { ...input, size: bytes.length };
  }
  await using writer = openWriter(disk);
  await writer[kind]([input]);
  return { disk, path: kind === "add" ? SEGMENT : input.path };
}

/** Changes a byte of the record of this page, so far before its end. Where the record begins. */
async function rot(disk: Disk, path: string, name: string, fromEnd: number): Promise<number> {
  await using archive = await openReader(disk);
  const [capture] = await capturesOf(archive, urlOf(name));
  const { offset, length } = capture!;
  using file = disk.open(path, "update");
  const byte = Buffer.alloc(1);
  const at = offset + length - fromEnd;
  file.read(byte, at);
  file.write(Buffer.of(byte[0]! ^ 1), at);
  return offset;
}

async function attempt(disk: Disk, acceptLoss = false): Promise<{ named: string[]; error: unknown }> {
  const named: string[] = [];
  const onDamage = ({ code, message }: ArchiveError) => named.push(`${code} ${message}`);
  const error: unknown = await rebuild(disk, { acceptLoss, onDamage }).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return { named, error };
}

function loseCatalogue(disk: Disk): void {
  for (const { name } of disk.list(FOLDER)) {
    if (/^(catalogue|timeline)-/.test(name)) removeTree(disk, `${FOLDER}/${name}`);
  }
}

describe("a record of our own that fails its checksum", () => {
  // The checksum itself, and what it is of.
  it.each([6, 300])("is named, and everything stays as it was; byte %i from its end", async (fromEnd) => {
    for (const name of NAMES) {
      const { disk } = await filled("add");
      const offset = await rot(disk, SEGMENT, name, fromEnd);
      const { named, error } = await attempt(disk);
      expect(named).toEqual([expect.stringContaining(`HT_CORRUPT ${SEGMENT}:${offset}: a record`)]);
      expect(error).toMatchObject({ code: "HT_CORRUPT" });
      expect(await known(disk)).toEqual(NAMES);
    }
  });

  it("is nobody's content in a rebuild that accepts it, nor where the catalogue was lost", async () => {
    for (const how of ["accepted", "lost", "written to"] as const) {
      const { disk } = await filled("add");
      await rot(disk, SEGMENT, "b", 6);
      if (how === "accepted") expect((await attempt(disk, true)).error).toBeUndefined();
      else {
        loseCatalogue(disk);
        if (how === "written to") await openWriter(disk)[Symbol.asyncDispose]();
        else {
          const { named, error } = await attempt(disk);
          expect(error).toBeUndefined();
          expect(named).toHaveLength(1);
        }
      }
      expect(await known(disk), how).toEqual(["a", "c"]);
      await using archive = await openReader(disk);
      const [last] = await capturesOf(archive, urlOf("c"));
      expect(await payloadOf(archive, last!)).toEqual(visit("c").payload);
    }
  });
});

describe("an adopted file", () => {
  it("of another size is not the one that was adopted", async () => {
    const { disk, path } = await filled("adopt");
    {
      using file = disk.open(path, "update");
      file.write(Buffer.from("more"), file.size());
    }
    const { named, error } = await attempt(disk);
    expect(named).toEqual([expect.stringContaining(`HT_CHANGED ${path}: has `)]);
    expect(error).toMatchObject({ code: "HT_CORRUPT" });
    expect(await known(disk)).toEqual(NAMES);
    expect((await attempt(disk, true)).error).toBeUndefined();
    expect(await known(disk)).toEqual([]);
    expect(await diagnose(disk)).toEqual([expect.stringContaining(`HT_CHANGED ${path}`)]);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ["other captures", (bytes) => Buffer.from(bytes.toString("latin1").replaceAll(".example", ".invalid"), "latin1")],
    [
      "another status",
      (bytes) => Buffer.from(bytes.toString("latin1").replaceAll(/^HTTP\/1.1 200/gm, "HTTP/1.1 404"), "latin1"),
    ],
  ])("of the same size with %s is not the one that was adopted", async (_, change) => {
    const { disk, path } = await filled("adopt", true);
    const bytes = Buffer.concat(NAMES.map((name) => visitBytes(visit(name))));
    {
      using file = disk.open(path, "replace");
      file.write(change(bytes), 0);
      expect(file.size()).toBe(bytes.length);
    }
    const { named, error } = await attempt(disk);
    expect(named).toHaveLength(NAMES.length);
    expect(named[0]).toContain(`HT_CORRUPT ${path}:0: not what was there when the file was adopted`);
    expect(error).toMatchObject({ code: "HT_CORRUPT" });
    expect(await known(disk)).toEqual(NAMES);
  });

  it.each([false, true])("with a payload that has changed is named; plain: %s", async (isPlain) => {
    const { disk, path } = await filled("adopt", isPlain);
    const offset = await rot(disk, path, "b", isPlain ? 100 : 6);
    const { named, error } = await attempt(disk);
    // What was adopted may fail its checksum, as long as its payload is the same.
    expect(named).toEqual(isPlain ? [expect.stringContaining(`HT_CORRUPT ${path}:${offset}: not what was there`)] : []);
    if (isPlain) expect(error).toMatchObject({ code: "HT_CORRUPT" });
    else expect(error).toBeUndefined();
    expect(await known(disk)).toEqual(NAMES);
  });
});
