/** Known contents in plain lists: what a digest index answers, without an index. */
import {
  type Certainty,
  type KnownCapture,
  type KnownContents,
  type KnownQuestion,
  shareDigest,
} from "../dedup/index.ts";
import { equivalentUrl } from "../url/index.ts";

export interface MemoryContentsOptions {
  readonly answers?: readonly KnownQuestion["by"][];
  /** Answers come as promises. */
  readonly later?: boolean;
  /** What reading the original of a capture comes to. */
  readonly proof?: (known: KnownCapture) => Certainty | undefined;
}

export class MemoryContents implements KnownContents {
  readonly answers: ReadonlySet<KnownQuestion["by"]>;
  /** How often it was asked. */
  calls = 0;
  private readonly byUrl = new Map<string, KnownCapture[]>();
  private readonly byEquivalent = new Map<string, KnownCapture[]>();
  private readonly byDigest = new Map<string, KnownCapture[]>();
  private readonly options: MemoryContentsOptions;

  constructor(captures: Iterable<KnownCapture>, options: MemoryContentsOptions = {}) {
    this.answers = new Set(options.answers ?? ["url", "equivalent", "digest"]);
    this.options = options;
    const newestFirst = [...captures].sort((one, other) => other.timeMs - one.timeMs);
    for (const capture of newestFirst) {
      append(this.byUrl, capture.uri, capture);
      append(this.byEquivalent, equivalentUrl(capture.uri), capture);
      for (const digest of capture.digests) append(this.byDigest, digest, capture);
    }
  }

  find(questions: readonly KnownQuestion[]) {
    this.calls++;
    const answers = questions.map((question) => (this.answers.has(question.by) ? this.answer(question) : undefined));
    return this.options.later === true ? Promise.resolve(answers) : answers;
  }

  prove(known: KnownCapture) {
    const certainty = this.options.proof === undefined ? known.certainty : this.options.proof(known);
    return this.options.later === true ? Promise.resolve(certainty) : certainty;
  }

  private answer(question: KnownQuestion): KnownCapture | undefined {
    if (question.by === "url") return this.byUrl.get(question.uri)?.[0];
    if (question.by === "equivalent") {
      const like = this.byEquivalent.get(equivalentUrl(question.uri));
      return like?.find(({ digests }) => shareDigest(digests, question.digests));
    }
    const all = question.digests.flatMap((digest) => this.byDigest.get(digest) ?? []);
    const framed = all.filter(({ framing }) => question.framing === undefined || framing === question.framing);
    const key = equivalentUrl(question.uri);
    for (const some of [framed, all]) {
      const own = some.find(({ uri }) => uri === question.uri) ?? some.find(({ uri }) => equivalentUrl(uri) === key);
      if (own !== undefined) return own;
    }
    return framed[0] ?? all[0];
  }
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
