/** The host of a key: unescaped, in ASCII, an IP address in one form, without `www`, its labels turned round. */

import { hostToAscii } from "./idna.ts";
import { escapeOnce, unescapeFully } from "./percent.ts";

/** Letters, digits and single dots, and no number in front: a host that can be nothing but its own name. */
export const PLAIN_HOST = /^[a-zA-Z][a-zA-Z0-9_-]*(?:\.[a-zA-Z0-9_-]+)*$/;
const NON_ASCII = /[^\0-\x7f]/;
const ALL_DIGITS = /^[0-9]+$/;
const DOTTED_DECIMAL = /^[1-9][0-9]*(?:\.[0-9]+){0,3}$/;
const DOTTED_OCTAL = /^0[0-7]*(?:\.[0-7]+){0,3}$/;
const WWW = /^www[0-9]*\./;
/** U+FFFD in UTF-8, as a byte string. */
const REPLACEMENT_BYTES = "\xef\xbf\xbd";

/** The host, given as an escaped byte string, in lower case and in printable ASCII; empty when nothing is left of it. */
export function canonicalHost(host: string): string {
  if (PLAIN_HOST.test(host)) return host.toLowerCase();
  if (host === "") return host;
  let name = unescapeFully(host);
  if (NON_ASCII.test(name)) name = internationalHost(name) ?? name;
  name = trimDots(name.replaceAll("..", "."));
  return parseIpv4(name) ?? escapeOnce(name).toLowerCase();
}

/** `host` without a leading `www.`, `www2.` and the like. */
export function withoutWww(host: string): string {
  return host.startsWith("www") ? host.replace(WWW, "") : host;
}

/** `www.example.com` as `com,example,www`. */
export function reversedHost(host: string): string {
  let end = host.lastIndexOf(".");
  if (end < 0) return host;
  let out = host.slice(end + 1);
  while (end >= 0) {
    const start = end === 0 ? -1 : host.lastIndexOf(".", end - 1);
    out += `,${host.slice(start + 1, end)}`;
    end = start;
  }
  return out;
}

/** Bytes that are not UTF-8 are left out. `undefined` when the rest is no host name, in which case they stay. */
function internationalHost(bytes: string): string | undefined {
  if (bytes.includes(REPLACEMENT_BYTES)) return undefined;
  const name = Buffer.from(bytes, "latin1").toString("utf8").replaceAll("\ufffd", "");
  return name === "" ? "" : hostToAscii(name);
}

function trimDots(name: string): string {
  let start = 0;
  let end = name.length;
  while (start < end && name.charCodeAt(start) === 0x2e) start++;
  while (end > start && name.charCodeAt(end - 1) === 0x2e) end--;
  return name.slice(start, end);
}

/**
 * The address in dotted decimal form, or `undefined` when `name` is none. A bare number is decimal whatever it begins
 * with, and only its lower 32 bits count; with dots, a part that begins with 0 is octal, and the last part fills all
 * bytes that are left. Hexadecimal parts are not taken for numbers. All this is the habit of existing keys.
 */
function parseIpv4(name: string): string | undefined {
  const first = name.charCodeAt(0);
  if (first < 0x30 || first > 0x39) return undefined;
  if (ALL_DIGITS.test(name)) return formatIpv4(lower32Bits(name));
  if (!DOTTED_DECIMAL.test(name) && !DOTTED_OCTAL.test(name)) return undefined;
  const parts = name.split(".");
  let address = 0;
  for (const [index, part] of parts.entries()) {
    const value = parseIpv4Part(part);
    const sizeBytes = index === parts.length - 1 ? 4 - index : 1;
    if (value === undefined || value >= 256 ** sizeBytes) return undefined;
    address = address * 256 ** sizeBytes + value;
  }
  return formatIpv4(address);
}

function parseIpv4Part(part: string): number | undefined {
  if (!part.startsWith("0")) return Number(part);
  return /[89]/.test(part) ? undefined : Number.parseInt(part, 8);
}

function lower32Bits(digits: string): number {
  let value = 0;
  for (let index = 0; index < digits.length; index++) value = (value * 10 + digits.charCodeAt(index) - 0x30) % 2 ** 32;
  return value;
}

function formatIpv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".");
}
