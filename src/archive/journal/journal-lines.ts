/**
 * The lines of a journal, and the checksum that ties each of them to all before it. It is the CRC-32 of all entries so far,
 * each as its line would be without its own checksum; so it also covers the lines of earlier versions, which have none.
 */
import { crc32 } from "node:zlib";
import type { DiskFile } from "../../disk/index.ts";
import type { JournalEnd } from "../catalogue/catalogue-view.ts";

export interface JournalLine {
  /** The entry, without its checksum. */
  readonly body: () => Buffer;
  /** The end of the journal if this line were the last. */
  readonly end: JournalEnd;
  /** Where the next line begins. */
  readonly next: number;
  /** It has a checksum. */
  readonly isSealed: boolean;
  /** What is wrong with it: a line without an end was cut off while it was written. */
  readonly fault: "cut" | "checksum" | undefined;
}

const READ_SIZE = 1 << 20;
/** As large as a text can be, about: a line that is larger is none of ours. */
const LINE_SIZE_MAX = 2 ** 29;
const FIELD = ',"checksum":"';
const SUFFIX = /^,"checksum":"([0-9a-f]{8})"\}$/;
const SUFFIX_SIZE = FIELD.length + 10;
const CLOSING = Buffer.from("}");

/** The line of an entry, with its line end, and the end of the journal behind it. */
export function formatLine(entry: object, { entries, checksum = formatChecksum(0) }: JournalEnd) {
  const text = JSON.stringify(entry);
  const next = formatChecksum(crc32(text, Number.parseInt(checksum, 16)));
  return { line: `${text.slice(0, -1)}${FIELD}${next}"}\n`, end: { entries: entries + 1, checksum: next } };
}

function formatChecksum(value: number): string {
  return value.toString(16).padStart(8, "0");
}

/** All lines, one at a time; after one with a fault the reckoning goes on as if it had none. */
export function* readLines(file: DiskFile): Generator<JournalLine> {
  let [entries, sum, next, isSealed] = [0, 0, 0, false];
  for (const { line, isWhole } of linesIn(file)) {
    next += line.length + (isWhole ? 1 : 0);
    const told = SUFFIX.exec(line.toString("latin1", Math.max(0, line.length - SUFFIX_SIZE)))?.[1];
    const parts = told === undefined ? [line] : [line.subarray(0, -SUFFIX_SIZE), CLOSING];
    for (const part of parts) sum = crc32(part, sum);
    const checksum = formatChecksum(sum);
    // Where one line has a checksum, all after it do.
    const fits = told === undefined ? !isSealed : told === checksum;
    isSealed ||= told !== undefined;
    const fault = isWhole ? (fits ? undefined : "checksum") : "cut";
    yield {
      body: () => Buffer.concat(parts),
      end: { entries: ++entries, checksum },
      next,
      isSealed: told !== undefined,
      fault,
    };
  }
}

/** As bytes, without their ends: a journal may be larger than any text can be. */
function* linesIn(file: DiskFile): Generator<{ readonly line: Buffer; readonly isWhole: boolean }> {
  const size = file.size();
  let parts: Buffer[] = [];
  let partsSize = 0;
  for (let position = 0; position < size; ) {
    const bytes = Buffer.allocUnsafe(Math.min(READ_SIZE, size - position));
    const count = file.read(bytes, position);
    if (count === 0) break;
    position += count;
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0 && end < count; end = bytes.indexOf(10, from)) {
      const rest = bytes.subarray(from, end);
      yield { line: parts.length === 0 ? rest : Buffer.concat([...parts, rest]), isWhole: true };
      [parts, partsSize] = [[], 0];
      from = end + 1;
    }
    if (from < count) parts.push(bytes.subarray(from, count));
    partsSize += count - from;
    if (partsSize > LINE_SIZE_MAX) break;
  }
  if (parts.length > 0) yield { line: Buffer.concat(parts), isWhole: false };
}
