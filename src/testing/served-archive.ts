/** Archives behind their handler, asked without a socket. */
import type { Disk } from "../disk/index.ts";
import type { Handler } from "../http/index.ts";
import { type AccessRules, Collection, type ServeOptions, serveArchives } from "../serve/index.ts";
import { makeInput, openReader, openWriter } from "./archive-fixture.ts";
import { ForgetfulDisk } from "./forgetful-disk.ts";

export interface Reply {
  readonly status: number;
  /** By name in small letters; of several, all of them with a comma between. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly text: string;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServedArchive extends AsyncDisposable {
  readonly disk: Disk;
  readonly collection: Collection;
  readonly handler: Handler;
  ask(target: string, question?: Question): Promise<Reply>;
}

/** An archive with these records, as the collection `coll`. */
export async function serveRecords(
  records: readonly Uint8Array[],
  options: ServeOptions & { readonly rules?: AccessRules } = {},
): Promise<ServedArchive> {
  const disk = new ForgetfulDisk();
  {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, records)]);
  }
  const archive = await openReader(disk);
  const collection = new Collection("coll", archive, options.rules);
  const handler = serveArchives([collection], options);
  return {
    disk,
    collection,
    handler,
    ask: (target, question) => askHandler(handler, target, question),
    [Symbol.asyncDispose]: () => archive[Symbol.asyncDispose](),
  };
}

/** All of an answer. */
export async function askHandler(handler: Handler, target: string, question: Question = {}): Promise<Reply> {
  const { method = "GET", headers = {} } = question;
  const { signal } = new AbortController();
  const answer = await handler({
    method,
    target,
    headers: { host: "archive.test", ...headers },
    signal,
    body: () => Promise.resolve(new Uint8Array(0)),
  });
  const pieces: Uint8Array[] = [];
  if (typeof answer.body === "string") pieces.push(Buffer.from(answer.body));
  else if (answer.body instanceof Uint8Array) pieces.push(answer.body);
  else if (answer.body !== undefined) for await (const piece of answer.body) pieces.push(Buffer.from(piece as string));
  const told: Record<string, string> = {};
  for (const [name, value] of answer.headers) {
    const lower = name.toLowerCase();
    told[lower] = told[lower] === undefined ? value : `${told[lower]}, ${value}`;
  }
  const body = Buffer.concat(pieces);
  return { status: answer.status, headers: told, body, text: body.toString() };
}
