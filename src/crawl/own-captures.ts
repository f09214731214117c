/**
 * The contents that this very crawl has stored: those in its digest index, and those that were appended to a file and are
 * not durable yet. So of two equal bodies that arrive together one is stored. What lies elsewhere is left to those who
 * know it.
 */
import {
  type Certainty,
  type KnownCapture,
  type KnownContents,
  type KnownQuestion,
  shareDigest,
} from "../dedup/index.ts";
import type { DigestEntry, DigestIndex } from "../digests/index.ts";
import { equivalentUrl } from "../url/index.ts";

export class OwnCaptures implements KnownContents {
  readonly answers: ReadonlySet<KnownQuestion["by"]>;
  private readonly index: DigestIndex;
  private readonly isOwnFile: (name: string) => boolean;
  /** Appended, but not learned yet, by digest. The last one counts. */
  private readonly recent = new Map<string, DigestEntry>();

  /** `isOwnFile` says whether a WARC file is one of this crawl: then it was written by us, and is in reach. */
  constructor(index: DigestIndex, isOwnFile: (name: string) => boolean) {
    this.index = index;
    // What a URL held before is for others to tell: a crawl fetches each once.
    this.answers = new Set([...index.answers].filter((by) => by !== "url"));
    this.isOwnFile = isOwnFile;
  }

  find(questions: readonly KnownQuestion[]): (KnownCapture | undefined)[] {
    const learned = this.index.find(questions);
    return questions.map((question, i) => {
      const entry = this.findRecent(question) ?? learned[i];
      return entry !== undefined && this.isOwn(entry) ? { ...entry, certainty: "proven" } : undefined;
    });
  }

  private findRecent(question: KnownQuestion): DigestEntry | undefined {
    if (this.recent.size === 0) return undefined;
    const { by, uri } = question;
    if (by === "url") return undefined;
    for (const digest of question.digests) {
      const found = this.recent.get(digest);
      if (found === undefined || !shareDigest(found.digests, question.digests)) continue;
      if (by === "digest" || equivalentUrl(found.uri) === equivalentUrl(uri)) return found;
    }
    return undefined;
  }

  private isOwn({ place }: DigestEntry): boolean {
    return place !== undefined && this.isOwnFile(place.file);
  }

  prove(known: KnownCapture): Certainty | undefined {
    return known.certainty;
  }

  /** It was appended. */
  note(entry: DigestEntry): void {
    for (const digest of entry.digests) this.recent.set(digest, entry);
  }

  /** It is durable: resolves when the index has it, durably. */
  async learn(entries: readonly DigestEntry[]): Promise<void> {
    const learned = this.index.learn(...entries);
    for (const entry of entries) {
      for (const digest of entry.digests) if (this.recent.get(digest) === entry) this.recent.delete(digest);
    }
    await learned;
  }
}
