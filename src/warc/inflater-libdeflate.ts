/**
 * libdeflate, called through npm `koffi`: whole gzip members at once, in less than half of the time that zlib takes.
 * Neither is required, and this file alone knows of them. docs/decisions/0011-libdeflate.md says why it is so.
 */
import { createRequire } from "node:module";
import { platform } from "node:os";
import type { MemberInflater, MemberVerdict } from "./inflater-accelerator.ts";

/** koffi, as far as it is used here. A pointer is a bigint, or a typed array whose memory is meant. */
interface Koffi {
  load(name: string): { func(declaration: string): (...args: unknown[]) => unknown };
}

/**
 * Names that the system's own loader looks up, or places where package managers put the library. A bare name on macOS
 * and Windows would also be looked for in the current folder, which may hold anything.
 */
const MAC_NAMES = ["/opt/homebrew/lib/libdeflate.0.dylib", "/usr/local/lib/libdeflate.0.dylib"];
const NAMES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ["libdeflate.so.0", "libdeflate.so"],
  freebsd: ["libdeflate.so.0", "libdeflate.so"],
  openbsd: ["libdeflate.so"],
  darwin: MAC_NAMES,
};

const ALLOCATE = "void *libdeflate_alloc_decompressor()";
const DECOMPRESS =
  "int libdeflate_gzip_decompress_ex(void *decompressor, const void *input, size_t inputSize, " +
  "void *output, size_t outputSize, size_t *taken, size_t *given)";
/** `enum libdeflate_result`; all others mean that the data is broken or ends too early. */
const SUCCESS = 0;
const INSUFFICIENT_SPACE = 3;

class Libdeflate implements MemberInflater {
  /** What the library writes its two counts into. */
  private readonly counts = new BigUint64Array(2);
  private readonly takenCount = this.counts.subarray(0, 1);
  private readonly givenCount = this.counts.subarray(1);
  /** Their lower halves: the windows are far smaller than 4 GB. */
  private readonly halves = new Uint32Array(this.counts.buffer);
  private readonly decompress: (...args: unknown[]) => unknown;
  /** It lives as long as the thread: there is one, of some 40 KB. */
  private readonly decompressor: unknown;

  constructor(library: ReturnType<Koffi["load"]>) {
    this.decompress = library.func(DECOMPRESS);
    this.decompressor = library.func(ALLOCATE)();
  }

  get taken(): number {
    return this.halves[0]!;
  }

  get given(): number {
    return this.halves[2]!;
  }

  inflate(input: Buffer, from: number, to: number, output: Buffer, at: number, limit: number): MemberVerdict {
    const { decompress, decompressor, takenCount, givenCount } = this;
    // A view costs about as much as the call itself.
    const source = from === 0 && to === input.length ? input : input.subarray(from, to);
    const room = at === 0 && limit === output.length ? output : output.subarray(at, limit);
    const result = decompress(decompressor, source, source.length, room, room.length, takenCount, givenCount);
    return result === SUCCESS ? "whole" : result === INSUFFICIENT_SPACE ? "no room" : "broken";
  }
}

/** Absent where koffi or the library is not installed, or does not have what is needed. */
export function openLibdeflate(): MemberInflater | undefined {
  try {
    // Not an `import`: that answers later, and the reader cannot wait in the middle of a file.
    const koffi = createRequire(import.meta.url)("koffi") as Koffi;
    for (const name of NAMES[platform()] ?? []) {
      const found = tryName(koffi, name);
      if (found !== undefined) return found;
    }
  } catch {
    // No koffi, or one that does not run here.
  }
  return undefined;
}

function tryName(koffi: Koffi, name: string): MemberInflater | undefined {
  try {
    return new Libdeflate(koffi.load(name));
  } catch {
    return undefined;
  }
}
