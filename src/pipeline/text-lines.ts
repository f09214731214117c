/** Text files as lines, one at a time. */
import { isAscii } from "node:buffer";
import { ArchiveError, invariant } from "../base/index.ts";
import { createDurably, type Disk, readStandardInput } from "../disk/index.ts";
import { decodeUri, fileSource, gunzip, isGzip } from "../warc/index.ts";

const READ_SIZE = 1 << 18;
/** No index, log or manifest has such a line, but a file of another kind may seem to. */
const LINE_SIZE_MAX = 1 << 24;

/** The lines of a file without their ends, as UTF-8, from one byte offset to another. A last line needs no end. */
export function* readTextLines(disk: Disk, path: string, start = 0, end = Number.POSITIVE_INFINITY): Generator<string> {
  using file = disk.open(path, "read");
  let position = start;
  yield* linesOf((into) => {
    const count = file.read(into.subarray(0, Math.min(into.length, end - position)), position);
    position += count;
    return count;
  });
}

/**
 * The lines of a file that somebody made elsewhere: it may be compressed with gzip, as indexes often are. Where one is
 * not UTF-8, its bytes are escaped as in a URI: that is where indexes have such bytes.
 */
export function* readGivenLines(disk: Disk, path: string): Generator<string> {
  using file = disk.open(path, "read");
  const magic = Buffer.alloc(MAGIC_SIZE);
  if (!isGzip(magic, 0, file.read(magic, 0))) yield* readTextLines(disk, path);
  else yield* linesOf(readerOf(gunzip(fileSource(file, path))));
}

const MAGIC_SIZE = 4;

/** Reads what comes in pieces. */
function readerOf(pieces: Iterator<Uint8Array>): (into: Uint8Array) => number {
  let rest: Uint8Array = new Uint8Array(0);
  return (into) => {
    while (rest.length === 0) {
      const step = pieces.next();
      if (step.done === true) return 0;
      rest = step.value;
    }
    const count = Math.min(into.length, rest.length);
    into.set(rest.subarray(0, count));
    rest = rest.subarray(count);
    return count;
  };
}

/** The lines of standard input. */
export function* readInputLines(): Generator<string> {
  yield* linesOf(readStandardInput);
}

function* linesOf(read: (into: Uint8Array) => number): Generator<string> {
  const buffer = Buffer.allocUnsafe(READ_SIZE);
  // Bytes as Latin-1, so that no character is torn where two reads meet.
  let rest = "";
  let restIsAscii = true;
  for (let count = read(buffer); count > 0; count = read(buffer)) {
    const text = rest + buffer.toString("latin1", 0, count);
    const bytesAreAscii = isAscii(buffer.subarray(0, count));
    const plain: boolean = restIsAscii && bytesAreAscii;
    let at = 0;
    for (let newline = text.indexOf("\n"); newline >= 0; newline = text.indexOf("\n", at)) {
      const line = text.slice(at, newline);
      yield plain ? line : decodeUri(line);
      at = newline + 1;
    }
    restIsAscii = bytesAreAscii && (plain || at > 0);
    rest = text.slice(at);
    if (rest.length > LINE_SIZE_MAX)
      throw new ArchiveError("HT_TOO_LARGE", "a line of more than 16 MB: not a file of lines");
  }
  if (rest !== "") yield decodeUri(rest);
}

/** The lines of a text, without their ends. */
export function wholeLines(text: string | Uint8Array): string[] {
  const string = typeof text === "string" ? text : Buffer.from(text.buffer, text.byteOffset, text.length).toString();
  const lines = string.split("\n");
  const rest = lines.pop();
  invariant(rest === "", "a line without its end");
  return lines;
}

const WRITE_SIZE = 1 << 16;

/** Makes a file of lines: durable and complete when this returns, or else as it was. */
export function writeTextLines(disk: Disk, path: string, lines: Iterable<string>): void {
  createDurably(
    disk,
    path,
    (output) => {
      let text = "";
      for (const line of lines) {
        text += `${line}\n`;
        if (text.length < WRITE_SIZE) continue;
        output.write(Buffer.from(text));
        text = "";
      }
      output.write(Buffer.from(text));
    },
    { replace: true },
  );
}
