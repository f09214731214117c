/** Texts that many records share, by number: media types, names of files, origins. Text that found no room stands in its record. */

/** 0 stands for a text that is not in the table. */
const WORDS_MAX = 0xffff;
const BYTES_MAX = 1 << 20;

export class WordTable {
  private readonly numbers = new Map<string, number>();
  readonly words: string[] = [];
  private bytes = 0;

  /** From 1 on; 0 where there is no room for another one. */
  numberOf(word: string): number {
    const known = this.numbers.get(word);
    if (known !== undefined) return known;
    const size = Buffer.byteLength(word) + 2;
    if (this.words.length === WORDS_MAX || this.bytes + size > BYTES_MAX) return 0;
    this.bytes += size;
    this.words.push(word);
    this.numbers.set(word, this.words.length);
    return this.words.length;
  }

  /** Absent where there is no such number. */
  wordOf(number: number): string | undefined {
    return this.words[number - 1];
  }
}
