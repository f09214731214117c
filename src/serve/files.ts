/** Records and segments as they lie on disk, so that other readers of WARC files can sit in front. */
import { ArchiveError } from "../base/index.ts";
import type { ServerAnswer } from "../http/index.ts";
import type { Headers } from "./answers.ts";
import { contentRange, parseRange } from "./replay/byte-range.ts";
import { askedMemento, pickMemento } from "./replay/memento-answer.ts";
import type { Asked } from "./route.ts";

const FILE_HEADERS: Headers = [
  ["Content-Security-Policy", "sandbox; default-src 'none'"],
  ["X-Content-Type-Options", "nosniff"],
  ["Cache-Control", "no-cache"],
];

function requireFiles({ serveFiles }: Asked): void {
  if (!serveFiles)
    throw new ArchiveError("HT_NOT_FOUND", "files are not served here (see holotype serve --serve-files)");
}

/** `/<coll>/record/<time>/<url>` */
export async function recordAnswer(asked: Asked): Promise<ServerAnswer> {
  requireFiles(asked);
  const { collection, request } = asked;
  collection.requireFiles();
  const { capture } = await pickMemento(collection, askedMemento(asked));
  const bytes = collection.record(capture);
  const headers: Headers = [
    ["Content-Type", "application/warc"],
    ["Content-Length", `${capture.length}`],
    ...FILE_HEADERS,
  ];
  // Begun before the answer is: one that cannot be read alone has none.
  const first = await bytes.next();
  if (request.method !== "HEAD") return { status: 200, headers, body: whole(first, bytes) };
  await bytes.return(undefined);
  return { status: 200, headers };
}

async function* whole(first: IteratorResult<Uint8Array>, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let step = first; step.done !== true; step = await rest.next()) yield step.value;
  } finally {
    await rest.return(undefined);
  }
}

/** `/<coll>/segments/<file>` */
export async function segmentAnswer(asked: Asked): Promise<ServerAnswer> {
  requireFiles(asked);
  const { collection, request, found } = asked;
  const file = await collection.segment(found["file"] ?? "");
  if (file === undefined) throw new ArchiveError("HT_NOT_FOUND", "no such segment, or it waits for compaction");
  const { size } = file;
  const range = request.method === "GET" ? parseRange(request.headers.range, size) : undefined;
  if (range === "none") return { status: 416, headers: [...FILE_HEADERS, ["Content-Range", `bytes */${size}`]] };
  const { from, to } = range ?? { from: 0, to: size };
  const headers: Headers = [
    ["Content-Type", "application/warc"],
    ["Content-Length", `${to - from}`],
    ["Accept-Ranges", "bytes"],
    ...(range === undefined ? [] : [["Content-Range", contentRange(range, size)] as const]),
    ...FILE_HEADERS,
  ];
  const status = range === undefined ? 200 : 206;
  return request.method === "HEAD" ? { status, headers } : { status, headers, body: file.read({ from, to }) };
}
