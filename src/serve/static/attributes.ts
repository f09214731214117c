/** Which attributes of HTML and SVG refer to something, which are left out, and how each is rewritten. */
import { rewriteCss } from "./css.ts";
import { type ReferenceKind, type References, resolveUrl, resourceAddress } from "./references.ts";
import { rewriteSrcset } from "./srcset.ts";

/** By element, the attributes that load something. `*` is every element. */
const LOADS: Readonly<Record<string, Readonly<Record<string, ReferenceKind>>>> = {
  "*": { background: "image" },
  img: { src: "image", lowsrc: "image", dynsrc: "image" },
  input: { src: "image" },
  source: { src: "media" },
  video: { src: "media", poster: "image" },
  audio: { src: "media" },
  track: { src: "media" },
  bgsound: { src: "media" },
  iframe: { src: "frame" },
  frame: { src: "frame" },
  image: { href: "image", "xlink:href": "image", src: "image" },
  feimage: { href: "image", "xlink:href": "image" },
  use: { href: "image", "xlink:href": "image" },
};

/**
 * Gone from every element: what sends, what frees, what says where other references begin, and the addresses that no table
 * above knows. Handlers (`on…`) too.
 */
const DROPPED =
  /^(?:on.*|ping|attributionsrc|action|formaction|method|formmethod|target|formtarget|manifest|integrity|nonce|crossorigin|referrerpolicy|sandbox|srcdoc|csp|allow|http-equiv|archive|codebase|classid|code|data|profile|cite|longdesc|xml:base|imagesrcset|download|href|xlink:href|src|srcset|poster|background|lowsrc|dynsrc|is|fetchpriority|charset)$/;

/** Attributes of SVG that may hold `url(…)`. */
const PAINTED = /^(?:fill|stroke|filter|clip-path|mask|marker(?:-start|-mid|-end)?|cursor)$/;

export interface Attribute {
  readonly name: string;
  readonly value: string;
}

const NAME = /^[^\s"'<>/=\p{Cc}]{1,200}$/u;

/** The attributes of an element as the view shows them. Links are whoever calls's own. */
export function rewriteAttributes(
  element: string,
  attributes: Readonly<Record<string, string>>,
  base: string,
  references: References,
): Attribute[] {
  const kept: Attribute[] = [];
  for (const [name, value] of Object.entries(attributes)) {
    if (!NAME.test(name)) continue;
    const kind = LOADS[element]?.[name] ?? LOADS["*"]?.[name];
    const rewritten = kind === undefined ? other(element, name, value, base, references) : value.trim();
    if (rewritten === undefined) continue;
    if (kind === undefined) kept.push({ name, value: rewritten });
    else if (rewritten.startsWith("#")) kept.push({ name, value: rewritten });
    else {
      const address = resourceAddress(value, base, kind, references);
      if (address !== undefined) kept.push({ name, value: address });
    }
  }
  return kept;
}

function other(element: string, name: string, value: string, base: string, references: References): string | undefined {
  if (name === "style" || (PAINTED.test(name) && /url\(/i.test(value))) return rewriteCss(value, base, references);
  if (name === "srcset" && (element === "img" || element === "source")) return rewriteSrcset(value, base, references);
  // Within the page: a gradient, a text along a path.
  if ((name === "href" || name === "xlink:href") && value.trim().startsWith("#")) return value.trim();
  return DROPPED.test(name) ? undefined : value;
}

/** Where an `a` or `area` leads; its own page for a place in it. Absent where it leads nowhere. */
export function linkAddress(
  { href, "xlink:href": other }: Readonly<Record<string, string>>,
  base: string,
  page: string,
  references: References,
): { readonly address: string; readonly isWithin: boolean } | undefined {
  const text = href ?? other;
  const url = text === undefined ? undefined : resolveUrl(text, base);
  if (url === undefined) return undefined;
  const { hash } = url;
  url.hash = "";
  if (hash !== "" && url.href === page) return { address: hash, isWithin: true };
  const address = references.link(url.href);
  return address === undefined ? undefined : { address: `${address}${hash}`, isWithin: false };
}
