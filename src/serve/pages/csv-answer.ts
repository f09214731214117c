/** A table for spreadsheets, as a download. */
import type { ServerAnswer } from "../../http/index.ts";

/** `name` without its ending; only letters, digits, dots and dashes of it are used. */
export function csvAnswer(name: string, pieces: Iterable<string> | AsyncIterable<string>): ServerAnswer {
  const file = `${name.replace(/[^\w.-]+/g, "-").slice(0, 100)}.csv`;
  return {
    status: 200,
    headers: [
      ["Content-Type", "text/csv; charset=utf-8; header=present"],
      ["Content-Disposition", `attachment; filename="${file}"`],
      ["Content-Security-Policy", "sandbox; default-src 'none'"],
      ["X-Content-Type-Options", "nosniff"],
      ["Cache-Control", "no-cache"],
    ],
    body: inBatches(pieces),
    compress: true,
  };
}

const BATCH_SIZE = 64 << 10;

async function* inBatches(pieces: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let batch = "";
  for await (const piece of pieces) {
    batch += piece;
    if (batch.length < BATCH_SIZE) continue;
    yield batch;
    batch = "";
  }
  yield batch;
}
