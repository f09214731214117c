/**
 * Pages of a question: so many blocks of captures each, as in the compressed indexes that pages were made for. Captures are
 * counted before filters, so that a page has the same captures whatever is filtered.
 */
import type { ServerAnswer } from "../../http/index.ts";
import type { Collection } from "../collection.ts";
import { answerWith } from "./cdx-answer.ts";
import { timestampOf } from "./cdx-times.ts";
import type { Parameters } from "./parameters.ts";
import { BLOCK_SIZE, countCaptures, type RowPlan } from "./row-walk.ts";

const PAGE_BLOCKS = 5;
const BLOCKS_MAX = 1_000_000;
const PAGES_MAX = 1_000_000_000;

export interface PageQuestion {
  /** Absent where no page is asked for. */
  readonly number: number | undefined;
  /** In blocks. */
  readonly size: number;
}

/** A negative number asks for no page. */
export function pageIn(parameters: Parameters): PageQuestion {
  const number = parameters.count("page", -PAGES_MAX, PAGES_MAX);
  const size = parameters.count("pageSize", 1, BLOCKS_MAX) ?? PAGE_BLOCKS;
  return { number: number === undefined || number < 0 ? undefined : number, size };
}

export function pageRange({ number, size }: PageQuestion): RowPlan["page"] {
  return number === undefined ? undefined : { from: number * size * BLOCK_SIZE, count: size * BLOCK_SIZE };
}

/** There is always one page. */
export async function countPages(
  collection: Collection,
  plan: RowPlan,
  { size }: PageQuestion,
  signal: AbortSignal,
): Promise<{ readonly blocks: number; readonly pages: number }> {
  const blocks = Math.ceil((await countCaptures(collection, plan, signal)) / BLOCK_SIZE);
  return { blocks, pages: Math.max(1, Math.ceil(blocks / size)) };
}

/** One line for each block: key and time of its first capture, the collection, the place of that capture, how many, its number. */
export function pagedIndex(collection: Collection, plan: RowPlan, isJson: boolean): Promise<ServerAnswer> {
  const part = collection.name;
  const format = ({ key, timeMs, offset, length, number: lineno }: Block) => {
    const urlkey = `${key} ${timestampOf(timeMs)}`;
    if (isJson) return `${JSON.stringify({ urlkey, part, offset, length, lineno })}\n`;
    return `${urlkey}\t${part}\t${offset}\t${length}\t${lineno}\n`;
  };
  return answerWith(isJson ? "text/x-ndjson" : "text/plain; charset=utf-8", blockLines(collection, plan, format));
}

async function* blockLines(
  collection: Collection,
  { scope, fromMs, toMs, page = { from: 0, count: Number.POSITIVE_INFINITY } }: RowPlan,
  format: (block: Block) => string,
): AsyncGenerator<string> {
  let count = 0;
  let block: Block | undefined;
  for await (const captures of collection.captures({ ...scope, fromMs, toMs })) {
    for (const capture of captures) {
      const at = count++;
      if (at < page.from) continue;
      if (at >= page.from + page.count) break;
      if (at % BLOCK_SIZE !== 0) {
        block!.length++;
        continue;
      }
      if (block !== undefined) yield format(block);
      block = { key: capture.key, timeMs: capture.timeMs!, offset: at, length: 1, number: at / BLOCK_SIZE + 1 };
    }
    if (count >= page.from + page.count) break;
  }
  if (block !== undefined) yield format(block);
}

interface Block {
  readonly key: string;
  readonly timeMs: number;
  readonly offset: number;
  length: number;
  readonly number: number;
}
