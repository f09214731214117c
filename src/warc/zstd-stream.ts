/**
 * A `.warc.zst` file, frame by frame, after the IIPC draft: a dictionary, raw or itself compressed, may come first in a
 * skippable frame; a record is one frame or several. A frame that fits in the window is decoded at once, a larger one
 * block by block.
 */
import { CompressedStream } from "./compressed-stream.ts";
import type { Report } from "./member-stream.ts";
import { type SourceWindow, Step } from "./window.ts";
import { BLOCK_HEADER_SIZE, BLOCK_SIZE_MAX, BlockDecoder } from "./zstd-blocks.ts";
import {
  decodeFrame,
  decodeUnsized,
  loadZstd,
  parseFrameHeader,
  startChecksum,
  type ZstdChecksum,
  type ZstdFrameHeader,
  zstdLoaded,
} from "./zstd-codec.ts";

const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const DICTIONARY_MAGIC = 0x184d2a5d;
/** The draft's limit for dictionaries. */
const DICTIONARY_SIZE_MAX = 8 << 20;
/** Contents up to this size are decoded at once. */
const CONTENT_AT_ONCE_MAX = 4 << 20;
const DICTIONARY_SIZE_CHEAP = 1 << 18;
/** The draft allows 8 MiB; a frame that asks for more than this is refused. */
const WINDOW_SIZE_MAX = 32 << 20;
/** How many bytes may be looked at in vain, beside twice the file's own: a bound on hostile input. */
const WASTE_FREE = 64 << 20;

function isSkippable(magic: number): boolean {
  return (magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC;
}

/** A frame or a skippable frame begins at `pos`. One of the four magic bytes of a frame may be damaged. */
export function isZstd(bytes: Buffer, pos: number): boolean {
  const magic = bytes.readUInt32LE(pos);
  const wrong = [0, 8, 16, 24].filter((shift) => ((magic ^ FRAME_MAGIC) >>> shift) & 255).length;
  return wrong <= 1 || isSkippable(magic);
}

type Phase = "between" | "searching" | "whole" | "blocks" | "checksum";

export class ZstdStream extends CompressedStream {
  private dictionary: Uint8Array | undefined;
  private phase: Phase = "between";
  private header: ZstdFrameHeader | undefined;
  /** Decoded bytes that wait for room. */
  private pieces: Uint8Array[] = [];
  private blocks: BlockDecoder | undefined;
  private checksum: ZstdChecksum | undefined;
  private skipping: { readonly offset: number; left: number; readonly parts: Buffer[] | undefined } | undefined;
  /** The checksum was wrong, so that the end of the frame may have been. */
  private endDoubtful = false;
  private decodedSize = 0;
  private lastBlockSeen = false;
  /** Bytes of frames that looked whole and were not. */
  private wasted = 0;
  private searchFrom = 0;
  private startAt: number;

  /** The input is at the start of the file, where a dictionary may be; reading begins at the frame at `startAt`. */
  constructor(input: SourceWindow, capacity: number, report: Report, startAt = 0) {
    super(input, capacity, report);
    this.startAt = startAt;
  }

  override get memberEnded(): boolean {
    return this.phase === "between" || this.phase === "searching";
  }

  override async load(): Promise<void> {
    if (!zstdLoaded()) await loadZstd();
    else await super.load();
  }

  override begin(continuing: boolean): Step {
    const { input, out } = this;
    if (!zstdLoaded()) return Step.NEED;
    if (!continuing) input.keep = input.pos;
    for (;;) {
      if (this.phase === "searching") {
        const step = this.search();
        if (step !== Step.MORE) return step;
      }
      const step = this.skipping === undefined ? this.ensure(4) : Step.MORE;
      if (step === Step.NEED) return step;
      if (step !== Step.MORE) return this.endOfFile();
      if (this.skipping !== undefined || isSkippable(input.buffer.readUInt32LE(input.pos))) {
        const skipped = this.readSkippable();
        if (skipped !== Step.MORE) return skipped;
        if (!continuing) input.keep = input.pos;
        continue;
      }
      let header = parseFrameHeader(input.buffer, input.pos, input.end);
      while (header === 0) {
        const filled = this.fillInput();
        if (filled === Step.NEED) return filled;
        if (filled === Step.END) {
          this.report("HT_ZSTD_TRUNCATED", "the file ends inside a frame header", input.offset);
          input.pos = input.keep = input.end;
          return Step.END;
        }
        header = parseFrameHeader(input.buffer, input.pos, input.end);
      }
      if (header === undefined) {
        if (this.endDoubtful) this.startSearch(this.memberOffset + 4);
        else this.startSearch(input.offset, input.offset);
        this.endDoubtful = false;
        continue;
      }
      if (this.startAt > 0) {
        const { startAt } = this;
        this.startAt = 0;
        if (startAt > input.offset && input.seek(startAt)) continue;
      }
      this.memberOffset = input.offset;
      this.previousEndOffset = this.memberEndOffset;
      if (out.available === 0 && out.keep === out.pos) out.clear();
      this.memberPos = out.end;
      this.header = header;
      this.endDoubtful = false;
      this.phase = "whole";
      return Step.MORE;
    }
  }

  private endOfFile(): Step {
    const { input } = this;
    if (input.available > 0) this.report("HT_GARBAGE", `${input.available} bytes that are no zstd frame`, input.offset);
    input.pos = input.keep = input.end;
    return Step.END;
  }

  private ensure(count: number): Step {
    while (this.input.available < count) {
      const step = this.fillInput();
      if (step !== Step.MORE) return step;
    }
    return Step.MORE;
  }

  /** Passes over a skippable frame; takes the dictionary out of the one that holds it. */
  private readSkippable(): Step {
    const { input } = this;
    if (this.skipping === undefined) {
      const step = this.ensure(8);
      if (step === Step.NEED) return step;
      if (step !== Step.MORE) return this.endOfFile();
      const magic = input.buffer.readUInt32LE(input.pos);
      const size = input.buffer.readUInt32LE(input.pos + 4);
      const held = magic === DICTIONARY_MAGIC && this.dictionary === undefined && size <= DICTIONARY_SIZE_MAX;
      this.skipping = { offset: input.offset, left: size, parts: held ? [] : undefined };
      input.pos += 8;
    }
    const { skipping } = this;
    while (skipping.left > 0) {
      if (input.available === 0) {
        input.keep = input.pos;
        const filled = this.fillInput();
        if (filled === Step.NEED) return filled;
        if (filled !== Step.MORE) break;
      }
      const count = Math.min(skipping.left, input.available);
      skipping.parts?.push(Buffer.from(input.buffer.subarray(input.pos, input.pos + count)));
      input.pos += count;
      skipping.left -= count;
    }
    this.skipping = undefined;
    const cut = skipping.left > 0;
    if (skipping.parts !== undefined) this.takeDictionary(Buffer.concat(skipping.parts), cut);
    else if (cut) this.report("HT_ZSTD_TRUNCATED", "the file ends inside a skippable frame", skipping.offset);
    // The size may have been wrong.
    if (cut) this.startSearch(skipping.offset + 4);
    return Step.MORE;
  }

  private takeDictionary(content: Buffer, cut: boolean): void {
    try {
      if (cut) throw new Error("the file ends inside the dictionary");
      const header = parseFrameHeader(content, 0, content.length);
      if (header === undefined || header === 0) this.dictionary = content;
      else {
        const { contentSize } = header;
        if ((contentSize ?? 0) > DICTIONARY_SIZE_MAX) throw new Error("too large");
        this.dictionary =
          contentSize === undefined
            ? decodeUnsized(content, header, DICTIONARY_SIZE_MAX)
            : decodeFrame(content, contentSize, undefined);
      }
    } catch (cause) {
      this.report("HT_ZSTD_DICTIONARY", `the dictionary cannot be used: ${String(cause)}`, 0);
    }
  }

  override more(): Step {
    const { out } = this;
    for (;;) {
      if (this.pieces.length > 0) {
        if (out.end === out.buffer.length) this.memberPos -= out.compact();
        if (out.end === out.buffer.length) return Step.FULL;
        this.giveOut();
        if (this.pieces.length === 0 && this.phase === "between") this.noteEnd();
        return Step.MORE;
      }
      let step: Step;
      if (this.phase === "whole") step = this.decodeWhole();
      else if (this.phase === "blocks") step = this.decodeBlock();
      else if (this.phase === "checksum") step = this.readChecksum();
      else return Step.END;
      if (step === Step.NEED) return step;
    }
  }

  private giveOut(): void {
    const { out } = this;
    const piece = this.pieces[0]!;
    const part = piece.subarray(0, out.buffer.length - out.end);
    out.buffer.set(part, out.end);
    out.end += part.length;
    if (part.length === piece.length) this.pieces.shift();
    else this.pieces[0] = piece.subarray(part.length);
  }

  private noteEnd(): void {
    this.memberEndOffset = this.input.offset;
  }

  /** The size of the frame in the file, if all of it is or can be had in the window; else absent, or `NEED`. */
  private frameSize(): number | undefined | "need" {
    const { input } = this;
    let size = this.header!.size;
    for (let last = false; !last; ) {
      const step = input.ensure(size + BLOCK_HEADER_SIZE);
      if (step === Step.NEED) return "need";
      if (step !== Step.MORE) return this.waste(size);
      const block = input.buffer.readUIntLE(input.pos + size, BLOCK_HEADER_SIZE);
      const type = (block >> 1) & 3;
      size += BLOCK_HEADER_SIZE + (type === 1 ? 1 : block >> 3);
      if (type === 3) return this.waste(size);
      last = (block & 1) === 1;
    }
    if (this.header!.hasChecksum) size += 4;
    const step = input.ensure(size);
    if (step === Step.NEED) return "need";
    return step === Step.MORE ? size : this.waste(size);
  }

  private waste(size: number): undefined {
    this.wasted += size;
  }

  private decodeWhole(): Step {
    const { input } = this;
    const { contentSize, dictionaryId, windowSize, size: headerSize } = this.header!;
    if (dictionaryId !== 0 && this.dictionary === undefined) {
      return this.give("HT_ZSTD_DICTIONARY", "the frame's dictionary is missing");
    }
    if (contentSize !== undefined && this.paysAtOnce(contentSize)) {
      const size = this.frameSize();
      if (size === "need") return Step.NEED;
      if (size !== undefined && this.decodeAtOnce(size, contentSize)) return Step.MORE;
    }
    // Block by block, everything before the damage comes out.
    if (windowSize > WINDOW_SIZE_MAX) return this.give("HT_ZSTD_DATA", "the frame asks for too large a window");
    try {
      this.blocks ??= new BlockDecoder(this.dictionary);
      this.blocks.begin(windowSize);
    } catch {
      return this.give("HT_ZSTD_DICTIONARY", "the dictionary is not valid");
    }
    this.checksum = this.header!.hasChecksum ? startChecksum() : undefined;
    this.decodedSize = 0;
    this.lastBlockSeen = false;
    input.pos += headerSize;
    this.phase = "blocks";
    return Step.MORE;
  }

  /** The library loads the dictionary anew for each frame, which must not cost more than the frame is worth. */
  private paysAtOnce(contentSize: number): boolean {
    if (contentSize > CONTENT_AT_ONCE_MAX || this.wasted > WASTE_FREE + 2 * this.input.offset) return false;
    return (this.dictionary?.length ?? 0) <= DICTIONARY_SIZE_CHEAP + 16 * contentSize;
  }

  private decodeAtOnce(size: number, contentSize: number): boolean {
    const { input } = this;
    try {
      const content = decodeFrame(input.buffer.subarray(input.pos, input.pos + size), contentSize, this.dictionary);
      if (content.length !== contentSize) throw new Error("size differs");
      input.pos += size;
      if (content.length > 0) this.pieces.push(content);
      this.endMember();
      return true;
    } catch {
      this.waste(size);
      return false;
    }
  }

  private decodeBlock(): Step {
    const { input } = this;
    if (this.lastBlockSeen) {
      this.phase = "checksum";
      return Step.MORE;
    }
    let step = this.ensure(BLOCK_HEADER_SIZE);
    if (step === Step.NEED) return step;
    if (step !== Step.MORE) return this.give("HT_ZSTD_TRUNCATED", "the file ends inside a frame");
    const block = input.buffer.readUIntLE(input.pos, BLOCK_HEADER_SIZE);
    const type = (block >> 1) & 3;
    const size = BLOCK_HEADER_SIZE + (type === 1 ? 1 : block >> 3);
    if (type === 3 || block >> 3 > BLOCK_SIZE_MAX) return this.give("HT_ZSTD_DATA", "a block header is not valid");
    step = this.ensure(size);
    if (step === Step.NEED) return step;
    if (step !== Step.MORE) return this.give("HT_ZSTD_TRUNCATED", "the file ends inside a frame");
    try {
      const piece = this.blocks!.decode(input.buffer.subarray(input.pos, input.pos + size));
      this.checksum?.update(piece);
      this.decodedSize += piece.length;
      if (piece.length > 0) this.pieces.push(piece);
    } catch {
      return this.give("HT_ZSTD_DATA", "a block cannot be decoded");
    }
    input.pos += size;
    this.lastBlockSeen = (block & 1) === 1;
    return Step.MORE;
  }

  private readChecksum(): Step {
    const { input } = this;
    if (this.header!.hasChecksum) {
      const step = this.ensure(4);
      if (step === Step.NEED) return step;
      if (step !== Step.MORE) return this.give("HT_ZSTD_TRUNCATED", "the file ends before the frame's checksum");
      const expected = input.buffer.readUInt32LE(input.pos);
      input.pos += 4;
      if (expected !== this.checksum!.finish()) {
        this.report("HT_ZSTD_CHECKSUM", "the frame's checksum differs", this.memberOffset);
        this.endDoubtful = true;
      }
    }
    if (this.decodedSize !== (this.header!.contentSize ?? this.decodedSize)) {
      this.report("HT_ZSTD_DATA", "the frame does not hold as much as it says", this.memberOffset);
    }
    this.endMember();
    return Step.MORE;
  }

  private endMember(): void {
    this.phase = "between";
    this.noteEnd();
  }

  /** Gives the frame up where it is, and looks for the next one from behind its first bytes. */
  private give(code: "HT_ZSTD_DATA" | "HT_ZSTD_TRUNCATED" | "HT_ZSTD_DICTIONARY", message: string): Step {
    this.report(code, message, this.memberOffset);
    this.memberEndOffset = code === "HT_ZSTD_TRUNCATED" ? this.input.base + this.input.end : undefined;
    this.startSearch(this.memberOffset + 4);
    return Step.MORE;
  }

  /** From the next `begin` on, looks for a frame from `offset`, or from where we are if that cannot be reached. */
  private startSearch(offset: number, garbageFrom = Number.POSITIVE_INFINITY): void {
    const { input } = this;
    const again = input.offset - offset;
    if (again <= 0) input.pos = Math.min(input.end, input.pos - again);
    else if (this.wasted + again <= WASTE_FREE + 2 * input.offset && input.seek(offset)) this.wasted += again;
    this.searchFrom = garbageFrom;
    this.phase = "searching";
  }

  private search(): Step {
    const { input } = this;
    for (;;) {
      const at = input.pos < input.end ? input.buffer.indexOf(0x28, input.pos) : -1;
      input.pos = at < 0 || at >= input.end ? input.end : at;
      input.keep = input.pos;
      const header = parseFrameHeader(input.buffer, input.pos, input.end);
      if (header === 0) {
        const step = this.fillInput();
        if (step === Step.NEED) return step;
        if (step === Step.END) {
          input.pos = input.keep = input.end;
          this.endSearch();
          return Step.END;
        }
        continue;
      }
      if (header !== undefined) {
        this.endSearch();
        return Step.MORE;
      }
      input.pos++;
    }
  }

  private endSearch(): void {
    const count = this.input.offset - this.searchFrom;
    if (count > 0) this.report("HT_GARBAGE", `${count} bytes that are no zstd frame`, this.searchFrom);
    this.phase = "between";
  }
}
