/** Writes a WARC file with the project's own writer; the only place of the sample that needs the built library. */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { digestOf, formatDigest } from "../../dist/base/index.js";
import { WarcWriter } from "../../dist/warc/index.js";

const GZIP_LEVEL = 9;

/**
 * Writes { type, fields, block, payload } records, each a gzip member of its own, and returns how many there were. The
 * file has its name only once it is complete and on disk.
 */
export async function writeWarc(path, records) {
  const partial = `${path}.partial`;
  const file = openSync(partial, "w");
  let count = 0;
  try {
    const writer = new WarcWriter({ write: (bytes) => writeWhole(file, bytes) }, { level: GZIP_LEVEL });
    for await (const { type, fields, block, payload } of records) {
      const digest = payload === undefined ? [] : [["WARC-Payload-Digest", formatDigest(digestOf("sha1", payload))]];
      writer.write({ fields: [["WARC-Type", type], ...fields, ...digest], block, blockDigest: true });
      count++;
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(partial, path);
  return count;
}

function writeWhole(file, bytes) {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
