/** Which characters the bytes of a page or a style sheet are: by their mark, the header, or what stands in them. */
import { TextDecoder } from "node:util";

const PRESCAN_SIZE = 4096;
const META = /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i;
const AT_CHARSET = /^@charset "([\w.:-]{1,40})";/;

function labelOf(start: Uint8Array, contentType: string | undefined, isCss: boolean): string | undefined {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return "utf-8";
  if (start[0] === 0xfe && start[1] === 0xff) return "utf-16be";
  if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
  const told = /charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(contentType ?? "")?.[1];
  if (told !== undefined && isKnown(told)) return told;
  const text = Buffer.from(start.buffer, start.byteOffset, Math.min(start.length, PRESCAN_SIZE)).toString("latin1");
  const meant = (isCss ? AT_CHARSET : META).exec(text)?.[1];
  if (meant === undefined || !isKnown(meant)) return undefined;
  // A page that can be read so far is not in two bytes a character.
  return /^utf-16/i.test(meant) ? "utf-8" : meant;
}

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== "";
  } catch {
    return false;
  }
}

/** By its first bytes; what does not say it is UTF-8 where that fits, else what old browsers took it for. */
export function decoderFor(start: Uint8Array, contentType: string | undefined, isCss = false): TextDecoder {
  const label = labelOf(start, contentType, isCss);
  return new TextDecoder(label ?? (isUtf8(start) ? "utf-8" : "windows-1252"));
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // The last character may be cut off.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
