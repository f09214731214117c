/**
 * Where bytes come from. This room does not open files: whoever reads hands in a source, so the same reader serves
 * files, standard input, entries of a ZIP file and ranges fetched over a network.
 */

/** A source that answers at once. */
export interface ByteSource {
  /** How the source is called in warnings and listings. */
  readonly name: string;
  /** False where only the position right behind the last read can be asked for, as with a pipe. */
  readonly seekable: boolean;
  /** Known for files; absent for streams. */
  readonly size?: number | undefined;
  /** Reads up to `into.length` bytes at `position` and returns how many; 0 only at the end. */
  read(into: Uint8Array, position: number): number;
  /** The same bytes for whoever must not make others wait; absent where there is no other way than `read`. */
  readonly later?: AsyncByteSource | undefined;
  close?(): void;
}

/** A source that answers later; a reader over one is driven with `for await`. */
export interface AsyncByteSource {
  readonly name: string;
  readonly seekable: boolean;
  readonly size?: number | undefined;
  readLater(into: Uint8Array, position: number): Promise<number>;
  close?(): void;
}

export type AnyByteSource = ByteSource | AsyncByteSource;

export function isAsyncSource(source: AnyByteSource): source is AsyncByteSource {
  return "readLater" in source;
}

/** A file that is open, as far as a source needs it. */
interface OpenFile {
  size(): number;
  read(into: Uint8Array, position: number): number;
  readLater?(into: Uint8Array, position: number): Promise<number>;
}

/** An open file as a source. Whoever opened it closes it. */
export function fileSource(file: OpenFile, name: string): ByteSource {
  const size = file.size();
  const later =
    file.readLater === undefined
      ? undefined
      : { name, seekable: true, size, readLater: file.readLater.bind(file) as AsyncByteSource["readLater"] };
  return { name, seekable: true, size, read: (into, position) => file.read(into, position), later };
}

/** A source as one that answers later, as far as it can. */
export function laterSource(source: ByteSource): AsyncByteSource {
  const { name, seekable, size } = source;
  const readLater = (into: Uint8Array, position: number) => Promise.resolve(source.read(into, position));
  return source.later ?? { name, seekable, size, readLater };
}

/** A part of a source that answers later, with offsets of its own. */
export function laterRange(source: AsyncByteSource, from: number, size: number): AsyncByteSource {
  const { name, seekable } = source;
  return {
    name,
    seekable,
    size,
    readLater(into, position) {
      const count = Math.max(0, Math.min(into.length, size - position));
      return count === 0 ? Promise.resolve(0) : source.readLater(into.subarray(0, count), from + position);
    },
  };
}

/** A source of which the bytes from a position on are brought now, and answered from memory after that. */
export async function broughtSource(source: AsyncByteSource, from: number, count: number): Promise<AsyncByteSource> {
  const bytes = Buffer.allocUnsafeSlow(count);
  const to = from + (await source.readLater(bytes, from));
  return {
    ...source,
    readLater(into, position) {
      if (position < from || position >= to) return source.readLater(into, position);
      const piece = bytes.subarray(position - from, Math.min(to, position + into.length) - from);
      into.set(piece);
      return Promise.resolve(piece.length);
    },
  };
}

/** The bytes of a buffer as a source. */
export function bufferSource(bytes: Uint8Array, name = "(memory)"): ByteSource {
  return {
    name,
    seekable: true,
    size: bytes.length,
    read(into, position) {
      const count = Math.max(0, Math.min(into.length, bytes.length - position));
      into.set(bytes.subarray(position, position + count));
      return count;
    },
  };
}

/** A part of another source, with offsets of its own. */
export function rangeSource(source: ByteSource, from: number, size: number, name = source.name): ByteSource {
  return {
    name,
    seekable: source.seekable,
    size,
    read(into, position) {
      const count = Math.max(0, Math.min(into.length, size - position));
      return count === 0 ? 0 : source.read(into.subarray(0, count), from + position);
    },
  };
}

/** Chunks that arrive one after another (a network answer, a Node stream) as a source. */
export function iterableSource(chunks: AsyncIterable<Uint8Array>, name = "(stream)"): AsyncByteSource {
  const iterator = chunks[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array(0);
  return {
    name,
    seekable: false,
    async readLater(into) {
      while (held.length === 0) {
        const step = await iterator.next();
        if (step.done === true) return 0;
        held = step.value;
      }
      const count = Math.min(into.length, held.length);
      into.set(held.subarray(0, count));
      held = held.subarray(count);
      return count;
    },
  };
}
