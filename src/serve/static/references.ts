/** What archived HTML and CSS refer to, as whoever rewrites or counts it is asked. Every URL is absolute. */

/** `style` and `frame` are documents that refer to more; a script is named, but never shown. */
export type ReferenceKind = "image" | "style" | "font" | "media" | "frame" | "script";

export interface References {
  /** Something that a page loads: its address in the view, or nothing to leave it out. */
  resource(url: string, kind: ReferenceKind): string | undefined;
  /** Where a person may go from it. */
  link(url: string): string | undefined;
}

const WEB = /^(?:https?|ftp):$/;

/** Absolute, without fragment; absent for what is no URL of the web. */
export function resolveUrl(text: string, base: string): URL | undefined {
  try {
    const url = new URL(text.trim(), base);
    return WEB.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

export function isDataUrl(text: string): boolean {
  return /^\s*data:/i.test(text);
}

/** The address of a resource in the view. Small things that a page brings along as `data:` stay, if they are no pages. */
export function resourceAddress(
  text: string,
  base: string,
  kind: ReferenceKind,
  references: References,
): string | undefined {
  if (isDataUrl(text)) return kind === "frame" || kind === "script" ? undefined : text.trim();
  if (text.trim() === "") return undefined;
  const url = resolveUrl(text, base);
  if (url === undefined) return undefined;
  const { hash } = url;
  url.hash = "";
  const address = references.resource(url.href, kind);
  return address === undefined ? undefined : `${address}${hash}`;
}
