/** Promises of `node:fs/promises` that nobody waits for: the bytes may never reach the disk, and nobody hears of it. */
import { type FileHandle, open, rename, rm, writeFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

/** Acknowledged before the disk has it. */
export async function appendRecord(file: FileHandle, bytes: Uint8Array): Promise<void> {
  await file.write(bytes);
  file.datasync(); // mistake 1: typescript/no-floating-promises
}

/** The new name may lead to the old bytes, or to none. */
export async function publish(path: string, bytes: Uint8Array): Promise<void> {
  await writeFile(`${path}.partial`, bytes);
  rename(`${path}.partial`, path); // mistake 2: typescript/no-floating-promises
}

/** A full disk goes unnoticed. */
export function saveIndex(path: string, text: string): void {
  writeFile(path, text); // mistake 3: typescript/no-floating-promises
}

/** What `close` reports is the last chance to learn of a failed write. */
export async function readHead(path: string): Promise<Buffer> {
  const file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(512));
  file.close(); // mistake 4: typescript/no-floating-promises
  return buffer;
}

/** The copy goes on while the caller takes it for done. */
export async function copy(from: string, to: string): Promise<void> {
  const [source, target] = [await open(from), await open(to, "wx")];
  pipeline(source.createReadStream(), target.createWriteStream()); // mistake 5: typescript/no-floating-promises
}

/** Not waited for in `finally`: the next run may find the lock still there. */
export async function withLock(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    rm(path); // mistake 6: typescript/no-floating-promises
  }
}

/** Disposing is a promise as well. */
export async function dispose(path: string): Promise<void> {
  const file = await open(path);
  file[Symbol.asyncDispose](); // mistake 7: typescript/no-floating-promises
}
