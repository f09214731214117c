/**
 * HTML without its scripts, with every reference led elsewhere. It comes out as it goes in, piece by piece, and all text
 * and all values are escaped anew, so that what a browser reads is what was meant here. The wall is the policy that the
 * page is served with; this makes it work behind that wall.
 */
import { Parser } from "htmlparser2";
import { escapeHtml } from "../../markup/index.ts";
import { linkAddress, rewriteAttributes } from "./attributes.ts";
import { rewriteCss } from "./css.ts";
import { type References, resolveUrl, resourceAddress } from "./references.ts";

export interface HtmlOptions {
  /** The archived URL of the page. */
  readonly url: string;
  readonly references: References;
  /** Where links open: the whole window, or the frame they are in. */
  readonly linkTarget: "_top" | "_self";
  /** Says in the page that it leads on by itself, where that was. */
  readonly onRefresh?: ((address: string, url: string) => string) | undefined;
}

const VOID = /^(?:area|base|basefont|bgsound|br|col|embed|frame|hr|img|input|keygen|link|meta|param|source|track|wbr)$/;
/** With all that is in them. */
const GONE = /^(?:script|noembed|noframes|applet|embed|portal|fencedframe)$/;
/** Their content is never text of the page. */
const EMPTY = /^(?:iframe)$/;
/** Raw to a browser; shown as what they mean. */
const RENAMED: Readonly<Record<string, string>> = { xmp: "pre", plaintext: "pre", listing: "pre", object: "span" };
/** Elements of SVG that change attributes over time, without a script. */
const ANIMATIONS = /^(?:animate|set|animatetransform|animatemotion)$/;
const FOREIGN = /^(?:svg|math)$/;
const ELEMENT = /^[a-z][^\s"'<>/=\p{Cc}]{0,100}$/u;
const SRCDOC_DEPTH_MAX = 3;
/** A style longer than this is cut off. */
const STYLE_SIZE_MAX = 1 << 22;

export class HtmlRewriter {
  private readonly options: HtmlOptions;
  private readonly parser: Parser;
  private readonly depth: number;
  private base: string;
  private hasBase = false;
  private out: string[] = [];
  private style: string[] | undefined;
  private styleSize = 0;
  private gone = 0;
  private foreign = 0;
  private hasBegun = false;

  constructor(options: HtmlOptions, depth = 0) {
    this.options = options;
    this.depth = depth;
    this.base = options.url;
    this.parser = new Parser(
      {
        onopentag: (name, attributes) => this.open(name, attributes),
        onclosetag: (name, isImplied) => this.close(name, isImplied),
        ontext: (text) => this.text(text),
        onprocessinginstruction: (name, data) => {
          if (name === "!doctype" && /^!doctype[^<>]{0,500}$/i.test(data)) this.out.push(`<${data}>`);
        },
      },
      { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
    );
  }

  /** What has come out so far of what went in. */
  write(text: string): string {
    this.parser.write(text);
    return this.taken();
  }

  end(): string {
    this.parser.end();
    this.flushStyle();
    return this.taken();
  }

  private taken(): string {
    const text = this.out.join("");
    this.out = [];
    return text;
  }

  private text(text: string): void {
    if (this.gone > 0) return;
    if (this.style === undefined) this.out.push(escapeHtml(text));
    else if (this.styleSize < STYLE_SIZE_MAX) {
      this.style.push(text);
      this.styleSize += text.length;
    }
  }

  private open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === "script") this.noteScript(attributes);
    if (this.gone > 0 || GONE.test(name) || EMPTY.test(name)) {
      if (EMPTY.test(name) && this.gone === 0) this.element(name, attributes);
      this.gone += VOID.test(name) ? 0 : 1;
      return;
    }
    if (!ELEMENT.test(name)) return;
    if (FOREIGN.test(name)) this.foreign++;
    if (name === "base") return this.setBase(attributes["href"]);
    if (name === "meta") return this.meta(attributes);
    if (name === "link") return this.link(attributes);
    if (ANIMATIONS.test(name) && /href|^on/i.test(attributes["attributename"] ?? "")) return;
    if (name === "object" && /^image\//i.test(attributes["type"] ?? "")) this.picture(attributes);
    this.element(name, attributes);
    if (name === "style") [this.style, this.styleSize] = [[], 0];
  }

  private close(name: string, isImplied: boolean): void {
    if (GONE.test(name) || EMPTY.test(name) || this.gone > 0) {
      const wasOutermost = this.gone === 1;
      if (!VOID.test(name)) this.gone = Math.max(0, this.gone - 1);
      if (wasOutermost && EMPTY.test(name)) this.out.push(`</${name}>`);
      return;
    }
    if (name === "style") this.flushStyle();
    if (VOID.test(name) || !ELEMENT.test(name) || ANIMATIONS.test(name)) return;
    // What a browser closes by itself it shall close by its own rules; but not in SVG, where nothing is implied.
    if (!isImplied || this.foreign > 0 || name === "style") this.out.push(`</${RENAMED[name] ?? name}>`);
    if (FOREIGN.test(name)) this.foreign = Math.max(0, this.foreign - 1);
  }

  private element(name: string, attributes: Readonly<Record<string, string>>): void {
    const { references, linkTarget, url } = this.options;
    const kept = rewriteAttributes(name, attributes, this.base, references);
    const isLink = name === "a" || name === "area";
    const link = isLink ? linkAddress(attributes, this.base, url, references) : undefined;
    const shown = isLink ? kept.filter((each) => !/^(?:xlink:)?href$/.test(each.name)) : kept;
    if (link !== undefined) {
      shown.push({ name: "href", value: link.address });
      if (!link.isWithin) shown.push({ name: "target", value: linkTarget });
    }
    if (name === "iframe" && attributes["srcdoc"] !== undefined) {
      shown.push({ name: "srcdoc", value: this.inner(attributes["srcdoc"]) });
    }
    const text = shown.map((each) => ` ${each.name}="${escapeHtml(each.value)}"`).join("");
    const closed = ANIMATIONS.test(name) ? "/" : "";
    this.out.push(`<${RENAMED[name] ?? name}${text}${closed}>`);
    if (!this.hasBegun && (name === "head" || name === "body")) this.begin();
  }

  private begin(): void {
    this.hasBegun = true;
    if (this.depth === 0) this.out.push('<meta charset="utf-8">');
  }

  private inner(srcdoc: string): string {
    if (this.depth >= SRCDOC_DEPTH_MAX) return "";
    const inner = new HtmlRewriter({ ...this.options, url: this.base, onRefresh: undefined }, this.depth + 1);
    return inner.write(srcdoc) + inner.end();
  }

  private setBase(href: string | undefined): void {
    const url = this.hasBase || href === undefined ? undefined : resolveUrl(href, this.options.url);
    if (url === undefined) return;
    this.base = url.href;
    this.hasBase = true;
  }

  private noteScript({ src, href, "xlink:href": other }: Readonly<Record<string, string>>): void {
    const from = src ?? href ?? other;
    if (from !== undefined) resourceAddress(from, this.base, "script", this.options.references);
  }

  /** Of what a page says about itself, only what changes nothing outside of it. */
  private meta(attributes: Readonly<Record<string, string>>): void {
    const { "http-equiv": field = "", content = "", name = "" } = attributes;
    if (/^\s*refresh\s*$/i.test(field)) return this.refresh(content);
    if (/^(?:viewport|color-scheme|theme-color|description|author|keywords|generator)$/i.test(name))
      this.out.push(`<meta name="${escapeHtml(name)}" content="${escapeHtml(content)}">`);
  }

  private refresh(content: string): void {
    const target = /^\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?["']?([^"']*)/i.exec(content)?.[1] ?? "";
    const url = target.trim() === "" ? undefined : resolveUrl(target, this.base);
    const address = url && this.options.references.link(url.href);
    if (url !== undefined && address !== undefined) this.out.push(this.options.onRefresh?.(address, url.href) ?? "");
  }

  private link(attributes: Readonly<Record<string, string>>): void {
    const { rel = "", href = "", media = "", type = "" } = attributes;
    const rels = rel.toLowerCase().split(/\s+/);
    const isStyle = rels.includes("stylesheet") && !rels.includes("alternate");
    if (!isStyle && !rels.includes("icon")) return;
    const address = resourceAddress(href, this.base, isStyle ? "style" : "image", this.options.references);
    if (address === undefined || (isStyle && type !== "" && !/css/i.test(type))) return;
    const kept = media === "" ? "" : ` media="${escapeHtml(media)}"`;
    this.out.push(`<link rel="${isStyle ? "stylesheet" : "icon"}" href="${escapeHtml(address)}"${kept}>`);
  }

  private picture({ data = "" }: Readonly<Record<string, string>>): void {
    const address = resourceAddress(data, this.base, "image", this.options.references);
    if (address !== undefined) this.out.push(`<img src="${escapeHtml(address)}" alt="">`);
  }

  private flushStyle(): void {
    if (this.style === undefined) return;
    const css = rewriteCss(this.style.join(""), this.base, this.options.references);
    this.out.push(css.replace(/<(?=[a-z/!?])/gi, "\\3c "));
    this.style = undefined;
  }
}
