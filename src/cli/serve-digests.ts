/** `serve --digests`: digest indexes as memory for crawlers, in place of archives. */
import { ArchiveError } from "../base/index.ts";
import { JoinedContents } from "../dedup/index.ts";
import { DigestIndex } from "../digests/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { type HttpServerOptions, serveHttp } from "../http/index.ts";
import { serveMemory, toldAnswer } from "../serve/index.ts";
import type { Arguments } from "./command.ts";
import { printLog } from "./serving.ts";

export const DIGESTS_OPTION = {
  type: "string",
  value: "INDEX",
  help: "serve a digest index as memory for crawlers, and no archive",
  multiple: true,
} as const;

/** Indexes are served in place of archives. */
export function isForDigests(args: Arguments): boolean {
  return args.list("digests").length > 0;
}

/** Serves until it is disposed of. */
export async function serveDigests(args: Arguments, http: HttpServerOptions) {
  const indexes = openIndexes(args);
  try {
    const handler = serveMemory(new JoinedContents(indexes));
    const server = await serveHttp(handler, { ...http, formatError: toldAnswer, onLog: printLog });
    const close = async () => {
      await server.close();
      await closeAll(indexes);
    };
    return { url: server.url, names: [] as readonly string[], [Symbol.asyncDispose]: close };
  } catch (error) {
    await closeAll(indexes);
    throw error;
  }
}

/** Throws what would keep the indexes from being served. */
export async function checkDigests(args: Arguments): Promise<readonly string[]> {
  await closeAll(openIndexes(args));
  return [];
}

async function closeAll(indexes: readonly DigestIndex[]): Promise<void> {
  for (const index of indexes) await index[Symbol.asyncDispose]();
}

function openIndexes(args: Arguments): DigestIndex[] {
  const other = ["archive", "rules", "serve-files"].find((name) => args.list(name).length > 0 || args.flag(name));
  if (other !== undefined) throw new ArchiveError("HT_USAGE", `--digests serves no archive, so it takes no --${other}`);
  return args.list("digests").map((folder) => DigestIndex.open(nodeDisk, folder));
}
