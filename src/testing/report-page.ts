/** Reads pages of reports, and refuses what is not well formed. */

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface Page {
  readonly tags: readonly Tag[];
  /** Text outside of tags, unescaped. */
  readonly text: string;
}

const VOID = new Set(["meta"]);
const TOKEN =
  /<!doctype html>|<style>(?<style>[^<]*)<\/style>|<\/(?<close>[a-z0-9]+)>|<(?<open>[a-z0-9]+)(?<attributes>(?: [a-zA-Z-]+="[^"<>]*")*)(?<empty>\/?)>|(?<text>[^<>"]+)/gy;

function unescape(text: string): string {
  if (/&(?!#\d+;)/.test(text)) throw new Error(`not escaped: ${text}`);
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

/** Reads a page by a grammar much narrower than that of HTML; what does not fit it, or is not closed in order, throws. */
export function readPage(page: string): Page {
  const tags: Tag[] = [];
  const open: string[] = [];
  let text = "";
  let end = 0;
  for (const match of page.matchAll(TOKEN)) {
    end = match.index + match[0].length;
    const { close, open: name, attributes = "", empty } = match.groups!;
    if (match.groups!["text"] !== undefined) text += unescape(match.groups!["text"]);
    if (close !== undefined && open.pop() !== close) throw new Error(`</${close}> closes nothing at ${match.index}`);
    if (name === undefined) continue;
    const pairs = [...attributes.matchAll(/ ([a-zA-Z-]+)="([^"]*)"/g)].map(([, key, value]) => [
      key!,
      unescape(value!),
    ]);
    const keys = pairs.map(([key]) => key);
    if (new Set(keys).size !== keys.length) throw new Error(`an attribute twice at ${match.index}`);
    tags.push({ name, attributes: Object.fromEntries(pairs) as Record<string, string> });
    if (empty === "" && !VOID.has(name)) open.push(name);
  }
  if (end !== page.length) throw new Error(`not well formed at ${end}: ${page.slice(end, end + 80)}`);
  if (open.length > 0) throw new Error(`not closed: ${open.join(", ")}`);
  return { tags, text };
}
