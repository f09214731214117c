/** One of two versions that are compared: its header, its text, what it links to and loads. */
import type { Capture } from "../../../archive/index.ts";
import { isHtml } from "../../api/versions.ts";
import type { Collection } from "../../collection.ts";
import { type ArchivedText, archivedText } from "../../replay/archived-text.ts";
import { rewriteCss } from "../../static/css.ts";
import { HtmlRewriter } from "../../static/html.ts";
import type { ReferenceKind } from "../../static/references.ts";
import { visibleText } from "./visible-text.ts";

/** More of a text is not compared. */
const TEXT_SIZE_MAX = 2 << 20;
const REFERENCES_MAX = 5000;

export interface ComparedDocument {
  readonly content: ArchivedText;
  /** `GET`-like first line apart: `HTTP/1.1 200 OK`; empty where there was no HTTP. */
  readonly statusLine: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly isHtml: boolean;
  readonly title: string | undefined;
  /** What readers see, line by line; of what is no HTML, none. */
  readonly lines: readonly string[];
  readonly links: ReadonlySet<string>;
  readonly resources: ReadonlyMap<string, ReferenceKind>;
}

export async function readDocument(
  collection: Collection,
  capture: Capture,
  signal: AbortSignal,
): Promise<ComparedDocument> {
  await using opened = await collection.open(capture);
  const { http } = opened;
  const content = await archivedText(opened, capture, TEXT_SIZE_MAX, signal);
  const isPage = isHtml(content.contentType ?? capture.mime);
  const { title, lines } = isPage ? visibleText(content.text) : { title: undefined, lines: [] };
  return {
    content,
    statusLine: http?.startLine.trim() ?? "",
    fields: [...(http?.headers ?? [])],
    isHtml: isPage,
    title,
    lines,
    ...referencesOf(content, capture.url, isPage),
  };
}

function referencesOf({ text, contentType }: ArchivedText, url: string, isPage: boolean) {
  const links = new Set<string>();
  const resources = new Map<string, ReferenceKind>();
  const references = {
    resource: (address: string, kind: ReferenceKind) => {
      if (resources.size < REFERENCES_MAX) resources.set(address, kind);
      return undefined;
    },
    link: (address: string) => {
      if (links.size < REFERENCES_MAX) links.add(address);
      return undefined;
    },
  };
  if (isPage) {
    const rewriter = new HtmlRewriter({ url, references, linkTarget: "_self" });
    rewriter.write(text);
    rewriter.end();
  } else if (/^\s*text\/css\b/i.test(contentType ?? "")) rewriteCss(text, url, references);
  return { links, resources };
}
