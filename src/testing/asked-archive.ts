/** Answers of an archive as lists, by its disk or by one moment. */
import { Archive, type Capture } from "../archive/index.ts";
import type { Disk } from "../disk/index.ts";
import { capturesOf as capturesIn, FOLDER, payloadOf } from "./archive-fixture.ts";

export { all as listOf, historyOf, payloadOf } from "./archive-fixture.ts";

/** The captures of a URL; at one moment, where that is given. */
export function capturesOf(archive: Archive, url: string, timeMs?: number): Promise<Capture[]> {
  return capturesIn(archive, url, timeMs === undefined ? {} : { fromMs: timeMs, toMs: timeMs });
}

/** The payloads of a URL, in the order of times; null for what waits. */
export async function payloadsOf(disk: Disk, url: string): Promise<(Buffer | null)[]> {
  await using archive = await Archive.open(disk, FOLDER);
  const payloads: (Buffer | null)[] = [];
  for (const capture of await capturesOf(archive, url))
    payloads.push(capture.sha256 === undefined ? null : await payloadOf(archive, capture));
  return payloads;
}
