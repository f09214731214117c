/**
 * The accelerator: something that inflates a whole gzip member at once, faster than the inflater that can stop anywhere.
 * Optional: it is looked for once enough has been read for that to pay, must prove itself, and where there is none only
 * the time differs. A member that it cannot do is the inflater's. docs/decisions/0011-libdeflate.md says more.
 */
import { gzipSync } from "node:zlib";
import { openLibdeflate } from "./inflater-libdeflate.ts";

/** What became of a member. One whose end lies behind the input is "broken" too, or has "no room". */
export type MemberVerdict = "whole" | "no room" | "broken";

export interface MemberInflater {
  /** How many bytes the last call took of its input, header and trailer included, and gave; known after "whole" only. */
  readonly taken: number;
  readonly given: number;
  /**
   * Inflates the gzip member at the start of `input[from..to)` into `output[at..limit)` and verifies its checksum and
   * size. Unless the verdict is "whole", nothing is known about the output but that it kept to its limits.
   */
  inflate(input: Buffer, from: number, to: number, output: Buffer, at: number, limit: number): MemberVerdict;
}

const MARGIN = Buffer.alloc(64, 7);

/** The content of a member of which `size` bytes are there; absent where it is refused. */
function tryMember(inflater: MemberInflater, member: Buffer, size: number, room: number): Buffer | undefined {
  const from = MARGIN.length;
  const input = Buffer.concat([MARGIN, member, member]);
  const output = Buffer.alloc(from + room + MARGIN.length, MARGIN);
  const verdict = inflater.inflate(input, from, from + size, output, from, from + room);
  const kept = output.subarray(0, from).equals(MARGIN) && output.subarray(from + room).equals(MARGIN);
  if (!kept || (verdict === "whole" && inflater.taken !== member.length)) throw new Error("limits were not kept");
  return verdict === "whole" ? output.subarray(from, from + inflater.given) : undefined;
}

/** What the reader relies on: exact ends, headers of any kind, limits that are kept, and nothing broken called whole. */
export function provesMembers(inflater: MemberInflater): boolean {
  try {
    const text = Buffer.from("the one specimen that all others refer to; ".repeat(99));
    const plain = gzipSync(text);
    // The flag says that a name follows the ten bytes of the header.
    const named = Buffer.concat([plain.subarray(0, 10), Buffer.from("name\0"), plain.subarray(10)]);
    named[3] = 8;
    const empty = gzipSync("");
    const gives = (member: Buffer, size: number, room: number, content: Buffer) =>
      tryMember(inflater, member, size, room)?.equals(content) === true;
    const refuses = (member: Buffer, size: number, room: number) =>
      tryMember(inflater, member, size, room) === undefined;
    const { length: room } = text;
    for (const member of [plain, named]) {
      const { length: size } = member;
      const wrong = Buffer.from(member);
      wrong[size - 6]! ^= 1;
      const sound =
        gives(member, 2 * size, room, text) &&
        refuses(wrong, 2 * size, room) &&
        refuses(member, size - 1, room) &&
        refuses(member, size >> 1, room) &&
        refuses(member, 2 * size, room - 1) &&
        gives(member, size, room, text);
      if (!sound) return false;
    }
    return gives(empty, empty.length, 1, Buffer.alloc(0));
  } catch {
    return false;
  }
}

/** Loading takes some 10 ms of processor time, and saves about 4 ms for each megabyte that is read after it. */
const LOAD_AFTER = 2 << 20;

let accelerator: MemberInflater | undefined;
let bytesToWait = LOAD_AFTER;

/** Looks for an accelerator now; absent where there is none, or none that proves itself. */
export function loadAccelerator(): MemberInflater | undefined {
  const found = openLibdeflate();
  return found !== undefined && provesMembers(found) ? found : undefined;
}

/** From now on readers of this thread that are opened use this accelerator, or none, and none is looked for. */
export function setAccelerator(chosen: MemberInflater | undefined): void {
  accelerator = chosen;
  bytesToWait = Number.POSITIVE_INFINITY;
}

/** The accelerator, if there is one and it is time for it. `passed` compressed bytes were inflated without it just now. */
export function takeAccelerator(passed: number): MemberInflater | undefined {
  bytesToWait -= passed;
  if (bytesToWait <= 0) setAccelerator(loadAccelerator());
  return accelerator;
}
