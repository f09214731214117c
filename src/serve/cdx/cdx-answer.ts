/** What all dialects answer with: pieces of text that are worth a write, and refusals as JSON. */
import { ArchiveError } from "../../base/index.ts";
import type { Handler, ServerAnswer, ServerRequest } from "../../http/index.ts";
import type { CdxRow } from "./cdx-row.ts";

/** How rows become text. */
export interface RowForm {
  readonly contentType: string;
  /** `isFirst` says that no row came before it. */
  row(row: CdxRow, isFirst: boolean): string;
  /** What follows the last row; `isEmpty` where there was none. */
  end?(isEmpty: boolean): string;
}

/** Characters of a piece. */
const PIECE_SIZE = 1 << 16;

export async function* rowPieces(batches: AsyncIterable<readonly CdxRow[]>, form: RowForm): AsyncGenerator<string> {
  let text = "";
  let isFirst = true;
  for await (const rows of batches) {
    for (const row of rows) {
      text += form.row(row, isFirst);
      isFirst = false;
      if (text.length < PIECE_SIZE) continue;
      yield text;
      text = "";
    }
  }
  text += form.end?.(isFirst) ?? "";
  if (text !== "") yield text;
}

/** A short text is a body of its own; of a long one the first piece is there before the answer begins. */
export async function answerWith(contentType: string, pieces: AsyncGenerator<string>): Promise<ServerAnswer> {
  const headers = [["Content-Type", contentType]] as const;
  const first = await pieces.next();
  if (first.done === true) return { status: 200, headers, body: "" };
  const second = first.value.length < PIECE_SIZE ? await pieces.next() : undefined;
  if (second?.done === true) return { status: 200, headers, body: first.value };
  return { status: 200, headers, body: continued(first.value, second?.value, pieces) };
}

async function* continued(
  first: string,
  second: string | undefined,
  rest: AsyncGenerator<string>,
): AsyncGenerator<string> {
  try {
    yield first;
    if (second !== undefined) yield second;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

/** What cannot be understood is 400 and JSON, as in every dialect of CDX. */
export function refusing(handler: (request: ServerRequest) => Promise<ServerAnswer>): Handler {
  return async (request) => {
    try {
      return await handler(request);
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code !== "HT_USAGE") throw error;
      return jsonAnswer(400, { message: error.message });
    }
  };
}

export function jsonAnswer(status: number, value: unknown): ServerAnswer {
  return { status, headers: [["Content-Type", "application/json"]], body: `${JSON.stringify(value)}\n` };
}

export function textAnswer(text: string): ServerAnswer {
  return { status: 200, headers: [["Content-Type", "text/plain; charset=utf-8"]], body: text };
}

/** Where a capture can be seen, for those who ask with this request. */
export type MementoUrl = (request: ServerRequest, timestamp: string, url: string) => string;

const PLAIN = /^[ !#-[\]-~]*$/;

/** A JSON string in ASCII, as Python writes it. */
export function jsonText(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
