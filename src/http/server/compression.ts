/** Answers in gzip, for clients that take it. */
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import type { AnswerBody, ServerAnswer } from "./message.ts";

/** Below, the header of the coding and its cost outweigh what it saves. */
const COMPRESSED_SIZE_MIN = 1024;
/** The fastest: a server's time is dearer than the last tenth of the bytes. */
const LEVEL = 1;

const gzipWhole = promisify(gzip);

/** Whether `Accept-Encoding` lists gzip, or anything, and does not refuse it. */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false;
  let anything = false;
  for (const item of String(header).split(",")) {
    const [coding, ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    if (coding === "gzip" || coding === "x-gzip") return !isRefused;
    if (coding === "*") anything = !isRefused;
  }
  return anything;
}

/** The answer as it is sent to a client that takes gzip or does not. Only for answers that may be compressed. */
export async function compressAnswer(
  answer: ServerAnswer,
  isAccepted: boolean,
  isHead: boolean,
): Promise<ServerAnswer> {
  const varied = [...answer.headers, ["Vary", "Accept-Encoding"] as const];
  const { body } = answer;
  const isSmall = (typeof body === "string" || body instanceof Uint8Array) && body.length < COMPRESSED_SIZE_MIN;
  if (!isAccepted || body === undefined || isSmall) return { ...answer, headers: varied };
  const headers = varied.flatMap(([name, value]): (readonly [string, string])[] => {
    const lower = name.toLowerCase();
    if (lower === "content-length") return [];
    // Other bytes: only weakly the same.
    return [[name, lower === "etag" && !value.startsWith("W/") ? `W/${value}` : value]];
  });
  headers.push(["Content-Encoding", "gzip"]);
  if (isHead) {
    await endUnread(body);
    return { ...answer, headers, body: undefined };
  }
  return { ...answer, headers, body: await compressBody(body) };
}

async function compressBody(body: AnswerBody): Promise<AnswerBody> {
  if (typeof body === "string" || body instanceof Uint8Array) return gzipWhole(body, { level: LEVEL });
  const source = Readable.from(body, { objectMode: false });
  // What goes wrong on either side comes out of the iteration.
  return pipeline(source, createGzip({ level: LEVEL }), () => {}) as AsyncIterable<Uint8Array>;
}

/** Lets a stream go that nobody will read. */
export async function endUnread(body: AnswerBody | undefined): Promise<void> {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return;
  // An iterator that nobody asked for anything leaves a stream of Node as it is.
  if (body instanceof Readable) body.destroy();
  else await body[Symbol.asyncIterator]().return?.();
}
