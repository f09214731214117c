/** wabac's service worker, where somebody has installed the package: read as a file, never loaded into this program. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ArchiveError } from "../base/index.ts";
import type { WorkerFile } from "../serve/index.ts";
import { readWhole } from "./whole-file.ts";

const WORKER_SIZE_MAX = 1 << 26;
const PACKAGE = "@webrecorder/wabac";

/** Absent where it is not installed. */
export function readReplayWorker(): WorkerFile | undefined {
  try {
    // Its door leads to dist/index.js; the worker lies beside it.
    const dist = dirname(createRequire(import.meta.url).resolve(PACKAGE));
    const read = (...path: readonly string[]) => readWhole(join(dist, ...path), WORKER_SIZE_MAX);
    const { version } = JSON.parse(read("..", "package.json").toString("utf8")) as { readonly version: string };
    return { script: read("sw.js"), version, licence: read("..", "LICENSE.md").toString("utf8") };
  } catch (error) {
    const isMissing = error instanceof ArchiveError || (error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND";
    if (isMissing) return undefined;
    throw error;
  }
}
