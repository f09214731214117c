/**
 * What a URL held, as the timeline sees it. Two captures of a URL held the same if payload, status and, of a redirect,
 * the place that it leads to are the same. Obeys docs/lifespans.md.
 */
import { hash } from "node:crypto";
import { RowReader, RowWriter } from "../../rows/index.ts";

export interface Content {
  readonly url: string;
  /** Absent where the capture is no HTTP message. */
  readonly status: number | undefined;
  readonly mime: string | undefined;
  /** Of the payload: sha256 in hex. */
  readonly sha256: string;
  readonly payloadSize: number;
}

const HALF = 16;

/**
 * What the timeline tells contents apart by: the first half of the digest, changed by the status. Of a redirect, a hash of
 * all that counts: with a place of one's own choice in the change, two that come out alike could be looked for.
 */
export function contentIdentity(status: number | undefined, location: string | undefined, sha256: string): Buffer {
  // A text is made faster than a buffer.
  if (location !== undefined) return firstHalf(hash("sha256", `${status ?? ""} ${sha256} ${location}`, "binary"));
  const half = Buffer.from(sha256.slice(0, 2 * HALF), "hex");
  const change = changeOf(status);
  for (let i = 0; i < HALF; i++) half[i]! ^= change[i]!;
  return half;
}

function firstHalf(digest: string): Buffer {
  return Buffer.from(digest.slice(0, HALF), "latin1");
}

const changes = new Map<number, Buffer>();

function changeOf(status = 0): Buffer {
  const known = changes.get(status);
  if (known !== undefined) return known;
  const change = firstHalf(hash("sha256", `status ${status}`, "binary"));
  changes.set(status, change);
  return change;
}

/** How a URL can be told from its key alone: the scheme, and whether the host has `www.` in front. */
const FORMS = ["https://", "http://", "https://www.", "http://www."] as const;
const OWN_FORM = 255;
/** Too long for a value: only the record has it. */
const LONG_FORM = 254;
const URL_SIZE_MAX = 3000;
const MIME_SIZE_MAX = 200;
const rows = new RowWriter();

/** Many redirects and errors have no payload at all: what its digest is need not be said. */
const SHA256_OF_NOTHING = hash("sha256", "", "hex");

function isNothing({ payloadSize, sha256 }: Content): boolean {
  return payloadSize === 0 && sha256 === SHA256_OF_NOTHING;
}

/** The last one that was asked for: neighbours have the same. */
let last = { turned: "", host: "" };

/** What follows the scheme, and `www.` where that is there; absent where the key is no SURT. */
function restFromKey(key: string): string | undefined {
  const end = key.indexOf(")");
  if (end < 1) return undefined;
  const turned = key.slice(0, end);
  if (turned !== last.turned) last = { turned, host: hostFrom(turned) };
  return last.host + key.slice(end + 1);
}

function hostFrom(turned: string): string {
  const colon = turned.indexOf(":");
  const hostEnd = colon < 0 ? turned.length : colon;
  return turned.slice(0, hostEnd).split(",").reverse().join(".") + turned.slice(hostEnd);
}

function fromKey(key: string, form: number): string | undefined {
  const rest = restFromKey(key);
  return rest === undefined ? undefined : `${FORMS[form]}${rest}`;
}

function formOf(key: string, url: string): number {
  const rest = restFromKey(key);
  const start = rest !== undefined && url.endsWith(rest) ? url.length - rest.length : -1;
  const form = FORMS.findIndex((each) => each.length === start && url.startsWith(each));
  if (form >= 0) return form;
  return Buffer.byteLength(url) > URL_SIZE_MAX ? LONG_FORM : OWN_FORM;
}

/** A URL in a row that is filed under this key. */
export function writeUrl(row: RowWriter, key: string, url: string): void {
  const form = formOf(key, url);
  row.byte(form);
  if (form === OWN_FORM || form === LONG_FORM) row.text(url);
}

export function readUrl(row: RowReader, key: string): string {
  const form = row.byte();
  return form === OWN_FORM || form === LONG_FORM ? row.text() : fromKey(key, form)!;
}

/**
 * `key` is the one that the content is filed under; it is not said twice where the URL follows from it. A URL that is too
 * long is read back as its key. Of the digest, what the identity has is not said either.
 */
export function encodeContent(key: string, content: Content, location: string | undefined): Buffer {
  const form = formOf(key, content.url);
  const row = rows.begin().byte(form);
  if (form === OWN_FORM) row.text(content.url);
  row.count(content.status ?? 0).text((content.mime ?? "").slice(0, MIME_SIZE_MAX));
  row.count(content.payloadSize);
  if (isNothing(content)) return row.finish();
  return row.raw(Buffer.from(location === undefined ? content.sha256.slice(2 * HALF) : content.sha256, "hex")).finish();
}

/** `identity` is that of the timeline's entry, each character one byte. */
export function decodeContent(key: string, bytes: Uint8Array, identity: string): Content {
  const row = new RowReader(bytes);
  const form = row.byte();
  const url = form === OWN_FORM ? row.text() : form === LONG_FORM ? key : fromKey(key, form)!;
  const [status, mime, payloadSize] = [row.count(), row.text(), row.count()];
  return {
    url,
    status: status === 0 ? undefined : status,
    mime: mime === "" ? undefined : mime,
    sha256: digestFrom(row, status, identity),
    payloadSize,
  };
}

/** The one that is being put together: slices do this for each of their answers. */
const whole = Buffer.alloc(2 * HALF);

function digestFrom(row: RowReader, status: number, identity: string): string {
  if (row.left === 0) return SHA256_OF_NOTHING;
  if (row.left === 2 * HALF) return row.raw(2 * HALF).toString("hex");
  const change = changeOf(status);
  for (let i = 0; i < HALF; i++) whole[i] = identity.charCodeAt(i) ^ change[i]!;
  whole.set(row.raw(HALF), HALF);
  return whole.toString("hex");
}
