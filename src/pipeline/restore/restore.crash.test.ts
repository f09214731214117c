/** A power cut at every operation of a restore: what has a name is whole, and the same call goes on to the end. */
import { describe, expect, it } from "vitest";
import { createDurably, type Disk } from "../../disk/index.ts";
import { everyFullDisk, everyStop } from "../../testing/every-stop.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { gzipMember } from "../../testing/gzip-member.ts";
import { dedup } from "../dedup.ts";
import { restore } from "./restore.ts";

function response(day: number, payload: string): Buffer {
  const block = `HTTP/1.1 200 OK\r\nX-Day: ${day}\r\n\r\n${payload}`;
  const head = [
    "WARC/1.1",
    "WARC-Type: response",
    `WARC-Record-ID: <urn:uuid:${day}>`,
    `WARC-Date: 2020-01-0${day}T00:00:00Z`,
    "WARC-Target-URI: http://a.example/",
    "Content-Type: application/http; msgtype=response",
    `Content-Length: ${block.length}`,
  ];
  return gzipMember(Buffer.from(`${head.join("\r\n")}\r\n\r\n${block}\r\n\r\n`));
}

const PAYLOAD = Array.from({ length: 300 }, (_, i) => Math.imul(i + 1, 0x9e3779b1).toString(36)).join("");
const INPUTS = {
  "a.warc.gz": response(1, PAYLOAD),
  "b.warc.gz": Buffer.concat([response(3, "other"), response(2, PAYLOAD)]),
};

function read(disk: Disk, path: string): Buffer | undefined {
  if (disk.stat(path) === undefined) return undefined;
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

function readAll(disk: Disk, folder: string): [path: string, bytes: Buffer][] {
  return disk.list(folder).flatMap(({ name, kind }) => {
    const path = `${folder}/${name}`;
    return kind === "folder" ? readAll(disk, path) : [[path, read(disk, path)!] as [string, Buffer]];
  });
}

/** What a deduplication leaves, as files. */
async function deduplicate(): Promise<[path: string, bytes: Buffer][]> {
  const disk = new ForgetfulDisk();
  disk.makeFolder("/in");
  for (const [name, bytes] of Object.entries(INPUTS)) createDurably(disk, `/in/${name}`, (file) => file.write(bytes));
  const { replaced } = await dedup(disk, ["/in"], { output: "/crash/out", threads: 1 });
  expect(replaced).toBe(1);
  return readAll(disk, "/crash/out");
}

const before = await deduplicate();

function prepare(disk: Disk): void {
  for (const [path, bytes] of before) {
    disk.makeFolder(path.slice(0, path.lastIndexOf("/")));
    createDurably(disk, path, (file) => file.write(bytes));
  }
}

function visible(disk: Disk): string[] {
  return disk.stat("/back") === undefined
    ? []
    : disk.list("/back").flatMap(({ name }) => (name.startsWith(".") ? [] : [name]));
}

function checkWhole(disk: Disk): void {
  for (const name of visible(disk)) {
    const wanted = INPUTS[name as keyof typeof INPUTS];
    expect({ name, whole: read(disk, `/back/${name}`)!.equals(wanted) }).toEqual({ name, whole: true });
  }
}

const run = (disk: Disk) => restore(disk, ["/crash/out"], { output: "/back" });

describe("a restore under a power cut at any moment", () => {
  it("leaves whole files only, has what it told, and goes on when it is called again", async () => {
    let told: string[] = [];
    let checks = 0;
    const count = await everyStop(
      async (disk) => {
        told = [];
        await restore(disk, ["/crash/out"], { output: "/back", onFile: ({ output }) => void told.push(output) });
      },
      async (disk, stoppedAt) => {
        checkWhole(disk);
        for (const path of told) expect(read(disk, path)).toBeDefined();
        if (stoppedAt === undefined) expect(visible(disk)).toEqual(Object.keys(INPUTS));
        // Going on is slow to look at: every so often will do.
        if (++checks % 8 > 0) return;
        const { failed, files } = await run(disk);
        expect({ failed, states: files.map(({ state }) => state) }).toEqual({
          failed: [],
          states: ["identical", "identical"],
        });
        checkWhole(disk);
        expect(visible(disk)).toEqual(Object.keys(INPUTS));
      },
      { prepare },
    );
    expect(count).toBeGreaterThan(20);
  });

  it("stops at a full disk with what is finished, and nothing half", async () => {
    await everyFullDisk(
      async (disk) => {
        await run(disk);
      },
      (disk, failure) => {
        checkWhole(disk);
        if (failure === undefined) expect(visible(disk)).toEqual(Object.keys(INPUTS));
        else expect(failure).toMatchObject({ code: "HT_NO_SPACE" });
      },
      { prepare },
    );
  });
});
