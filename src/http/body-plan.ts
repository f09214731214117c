/** How the body of an answer is delimited, as its header and the method of the request say. */
import { type HttpHead, saysChunked } from "../warc/index.ts";
import type { Flaw } from "./flaws.ts";
import { beginsLikeAnswer } from "./head-flaws.ts";

export interface BodyPlan {
  /** `none`: the answer ends with its header. `close`: it ends when the server closes the connection. */
  readonly kind: "none" | "length" | "chunked" | "close";
  /** Of the body, for `length`; else 0. */
  readonly length: number;
  /** The server will take another request on this connection, as far as the header says. */
  readonly keepsConnection: boolean;
}

const SWITCHED = 101;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** Adds to `flaws`. */
export function planBody(head: HttpHead, method: string, flaws: Flaw[]): BodyPlan {
  const plan = (kind: BodyPlan["kind"], length = 0, isClear = true) => ({
    kind,
    length,
    keepsConnection: isClear && kind !== "close" && saysKept(head),
  });
  if (!beginsLikeAnswer(head.startLine)) return plan(saysChunked(head) ? "chunked" : "close", 0, false);
  const { headers, status } = head;
  const coding = headers.get("transfer-encoding");
  const isChunked = saysChunked(head);
  const isCoded = isChunked || (coding !== undefined && coding.toLowerCase() !== "identity");
  const length = isCoded ? undefined : readLength(head, flaws);
  if (status === SWITCHED) {
    flaws.push("switched-unasked");
    return plan("none", 0, false);
  }
  // A 304 and the answer to HEAD may name the length of the body that they do not have.
  if (method === "HEAD" || status === NOT_MODIFIED) return plan("none");
  if (status === NO_CONTENT) return plan("none", 0, !isCoded && (length === undefined || length === 0));
  if (!isCoded) return length === undefined ? plan("close") : plan("length", length);
  const isLengthIgnored = headers.get("content-length") !== undefined;
  if (isLengthIgnored) flaws.push("length-and-chunked");
  if (coding?.toLowerCase() !== "chunked") flaws.push("transfer-coding");
  return isChunked ? plan("chunked", 0, !isLengthIgnored) : plan("close");
}

const LENGTH = /^\d{1,15}$/;
const LENGTH_TWICE = /\ncontent-length[ \t]*:[^]*\ncontent-length[ \t]*:/i;

/** Absent where there is none, or none that can be believed. */
function readLength(head: HttpHead, flaws: Flaw[]): number | undefined {
  const value = head.headers.get("content-length");
  if (value === undefined) return undefined;
  // As nearly all are.
  if (LENGTH.test(value) && !LENGTH_TWICE.test(head.text)) return Number(value);
  const values = head.headers.all("content-length").flatMap((text) => text.split(","));
  const texts = values.map((text) => text.trim());
  const first = texts[0]!;
  if (!texts.every((text) => LENGTH.test(text))) flaws.push("length-invalid");
  else if (!texts.every((text) => Number(text) === Number(first))) flaws.push("length-conflict");
  else {
    if (texts.length > 1) flaws.push("length-list");
    return Number(first);
  }
  return undefined;
}

function saysKept({ startLine, headers }: HttpHead): boolean {
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  if (/^HTTP\/1\.1\s/.test(startLine)) return !/\bclose\b/.test(connection);
  return /^HTTP\/1\.0\s/.test(startLine) && /\bkeep-alive\b/.test(connection);
}
