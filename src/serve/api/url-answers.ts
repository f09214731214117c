/** What is answered about one URL, or one content. */
import { archiveKey, type Scope } from "../../archive/index.ts";
import { ArchiveError, formatIso } from "../../base/index.ts";
import {
  birthCursor,
  birthPlace,
  checkWithin,
  formatCursor,
  formatPlaceCursor,
  parseCursor,
  parsePlaceCursor,
  rowsBehind,
  wrongCursor,
} from "./cursor.ts";
import { ParameterError } from "./parameters.ts";
import type { Question } from "./question.ts";
import { type Reply, rowReply } from "./reply.ts";
import { captureRow, lifespanRow, versionRow } from "./rows.ts";
import { versionsOf } from "./versions.ts";

/** HT_BLOCKED or HT_NOT_FOUND where no capture of a URL may be seen. */
async function requireCaptures({ collection }: Question, url: string): Promise<void> {
  for await (const [_] of collection.captures({ url, limit: 1 })) return;
  if ((await collection.hidden({ url })) === "block")
    throw new ArchiveError("HT_BLOCKED", "access to this URL is blocked");
  throw new ArchiveError("HT_NOT_FOUND", `${url}: the archive has no capture of it`);
}

/** A moment as the command line has it. */
export async function at(question: Question): Promise<Reply> {
  const url = question.required("url");
  const timeMs = question.moment();
  const moment = await question.collection.at(url, timeMs);
  if (moment === undefined) {
    await requireCaptures(question, url);
    const message = `${url}: nothing is known of it from before ${formatIso(timeMs)}`;
    throw new ArchiveError("HT_NOT_FOUND", `${message}; /api/captures lists what there is`);
  }
  const { lifespan, certainty, capture, others, before, after, doubts, since } = moment;
  const sinceMs = question.since("time") ?? timeMs;
  // A second is what most captures are told apart by; one within it is one of that time.
  const isThen = timeMs - sinceMs < 1000 && (capture.timeMs ?? 0) >= sinceMs;
  return {
    value: {
      ...lifespanRow(lifespan),
      certainty: isThen ? "observed" : certainty,
      confirmed: capture.class === "confirmation",
      before: before === undefined ? null : captureRow(before),
      after: after === undefined ? null : captureRow(after),
      capture: captureRow(capture),
      others: others.map(captureRow),
      doubts: doubts.map(captureRow),
      since: since.map(captureRow),
    },
  };
}

export async function history(question: Question): Promise<Reply> {
  const url = question.required("url");
  const { fromMs, toMs } = question.span();
  const place = parsePlaceCursor(question.text("cursor"));
  if (place !== undefined && place.key !== archiveKey(url)) throw wrongCursor();
  if (place === undefined) await requireCaptures(question, url);
  const rows = question.collection.history(url, laterOf(fromMs, place?.timeMs), toMs);
  return rowReply(rowsBehind(rows, place, birthPlace), lifespanRow, birthCursor);
}

function laterOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : other === undefined ? one : Math.max(one, other);
}

export async function versions(question: Question): Promise<Reply> {
  const url = question.required("url");
  const { fromMs, toMs } = question.span();
  const place = parsePlaceCursor(question.text("cursor"));
  const key = archiveKey(url);
  if (place !== undefined && place.key !== key) throw wrongCursor();
  if (place === undefined) await requireCaptures(question, url);
  const found = await versionsOf(question.collection.history(url, fromMs, toMs));
  const placeOf = ({ firstSeen, identity }: (typeof found)[number]) => ({ key, timeMs: firstSeen, identity });
  return rowReply(rowsBehind(oneBatch(found), place, placeOf), versionRow, (row) => formatPlaceCursor(placeOf(row)));
}

async function* oneBatch<T>(rows: readonly T[]): AsyncGenerator<readonly T[]> {
  yield await Promise.resolve(rows);
}

/** The key of a capture has one byte for each character. */
function captureCursor(text: string | undefined, range: Pick<Scope, "from" | "to">): string | undefined {
  const after = parseCursor(text);
  if (after === undefined) return undefined;
  if (/[^\0-\xff]/.test(after)) throw wrongCursor();
  checkWithin(after, range);
  return after;
}

export async function captures(question: Question): Promise<Reply> {
  const url = question.text("url");
  const scope = question.scope();
  if (url !== undefined && (scope.from ?? scope.to) !== undefined)
    throw new ParameterError("url", "does not go with site or prefix");
  const key = url === undefined ? undefined : archiveKey(url);
  const range = key === undefined ? scope : { from: `${key}\0`, to: `${key}\x01` };
  const after = captureCursor(question.text("cursor"), range);
  if (url !== undefined && after === undefined) await requireCaptures(question, url);
  const rows = question.collection.captures({
    ...(url === undefined ? { range } : { url }),
    ...question.span(),
    after,
  });
  return rowReply(rows, captureRow, ({ cursor }) => formatCursor(cursor));
}

/** Its cursor names the digest, too: what a URL holds may be another content by the next page. */
export async function same(question: Question): Promise<Reply> {
  const [, sha256, after] = /^([0-9a-f]{64}) ([\0-\xff]*)$/.exec(parseCursor(question.text("cursor")) ?? "") ?? [];
  if (question.text("cursor") !== undefined && sha256 === undefined) throw wrongCursor();
  const digest = sha256 ?? (await askedDigest(question));
  const rows = question.collection.same(digest, after);
  return rowReply(rows, captureRow, ({ cursor }) => formatCursor(`${digest} ${cursor}`));
}

async function askedDigest(question: Question): Promise<string> {
  const [sha256, url] = [question.text("sha256"), question.text("url")];
  if (sha256 !== undefined && url !== undefined) throw new ParameterError("url", "does not go with sha256");
  if (sha256 !== undefined) return sha256.toLowerCase();
  if (url === undefined) throw new ParameterError("sha256", "missing; or give url and time");
  const moment = await question.collection.at(url, question.moment());
  if (moment !== undefined) return moment.lifespan.sha256;
  await requireCaptures(question, url);
  throw new ArchiveError("HT_NOT_FOUND", `${url}: nothing is known of it at ${formatIso(question.moment())}`);
}
