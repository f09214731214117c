/**
 * Names of files whose bytes are not UTF-8, as text that leads back to them: each byte that is none of a character stands
 * as half of a surrogate pair, U+DC80 to U+DCFF. No name in UTF-8 has these.
 */
import { isUtf8 } from "node:buffer";

/** With `u`, halves that belong to a whole pair do not match. */
const ESCAPED = /[\udc80-\udcff]/u;
/** What a decoder puts in the place of bytes that it cannot read. */
const UNREAD = "\ufffd";
const ESCAPE_BASE = 0xdc00;

/** Whether a name may have had other bytes than this text of it. */
export function mayBeUnread(name: string): boolean {
  return name.includes(UNREAD);
}

export function nameFromBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const size = [1, 2, 3, 4].find((count) => at + count <= bytes.length && isUtf8(bytes.subarray(at, at + count)));
    text += size === undefined ? String.fromCharCode(ESCAPE_BASE + bytes[at]!) : bytes.toString("utf8", at, at + size);
    at += size ?? 1;
  }
  return text;
}

/** The path as the system takes it. */
export function systemPath(path: string): string | Buffer {
  if (!ESCAPED.test(path)) return path;
  const pieces = Array.from(path, (character) =>
    ESCAPED.test(character) ? Buffer.from([character.charCodeAt(0) - ESCAPE_BASE]) : Buffer.from(character),
  );
  return Buffer.concat(pieces);
}
