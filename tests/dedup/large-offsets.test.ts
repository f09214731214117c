/** A file of more than 4 GiB whose copies lie behind that. It holds little but zeros, on a disk that does not keep them. */
import { expect, test } from "vitest";
import { dedup, readTextLines } from "../../src/pipeline/index.ts";
import { captureBytes, packRecords } from "../../src/testing/capture-text.ts";
import { getFile, putFile } from "../../src/testing/dedup-trial.ts";
import { checkDeduplicated } from "../../src/testing/deduplicated.ts";
import { HollowDisk } from "../../src/testing/hollow-disk.ts";
import { at, capture, PAYLOAD } from "./fates.ts";

const HOLE = 4_300_000_000;
const FOUR_GIB = 2 ** 32;

test("> 4 GiB offsets", { timeout: 60_000 }, async () => {
  const disk = new HollowDisk();
  const head = Buffer.from(`WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: ${HOLE}\r\n\r\n`);
  const records = [
    captureBytes({ uri: "http://a.example/a", date: at(2), payload: PAYLOAD }),
    captureBytes({ uri: "http://a.example/b", date: at(3), payload: PAYLOAD }),
    captureBytes({ uri: "http://a.example/c", date: at(4), payload: "unlike the others" }),
    captureBytes({ uri: "http://a.example/d", date: at(5), payload: PAYLOAD }),
  ];
  const tail = Buffer.concat([Buffer.from("\r\n\r\n"), ...records]);
  disk.makeFolder("/in");
  {
    using file = disk.open("/in/large.warc", "create");
    file.write(head, 0);
    file.truncate(head.length + HOLE);
    file.write(tail, head.length + HOLE);
  }
  const small = packRecords([capture("earliest", 1)]);
  putFile(disk, "/in/small.warc.gz", small);
  const result = await dedup(disk, ["/in"], { output: "/out", threads: 1, keep: true });
  expect(result).toMatchObject({ replaced: 3, left: {}, skipped: [], damage: 0 });
  expect(result.bytesBefore - result.bytesAfter).toBeGreaterThan(3 * (PAYLOAD.length - 1000));

  const offsets = [...readTextLines(disk, "/out/holotype-job/plan.tsv")].map((line) => Number(line.split("\t")[1]));
  expect(offsets.filter((offset) => offset > FOUR_GIB)).toHaveLength(4);
  const ledger = [...readTextLines(disk, "/out/holotype-job/ledger/000001.tsv")].slice(1);
  const entries = ledger.map((line) => line.split("\t").slice(0, 4).map(Number));
  let [input, output] = [head.length + HOLE + 4, head.length + HOLE + 4];
  for (const [i, record] of records.entries()) {
    const entry = entries.find(([inputOffset]) => inputOffset === input);
    expect(entry?.slice(0, 3)).toEqual(i === 2 ? undefined : [input, record.length, output]);
    output += entry?.[3] ?? record.length;
    input += record.length;
  }

  using written = disk.open("/out/large.warc", "read");
  const rest = Buffer.alloc(written.size() - head.length - HOLE);
  written.read(rest, head.length + HOLE);
  expect(rest.subarray(0, 4).toString()).toBe("\r\n\r\n");
  // Records do not know how far from the start they lie: what is behind the hole is a file like any other.
  const { replaced } = checkDeduplicated(
    [
      { name: "large.warc", bytes: tail.subarray(4) },
      { name: "small.warc.gz", bytes: small },
    ],
    [
      { name: "large.warc", bytes: rest.subarray(4) },
      { name: "small.warc.gz", bytes: getFile(disk, "/out/small.warc.gz") },
    ],
  );
  expect(replaced.map(({ refersTo }) => refersTo?.uri)).toEqual(Array(3).fill("http://a.example/earliest"));
});
