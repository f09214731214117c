/** One record of many gigabytes through the server, against `gzip -dc` of its file: processor time, and memory. */
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { constants, crc32, deflateRawSync } from "node:zlib";
import { root, work } from "./corpus.ts";
import { measure } from "./measure.ts";
import { limitRow, type Row, ratioRow } from "./report.ts";
import { ServerProcess } from "./serve-load.ts";

const PIECE_SIZE = 10_000_000;
const URI = "http://large.example/";
const ROUNDS = 3;

export async function largeRecord(megabytes: number): Promise<Row[]> {
  const folder = join(work, `out-large-${megabytes}`);
  const file = join(folder, "large.warc.gz");
  const main = join(root, "dist/bin/holotype.js");
  if (!existsSync(join(folder, "archive", "archive.json"))) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    console.error(`making a record of ${megabytes} MB …`);
    makeRecord(file, megabytes);
    const { status } = spawnSync(process.execPath, [main, "add", file, "--archive", join(folder, "archive")]);
    if (status !== 0) throw new Error(`add ${file} ended with ${status}`);
  }
  const target = `/archive/20200101000000id_/${URI}`;
  const args = (port: number) => [main, "serve", "-a", join(folder, "archive"), "--port", String(port)];
  await using server = await ServerProcess.start(process.execPath, args, { cwd: folder, target: "/health" });
  let [ours, gzip] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    const before = server.cpuSeconds();
    await fetchAll(`http://127.0.0.1:${server.port}${target}`, megabytes * 1e6);
    ours = Math.min(ours, server.cpuSeconds() - before);
    gzip = Math.min(gzip, (await measure("gzip", ["-dc", file])).cpuSeconds);
  }
  const name = `a record of ${megabytes} MB`;
  return [
    ratioRow(`${name}: processor time`, `${ours.toFixed(2)} s`, `gzip -dc ${gzip.toFixed(2)} s`, gzip / ours, 0.7),
    limitRow(`${name}: memory`, server.residentMb(), "MB", 100),
  ];
}

async function fetchAll(url: string, size: number): Promise<void> {
  const answer = await fetch(url);
  let got = 0;
  for await (const piece of answer.body!) got += (piece as Uint8Array).length;
  if (answer.status !== 200 || got !== size) throw new Error(`${url}: ${answer.status}, ${got} bytes`);
}

/** One gzip member. The same piece again and again, each compressed by itself, so that making it takes seconds. */
function makeRecord(path: string, megabytes: number): void {
  const pieces = (megabytes * 1e6) / PIECE_SIZE;
  let state = 1;
  let text = "";
  while (text.length < PIECE_SIZE) {
    state = (state * 48271) % 2147483647;
    text += `<li>${(state % 1679616).toString(36)} and ${(state % 1296).toString(36)} of them</li>\n`;
  }
  const piece = Buffer.from(text.slice(0, PIECE_SIZE));
  const http = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${pieces * PIECE_SIZE}\r\n\r\n`;
  const head = Buffer.from(
    `WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n` +
      `WARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Target-URI: ${URI}\r\n` +
      `Content-Type: application/http; msgtype=response\r\nContent-Length: ${http.length + pieces * PIECE_SIZE}\r\n\r\n${http}`,
  );
  const tail = Buffer.from("\r\n\r\n");
  const flush = { finishFlush: constants.Z_FULL_FLUSH };
  const [packedHead, packed] = [deflateRawSync(head, flush), deflateRawSync(piece, flush)];
  let sum = crc32(head);
  const output = openSync(`${path}.partial`, "w");
  writeSync(output, Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]));
  writeSync(output, packedHead);
  for (let i = 0; i < pieces; i++) {
    writeSync(output, packed);
    sum = crc32(piece, sum);
  }
  writeSync(output, deflateRawSync(tail));
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc32(tail, sum), 0);
  end.writeUInt32LE((head.length + pieces * PIECE_SIZE + tail.length) % 2 ** 32, 4);
  writeSync(output, end);
  closeSync(output);
  renameSync(`${path}.partial`, path);
}
