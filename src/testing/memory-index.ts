/** The index of a pack volume over maps: what was committed stays, as if on a disk that loses nothing. */

import type { Answer, BlockEntry, IndexChanges, IndexState, PackIndex, SegmentState } from "../store/index.ts";
import { decodeEntries, EMPTY_STATE, encodeEntries, formatAddress, parseAddress } from "../store/index.ts";

export class MemoryIndex implements PackIndex {
  state: IndexState = EMPTY_STATE;
  private readonly entries = new Map<string, Buffer>();
  private readonly answers = new Map<string, Answer>();
  private readonly formers = new Map<string, string>();
  private readonly segmentStates = new Map<number, SegmentState>();

  /** All of it as text. */
  protected save(): string {
    const entries = [...this.entries].map(([signature, bytes]) => [signature, bytes.toString("base64")]);
    const { state, answers, formers, segmentStates } = this;
    return JSON.stringify({
      state,
      entries,
      answers: [...answers],
      formers: [...formers],
      segments: [...segmentStates],
    });
  }

  protected restore(text: string): void {
    const saved = JSON.parse(text) as {
      state: IndexState;
      entries: [string, string][];
      answers: [string, Answer][];
      formers: [string, string][];
      segments: [number, SegmentState][];
    };
    this.state = saved.state;
    for (const [signature, bytes] of saved.entries) this.entries.set(signature, Buffer.from(bytes, "base64"));
    for (const [id, answer] of saved.answers) this.answers.set(id, answer);
    for (const [key, address] of saved.formers) this.formers.set(key, address);
    for (const [segment, state] of saved.segments) this.segmentStates.set(segment, state);
  }

  segments(): Map<number, SegmentState> {
    return new Map(this.segmentStates);
  }

  blocks(signature: string): readonly BlockEntry[] {
    const bytes = this.entries.get(signature);
    return bytes === undefined ? [] : decodeEntries(bytes);
  }

  answer(requestId: string): Answer | undefined {
    return this.answers.get(requestId);
  }

  former(key: string) {
    return parseAddress(this.formers.get(key) ?? "");
  }

  page(from: string) {
    const signatures = [...this.entries.keys()].filter((signature) => signature >= from).sort();
    return signatures.slice(0, 3).map((signature) => ({ signature, entries: this.blocks(signature) }));
  }

  signatures(from: string) {
    return this.page(from).map(({ signature }) => signature);
  }

  commit({ blocks, answers, former, segments, state }: IndexChanges): Promise<void> {
    for (const [signature, entries] of blocks) {
      if (entries.length === 0) this.entries.delete(signature);
      else this.entries.set(signature, encodeEntries(entries));
    }
    for (const [id, answer] of answers) this.answers.set(id, answer);
    for (const [key, address] of former) {
      if (address === undefined) this.formers.delete(key);
      else this.formers.set(key, formatAddress(address));
    }
    for (const [segment, segmentState] of segments) {
      if (segmentState === undefined) this.segmentStates.delete(segment);
      else this.segmentStates.set(segment, segmentState);
    }
    this.state = state;
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
