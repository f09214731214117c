/** Answers of an archive as lists: what tests ask most. */
import { Archive, type Capture, type CaptureQuery, type Lifespan } from "../archive/index.ts";
import type { Disk } from "../disk/index.ts";
import { FOLDER } from "./archive-fixture.ts";

export async function listOf<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

/** The captures of a URL; at one moment, where that is given. */
export function capturesOf(archive: Archive, url: string, timeMs?: number): Promise<Capture[]> {
  const query: CaptureQuery = timeMs === undefined ? { url } : { url, fromMs: timeMs, toMs: timeMs };
  return listOf(archive.captures(query));
}

export function historyOf(archive: Archive, url: string): Promise<Lifespan[]> {
  return listOf(archive.history(url));
}

/** The payload of a capture, compared with its digest. */
export async function payloadOf(archive: Archive, capture: Capture): Promise<Buffer> {
  await using opened = await archive.open(capture);
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened.payload()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The payloads of a URL, in the order of times; null for what waits. */
export async function payloadsOf(disk: Disk, url: string): Promise<(Buffer | null)[]> {
  await using archive = await Archive.open(disk, FOLDER);
  const payloads: (Buffer | null)[] = [];
  for (const capture of await capturesOf(archive, url))
    payloads.push(capture.sha256 === undefined ? null : await payloadOf(archive, capture));
  return payloads;
}
