/**
 * The proof that a revisit of ours can be undone: the record whose place it took is put together from the revisit's own
 * header, the HTTP header in its block and the payload of its original, and has the digest that the revisit tells.
 * Nothing is written; payloads up to some megabytes are held, larger ones are read as often as they are needed.
 */
import {
  ArchiveError,
  createHasher,
  type Digest,
  type DigestAlgorithm,
  equalDigests,
  formatDigest,
  formatPlace,
  parseAlgorithm,
} from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import {
  cutIntoChunks,
  payloadOf,
  type ReplacedRecord,
  replacedBy,
  replacedHead,
  SEPARATOR,
  WarcReader,
  type WarcRecord,
} from "../../warc/index.ts";
import { digestText } from "../capture-line.ts";
import { type Input, openInput } from "../inputs.ts";
import type { ManifestLine } from "../manifest-line.ts";
import { RecordFetcher } from "../record-fetcher.ts";
import { lengthMessage, type PlacedOriginal, type PlacedRecord, type RebuildPair } from "./closure.ts";
import type { FoundProblem } from "./problems.ts";

/** Payloads up to this size are held for all the revisits that refer to them. */
const HELD_SIZE_MAX = 8 << 20;
/** The block of a revisit of ours is an HTTP header. */
const BLOCK_SIZE_MAX = 1 << 20;

/** What a revisit has for the record that it stands for. */
interface OpenRevisit {
  /** Its header, as Latin-1. */
  readonly head: string;
  /** Its own block digest, in whose form the record's is written. */
  readonly blockDigest: string | undefined;
  readonly http: Buffer;
  readonly replaced: ReplacedRecord & { readonly type: string };
}

/** The payload of an original, as often as it is wanted. */
interface OpenPayload {
  readonly size: number;
  read<T>(use: (chunks: Iterable<Uint8Array>) => T): T;
}

/** What came of putting a record together; no problem where it came back as it was. */
interface Rebuilt {
  readonly isClaimTrue: boolean;
  readonly problem: string | undefined;
}

export class Rebuilder implements Disposable {
  /** Revisits from which the record came back as it was. */
  proven = 0;
  private readonly disk: Disk;
  private readonly inputs: readonly Input[];
  private readonly fetcher: RecordFetcher;
  private readonly tell: (problem: FoundProblem) => void;
  private room = Buffer.alloc(0);
  private held: { readonly key: string; readonly payload: OpenPayload } | undefined;

  constructor(disk: Disk, inputs: readonly Input[], tell: (problem: FoundProblem) => void) {
    const byName = new Map(inputs.map((input) => [input.name, input]));
    this.disk = disk;
    this.inputs = inputs;
    this.tell = tell;
    this.fetcher = new RecordFetcher(disk, { locate: (name) => byName.get(name)! });
  }

  /** Pairs of one original should follow one another: its payload is read once for all of them. */
  prove(pair: RebuildPair): void {
    const { revisit, claim, told, others = [] } = pair;
    const say = (code: FoundProblem["code"], message: string) =>
      this.tell({ code, message, file: revisit.file, offset: revisit.offset });
    const first = this.rebuildWith(pair, pair.original);
    let [original, tried] = [pair.original, first];
    for (let i = 0; i < others.length && tried.problem !== undefined; i++) {
      original = others[i]!;
      tried = this.rebuildWith(pair, original);
    }
    const isProven = tried.problem === undefined;
    if (!isProven) [original, tried] = [pair.original, first];
    const { isClaimTrue } = tried;
    if (isProven) this.proven++;
    else say("HT_REVISIT_IRREVERSIBLE", tried.problem!);
    if (!isClaimTrue) {
      say("HT_REVISIT_MISMATCH", `it claims ${claim}, which is not the payload of ${this.place(original)}`);
    }
    if (told === undefined) return;
    // Where the record itself told a wrong length, so does its revisit, and nothing is lost by it.
    const code = isProven ? "HT_HTTP_LENGTH" : "HT_REVISIT_MISMATCH";
    say(code, lengthMessage(told, original.size, this.place(original)));
  }

  /** What the revisit says of itself, and the payload that it leads to. */
  describe({ revisit, original }: RebuildPair) {
    try {
      const { uri, dateText: date } = this.fetch(revisit, ({ uri, dateText }) => ({ uri, dateText }));
      const payload = this.open(original);
      const digest = payload.read((chunks) => digestOfChunks("sha256", chunks));
      return { uri, date, payload: { size: payload.size, digest } };
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return { uri: undefined, date: undefined, payload: undefined };
    }
  }

  /** Puts the record together with the payload of one original. */
  private rebuildWith({ revisit, claim }: RebuildPair, original: PlacedOriginal): Rebuilt {
    let isClaimTrue = claim === undefined;
    try {
      const open = this.fetch(revisit, openRevisit);
      const payload = this.open(original);
      if (open.replaced.chunks !== undefined) checkLayout(open.replaced.chunks, payload.size);
      isClaimTrue ||= holdsFor(claim!, open, payload);
      const found = rebuild(open, payload);
      const { digest } = open.replaced;
      return {
        isClaimTrue,
        problem: equalDigests(found, digest) ? undefined : this.otherRecord(original, found, digest),
      };
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return { isClaimTrue, problem: error.message };
    }
  }

  private otherRecord(original: PlacedRecord, found: Digest, wanted: Digest): string {
    const message = `with the payload of ${this.place(original)} it becomes a record of ${formatDigest(found)}`;
    return `${message}, but it took the place of ${formatDigest(wanted)}`;
  }

  private place({ file, offset }: PlacedRecord): string {
    return formatPlace({ file: this.inputs[file]!.name, offset });
  }

  private open(original: PlacedOriginal): OpenPayload {
    const key = `${original.file}:${original.offset}:${original.inner ?? ""}`;
    if (this.held?.key === key) return this.held.payload;
    this.held = undefined;
    const read: OpenPayload["read"] = (use) =>
      this.fetch(original, (record) => {
        const result = use(payloadOf(record).chunks);
        while (record.read() !== undefined);
        return result;
      });
    let payload: OpenPayload = { size: original.size, read };
    if (original.size <= HELD_SIZE_MAX) {
      const bytes = read((chunks) => this.hold(chunks, original.size));
      payload = { size: bytes.length, read: (use) => use([bytes]) };
    }
    this.held = { key, payload };
    return payload;
  }

  /** The whole payload, in memory that is used again for the next one. */
  private hold(chunks: Iterable<Uint8Array>, sizeMax: number): Buffer {
    if (this.room.length < sizeMax) this.room = Buffer.allocUnsafeSlow(Math.max(sizeMax, 2 * this.room.length));
    let size = 0;
    for (const chunk of chunks) {
      if (size + chunk.length > sizeMax) throw new ArchiveError("HT_VERIFY", "the original changed while it was read");
      this.room.set(chunk, size);
      size += chunk.length;
    }
    return this.room.subarray(0, size);
  }

  private fetch<T>(place: PlacedRecord, use: (record: WarcRecord) => T): T {
    const input = this.inputs[place.file]!;
    if (place.length === undefined) return fetchInside(this.disk, input, place, use);
    return this.fetcher.fetch(lineOf(input.name, place), use).result;
  }

  [Symbol.dispose](): void {
    this.fetcher[Symbol.dispose]();
  }
}

/** A record that shares its member with others is reached through those before it. */
function fetchInside<T>(disk: Disk, input: Input, place: PlacedRecord, use: (record: WarcRecord) => T): T {
  const source = openInput(disk, input);
  try {
    const reader = new WarcReader(source, { start: place.offset });
    let record = reader.next();
    while (record !== undefined && record.offset === place.offset && record.inner !== place.inner) {
      record = reader.next();
    }
    if (record?.offset === place.offset && record.id === place.id) return use(record);
  } finally {
    source.close?.();
  }
  const where = { file: input.name, offset: place.offset };
  throw new ArchiveError("HT_VERIFY", `${formatPlace(where)}: another record than expected`, where);
}

function lineOf(file: string, { offset, length, id }: PlacedRecord): ManifestLine {
  const unknown = undefined;
  return {
    file,
    offset,
    length,
    id,
    uri: unknown,
    date: unknown,
    digest: unknown,
    payloadSize: unknown,
    status: unknown,
    mime: unknown,
    framing: unknown,
    flags: [],
    extension: unknown,
    copy: unknown,
    original: unknown,
  };
}

function openRevisit(record: WarcRecord): OpenRevisit {
  const replaced = replacedBy(record);
  if (replaced === undefined) throw new ArchiveError("HT_VERIFY", "it does not tell what it took the place of");
  const { headers, blockDigest } = record;
  return { head: headers.text, blockDigest, http: Buffer.from(record.readAll(BLOCK_SIZE_MAX)), replaced };
}

/** The body as it was stored. */
function bodyOf({ replaced }: OpenRevisit, chunks: Iterable<Uint8Array>): Iterable<Uint8Array> {
  return replaced.chunks === undefined ? chunks : cutIntoChunks(chunks, replaced.chunks);
}

/** A layout is a stranger's text: it must come to the payload's size and end with its one empty chunk. */
function checkLayout(layout: string, payloadSize: number): void {
  const entries = layout.split("+").map((entry) => {
    const [size = "", count = "1"] = entry.split("*");
    return { size: /^[0-9a-f]{1,13}$/i.test(size) ? Number.parseInt(size, 16) : Number.NaN, count: Number(count) };
  });
  const last = entries.pop();
  const total = entries.reduce((sum, { size, count }) => sum + (size > 0 ? size * count : Number.NaN), 0);
  if (last?.size === 0 && last.count === 1 && total === payloadSize) return;
  const message = `a payload of ${payloadSize} bytes was not cut into the chunks ${layout.slice(0, 60)}`;
  throw new ArchiveError("HT_VERIFY", message);
}

/** The digest of the record that the revisit took the place of, as it comes out. */
function rebuild(revisit: OpenRevisit, payload: OpenPayload): Digest {
  const { replaced, http } = revisit;
  const block = measureBlock(revisit, payload);
  const head = replacedHead(revisit.head, replaced.type, block.size, () => block.digest);
  const whole = createHasher(replaced.digest.algorithm);
  whole.update(Buffer.from(head, "latin1"));
  whole.update(http);
  payload.read((chunks) => {
    for (const piece of bodyOf(revisit, chunks)) whole.update(piece);
  });
  whole.update(SEPARATOR);
  return whole.finish();
}

/** Size and digest of the record's block: both stand in its header. */
function measureBlock(revisit: OpenRevisit, payload: OpenPayload): { size: number; digest: Digest | undefined } {
  const { http, replaced } = revisit;
  const algorithm = revisit.blockDigest === undefined ? undefined : parseAlgorithm(revisit.blockDigest);
  if (algorithm === undefined && replaced.chunks === undefined) {
    return { size: http.length + payload.size, digest: undefined };
  }
  const hasher = algorithm === undefined ? undefined : createHasher(algorithm);
  hasher?.update(http);
  let size = http.length;
  payload.read((chunks) => {
    for (const piece of bodyOf(revisit, chunks)) {
      size += piece.length;
      hasher?.update(piece);
    }
  });
  return { size, digest: hasher?.finish() };
}

/** The claim is that of the payload, or of the record's body as it was stored. */
function holdsFor(claim: string, revisit: OpenRevisit, payload: OpenPayload): boolean {
  const algorithm = parseAlgorithm(claim)!;
  if (payload.read((chunks) => digestOfChunks(algorithm, chunks)) === claim) return true;
  if (revisit.replaced.chunks === undefined) return false;
  return payload.read((chunks) => digestOfChunks(algorithm, bodyOf(revisit, chunks))) === claim;
}

function digestOfChunks(algorithm: DigestAlgorithm, chunks: Iterable<Uint8Array>): string {
  const hasher = createHasher(algorithm);
  for (const piece of chunks) hasher.update(piece);
  return digestText(hasher.finish());
}
