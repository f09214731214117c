/** A collection to ask for CDX, in memory, and handlers asked without a socket. */
import { Archive, type Capture } from "../archive/index.ts";
import { digestOf, formatDigestValue } from "../base/index.ts";
import type { Handler } from "../http/index.ts";
import { type AccessRules, Collection } from "../serve/index.ts";
import { FOLDER, makeInput, openWriter } from "./archive-fixture.ts";
import { captureBytes, idOf, noise, requestBytes, revisitBytes } from "./capture-text.ts";
import { ForgetfulDisk } from "./forgetful-disk.ts";

export async function collectionOf(records: readonly Uint8Array[], rules?: AccessRules): Promise<Collection> {
  const disk = new ForgetfulDisk();
  {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, records)]);
  }
  return new Collection("coll", await Archive.open(disk, FOLDER), rules);
}

export interface CdxReply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly lines: readonly string[];
  /** How many pieces the body came in; 1 for one that is no stream. */
  readonly pieces: number;
}

/** `query` is what follows the question mark. */
export function ask(handler: Handler, query: string): Promise<CdxReply> {
  return askTarget(handler, `/cdx?${query}`);
}

export async function askTarget(handler: Handler, target: string): Promise<CdxReply> {
  const { signal } = new AbortController();
  const answer = await handler({
    method: "GET",
    target,
    headers: {},
    signal,
    body: () => Promise.resolve(new Uint8Array(0)),
  });
  const { body = "" } = answer;
  const parts: string[] = [];
  if (typeof body === "string") parts.push(body);
  else if (body instanceof Uint8Array) parts.push(Buffer.from(body).toString());
  else for await (const part of body) parts.push(Buffer.from(part as string).toString());
  const text = parts.join("");
  const type = answer.headers.find(([name]) => name === "Content-Type")?.[1] ?? "";
  return { status: answer.status, type, text, lines: text.split("\n").slice(0, -1), pieces: parts.length };
}

export function base32Of(payload: string): string {
  return formatDigestValue(digestOf("sha1", Buffer.from(payload)));
}

export function hexOf(payload: string): string {
  return digestOf("sha1", Buffer.from(payload)).hex;
}

/** All captures of an archive, in the order of keys and times. */
export async function everyCapture({ archive }: Collection): Promise<Capture[]> {
  const all: Capture[] = [];
  for await (const captures of archive.captures({})) all.push(...captures);
  return all;
}

const HOME = "http://a.example/";
/** Long enough that a second copy of it is not kept. */
export const ONE = noise("one", 3000).toString("hex");

/** The first and second have one payload, so that the archive keeps the second as a revisit of its own. */
export const HOME_TIMES = [
  "20140101000000",
  "20140201000000",
  "20140301000000",
  "20150101000000",
  "20150601120000",
  "20160101000000",
] as const;

/**
 * A home page in two versions (a revisit among its captures, a failure and a redirect), two more pages, an image below
 * another host, an answer to POST, and a record without a date.
 */
export function smallCrawl(): Buffer[] {
  const html = { uri: HOME, mime: "text/html" };
  const post = { uri: "http://a.example/form", date: "2014-05-01T00:00:00Z", id: idOf("post") };
  return [
    captureBytes({ ...html, date: "2014-01-01T00:00:00Z", payload: ONE }),
    captureBytes({ ...html, date: "2014-02-01T00:00:00Z", payload: ONE }),
    revisitBytes({
      uri: HOME,
      date: "2014-03-01T00:00:00Z",
      refersTo: { uri: HOME, date: "2014-01-01T00:00:00Z" },
      digest: `sha1:${base32Of(ONE)}`,
    }),
    captureBytes({ ...html, date: "2015-01-01T00:00:00Z", payload: "two", digest: "wrong" }),
    captureBytes({ ...html, date: "2015-06-01T12:00:00Z", payload: "sorry", status: "500 Broken" }),
    captureBytes({ ...html, date: "2016-01-01T00:00:00Z", payload: "", status: "301 Moved", http: ["Location: /new"] }),
    captureBytes({
      uri: "http://a.example/page/1",
      date: "2014-01-01T00:00:00Z",
      payload: "page 1",
      mime: "text/plain",
    }),
    captureBytes({ uri: "https://www.a.example/page/2?b=1&a=2", date: "2014-01-02T00:00:00Z", payload: "page 2" }),
    captureBytes({
      uri: "http://img.a.example/x.png",
      date: "2014-01-03T00:00:00Z",
      payload: "png",
      mime: "image/png",
    }),
    captureBytes({ uri: "http://b.example/", date: "2014-01-04T00:00:00Z", payload: "b" }),
    requestBytes({ ...post, id: idOf("request"), method: "POST", concurrentTo: [post.id] }),
    captureBytes({ ...post, payload: "posted" }),
    captureBytes({ uri: "http://a.example/undated", date: "yesterday", payload: "when?" }),
  ];
}
