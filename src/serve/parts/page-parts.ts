/**
 * What a stored page is put together from: everything that its HTML and CSS refer to, each looked up as replay would look
 * it up, and how far apart in time the parts are. What scripts load is not known from here, and not counted.
 */
import type { Capture } from "../../archive/index.ts";
import { ArchiveError } from "../../base/index.ts";
import { decodeContent, loadZstd } from "../../warc/index.ts";
import type { Collection } from "../collection.ts";
import { ArchivedHead } from "../replay/archived-head.ts";
import { codingsOf } from "../replay/coded.ts";
import { FoundPayload } from "../replay/found-payload.ts";
import { type AskedMemento } from "../replay/memento-answer.ts";
import { type Picked, pick } from "../replay/redirects.ts";
import { decoderFor } from "../static/charset.ts";
import { rewriteCss } from "../static/css.ts";
import { HtmlRewriter } from "../static/html.ts";
import type { ReferenceKind, References } from "../static/references.ts";

export interface Part {
  readonly url: string;
  readonly kind: ReferenceKind;
  /** Absent where there is none. */
  readonly capture: Capture | undefined;
  /** From the time of the page to its own. */
  readonly distanceMs: number | undefined;
  /** Of a page at a moment: it was first seen after that. */
  readonly isAfter: boolean;
}

export interface PageParts {
  readonly parts: readonly Part[];
  /** How far the earliest of all is before the page, and the latest after it. */
  readonly beforeMs: number;
  readonly afterMs: number;
  /** The farthest of them, where it is not close. */
  readonly odd: Part | undefined;
  readonly missing: number;
  readonly after: number;
  readonly scripts: number;
  /** There are more than were looked at. */
  readonly isCut: boolean;
}

const PARTS_MAX = 400;
const DOCUMENTS_MAX = 60;
const DEPTH_MAX = 4;
const HOPS_MAX = 5;
const DOCUMENT_SIZE_MAX = 1 << 23;
/** Parts of one visit come within minutes. */
const ODD_MS = 60 * 60 * 1000;
const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i;

/** `memento` is what replay asks for with every part: the time of the page, or the moment it is pinned to. */
export async function partsOf(
  collection: Collection,
  page: Capture,
  memento: AskedMemento,
  signal: AbortSignal,
): Promise<PageParts> {
  const search = new PartSearch(collection, page, memento, signal);
  await search.read(page, "frame", 0);
  return search.summary();
}

class PartSearch {
  private readonly collection: Collection;
  private readonly page: Capture;
  private readonly memento: AskedMemento;
  private readonly signal: AbortSignal;
  private readonly parts = new Map<string, Part>();
  private documents = 0;
  private isCut = false;

  constructor(collection: Collection, page: Capture, memento: AskedMemento, signal: AbortSignal) {
    this.collection = collection;
    this.page = page;
    this.memento = memento;
    this.signal = signal;
  }

  /** Everything that a document refers to, and what those that are documents refer to. */
  async read(capture: Capture, kind: ReferenceKind, depth: number): Promise<void> {
    if (depth > DEPTH_MAX || this.documents >= DOCUMENTS_MAX || this.signal.aborted) {
      this.isCut = true;
      return;
    }
    this.documents++;
    for (const [url, each] of await referencesOf(this.collection, capture, kind, this.signal)) {
      if (this.parts.has(url)) continue;
      if (this.parts.size >= PARTS_MAX) {
        this.isCut = true;
        return;
      }
      const part = await this.find(url, each);
      this.parts.set(url, part);
      if (part.capture !== undefined && (each === "style" || each === "frame"))
        await this.read(part.capture, each, depth + 1);
    }
  }

  private async find(url: string, kind: ReferenceKind): Promise<Part> {
    const { time, sense } = this.memento;
    let picked: Picked | undefined;
    for (let [at, hop]: [string | undefined, number] = [url, 0]; at !== undefined && hop < HOPS_MAX; hop++) {
      picked = await pick(this.collection, at, time, sense);
      at = picked?.target;
    }
    const capture = picked?.capture;
    const timeMs = capture?.timeMs;
    const distanceMs = timeMs === undefined || this.page.timeMs === undefined ? undefined : timeMs - this.page.timeMs;
    const isAfter = sense === "pinned" && timeMs !== undefined && timeMs > (time.exact?.toMs ?? time.ms);
    return { url, kind, capture, distanceMs, isAfter };
  }

  summary(): PageParts {
    const parts = [...this.parts.values()];
    const distances = parts.flatMap(({ distanceMs }) => distanceMs ?? []);
    const farthest = parts
      .filter(({ distanceMs }) => Math.abs(distanceMs ?? 0) > ODD_MS)
      .toSorted((one, other) => Math.abs(other.distanceMs!) - Math.abs(one.distanceMs!))[0];
    return {
      parts,
      beforeMs: Math.max(0, ...distances.map((distance) => -distance)),
      afterMs: Math.max(0, ...distances),
      odd: farthest,
      missing: parts.filter(({ capture }) => capture === undefined).length,
      after: parts.filter(({ isAfter }) => isAfter).length,
      scripts: parts.filter(({ kind }) => kind === "script").length,
      isCut: this.isCut,
    };
  }
}

/** In the order in which they stand there, each once. None for what cannot be read. */
async function referencesOf(
  collection: Collection,
  capture: Capture,
  kind: ReferenceKind,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReferenceKind>> {
  const found = new Map<string, ReferenceKind>();
  const references: References = {
    resource: (url, each) => {
      if (!found.has(url)) found.set(url, each);
      return undefined;
    },
    link: () => undefined,
  };
  if (kind === "frame" && !HTML.test(capture.mime ?? "")) return found;
  const text = await textOf(collection, capture, kind === "style", signal);
  if (kind === "style") rewriteCss(text, capture.url, references);
  else {
    const rewriter = new HtmlRewriter({ url: capture.url, references, linkTarget: "_self" });
    rewriter.write(text);
    rewriter.end();
  }
  return found;
}

async function textOf(collection: Collection, capture: Capture, isCss: boolean, signal: AbortSignal): Promise<string> {
  try {
    await using opened = await collection.open(capture);
    const head = new ArchivedHead(opened, capture);
    const payload = await FoundPayload.of(opened, signal);
    const codings = codingsOf(head.value("content-encoding"), await payload.start());
    if (codings.includes("zstd")) await loadZstd();
    const body = await payload.body();
    const bytes = body instanceof Uint8Array ? [body] : body;
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of codings.length === 0 ? bytes : decodeContent(bytes, codings)) {
      pieces.push(piece);
      size += piece.length;
      if (size > DOCUMENT_SIZE_MAX) break;
    }
    const all = Buffer.concat(pieces);
    return decoderFor(all, head.contentType, isCss).decode(all);
  } catch (error) {
    // Damaged, or a revisit without its original: what it refers to is not known.
    if (error instanceof ArchiveError) return "";
    throw error;
  }
}
