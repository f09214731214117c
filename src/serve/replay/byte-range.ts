/** The Range of a request (RFC 9110): one range of bytes; of several, none counts. */
import type { ByteRange } from "../../archive/index.ts";

const RANGE = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i;

/** Absent where there is no range to go by; `none` where it lies outside of the bytes. */
export function parseRange(value: string | undefined, size: number): ByteRange | "none" | undefined {
  const [, first, last] = RANGE.exec(value ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return undefined;
  if (first === "") {
    const count = Math.min(Number(last), size);
    return count === 0 ? "none" : { from: size - count, to: size };
  }
  const [from, to] = [Number(first), last === "" ? size : Math.min(Number(last) + 1, size)];
  if (last !== "" && Number(last) < from) return undefined;
  return from >= size ? "none" : { from, to };
}

export function contentRange({ from, to }: ByteRange, size: number): string {
  return `bytes ${from}-${to - 1}/${size}`;
}
