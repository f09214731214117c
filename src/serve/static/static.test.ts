/** Rewriting of HTML and CSS for the static view: what refers to something leads to the archive, what acts is gone. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decoderFor } from "./charset.ts";
import { rewriteCss } from "./css.ts";
import { HtmlRewriter } from "./html.ts";
import type { References } from "./references.ts";
import { rewriteSrcset } from "./srcset.ts";

const BASE = "http://a.example/dir/page.html";
const REFERENCES: References = {
  resource: (url, kind) => (kind === "script" ? undefined : `/S/${url}`),
  link: (url) => `/L/${url}`,
};

const css = (text: string) => rewriteCss(text, BASE, REFERENCES);

function html(text: string, url = BASE): string {
  const rewriter = new HtmlRewriter({
    url,
    references: REFERENCES,
    linkTarget: "_top",
    onRefresh: (address) => `[to ${address}]`,
  });
  return rewriter.write(text) + rewriter.end();
}

describe("CSS", () => {
  it.each([
    ["a{background:url(x.png)}", 'a{background:url("/S/http://a.example/dir/x.png")}'],
    ["a{background:url( 'x.png' )}", 'a{background:url("/S/http://a.example/dir/x.png")}'],
    ['@import "b.css";', '@import "/S/http://a.example/dir/b.css";'],
    ["@import url(b.css) print;", '@import url("/S/http://a.example/dir/b.css") print;'],
    ["a{fill:url(#g)}", "a{fill:url(#g)}"],
    ["a{b:url(data:image/png,x)}", 'a{b:url("data:image/png,x")}'],
    ['a{content:"url(x)"}', 'a{content:"url(x)"}'],
    ["/* url(x) */", "/* url(x) */"],
    ['a{b:image-set("x.png" 1x)}', 'a{b:image-set("/S/http://a.example/dir/x.png" 1x)}'],
    ["a{b:url(\\78.png)}", 'a{b:url("/S/http://a.example/dir/x.png")}'],
    ["a{b:url(javascript:alert(1))}", 'a{b:url("data:,"))}'],
    ["a{b:'</style>'}", "a{b:'</style>'}"],
    ["@media (width <= 40em) and (1px < width){}", "@media (width <= 40em) and (1px < width){}"],
    ["</style><img>", "\\3c /style>\\3c img>"],
  ])("%s", (text, expected) => {
    expect(css(text)).toBe(expected);
  });

  it("takes no longer than its input is long", () => {
    for (const piece of ["url(", "url( ", '"', "/*", "@import ", "\\", "image-set(", 'url("'])
      expect(css(piece.repeat(100_000)).length).toBeGreaterThan(0);
  });
});

it.each([
  ["a.png, b.png 2x", "/S/http://a.example/dir/a.png, /S/http://a.example/dir/b.png 2x"],
  ["a.png 100w,b.png 200w", "/S/http://a.example/dir/a.png 100w, /S/http://a.example/dir/b.png 200w"],
  [" a,b.png 1x , , c.png", "/S/http://a.example/dir/a%2Cb.png 1x, /S/http://a.example/dir/c.png"],
  ["", ""],
])("srcset %s", (text, expected) => {
  expect(rewriteSrcset(text, BASE, REFERENCES)).toBe(expected);
});

describe("HTML", () => {
  it.each([
    ['<img src="x.png" onerror="y()">', '<img src="/S/http://a.example/dir/x.png">'],
    ["<a href=/b?c&amp;d target=x ping=p>t</a>", '<a href="/L/http://a.example/b?c&#38;d" target="_top">t</a>'],
    ['<a href="#x">t</a>', '<a href="#x">t</a>'],
    ['<a href="javascript:x()">t</a>', "<a>t</a>"],
    ["<script src=x.js></script><script>document.write('<img src=y>')</script>t", "t"],
    ["<base href=http://b.example/><img src=x>", '<img src="/S/http://b.example/x">'],
    ["<form action=/post method=post><button formaction=x>b</button></form>", "<form><button>b</button></form>"],
    ['<meta http-equiv=refresh content="0; url=b.html">', "[to /L/http://a.example/dir/b.html]"],
    ['<meta http-equiv="Content-Security-Policy" content="img-src *">', ""],
    [
      "<link rel=preconnect href=//b.example><link rel=stylesheet href=s.css integrity=x>",
      '<link rel="stylesheet" href="/S/http://a.example/dir/s.css">',
    ],
    ['<p style="background:url(x)">', '<p style="background:url(&#34;/S/http://a.example/dir/x&#34;)">'],
    ["<style>a{b:url(x)}</style>", '<style>a{b:url("/S/http://a.example/dir/x")}</style>'],
    ["<iframe src=f.html><b></iframe>", '<iframe src="/S/http://a.example/dir/f.html"></iframe>'],
    [
      "<svg viewBox='0 0 1 1'><image xlink:href=x /><a href=y><set attributeName=href to=z /></a></svg>",
      '<svg viewbox="0 0 1 1"><image xlink:href="/S/http://a.example/dir/x"></image><a href="/L/http://a.example/dir/y" target="_top"></a></svg>',
    ],
    ["<noscript><img src=x></noscript>", '<noscript><img src="/S/http://a.example/dir/x"></noscript>'],
    ["<p>a &lt;script&gt; b", "<p>a &#60;script&#62; b"],
    ["<object data=x.swf><p>none</p></object><embed src=y>", "<span><p>none</p></span>"],
    ["<!doctype html><!-- c --><title>&lt;t</title>", "<!doctype html><title>&#60;t</title>"],
  ])("%s", (text, expected) => {
    expect(html(text)).toBe(expected);
  });

  it("rewrites the document in a srcdoc", () => {
    const text = html('<iframe srcdoc="<script>x</script><img src=x>"></iframe>');
    expect(text).toContain("/S/http://a.example/dir/x");
    expect(text).not.toContain("script");
  });

  it("comes out in the same way, however it goes in", () => {
    const text = '<head><style>a{b:url(x)}</style></head><body><a href="b">t</a><img srcset="x 1x, y 2x"></body>';
    const rewriter = new HtmlRewriter({ url: BASE, references: REFERENCES, linkTarget: "_top" });
    const pieces = Array.from(text, (character) => rewriter.write(character)).join("") + rewriter.end();
    expect(pieces).toBe(html(text));
  });

  it("lets no tag that acts and no foreign address through, whatever it is given", () => {
    const part = fc.constantFrom(
      "<script>",
      "</script>",
      "<style>",
      "</style>",
      "<svg>",
      "</svg>",
      "<a href=//e.example/>",
      "<img src=//e.example/ onerror=x>",
      "<iframe srcdoc='",
      "'>",
      "<math>",
      "<![CDATA[",
      "]]>",
      "<!--",
      "-->",
      "<textarea>",
      "</textarea>",
      "<title>",
      "<noscript>",
      "&lt;img src=//e.example/&gt;",
      "<xmp>",
      "<plaintext>",
      "<base href=//e.example/>",
      '<p style="b:url(//e.example/)">',
      "\0",
      "<template>",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = html(parts.join(""));
        expect(text).not.toMatch(/<(?:script|base|embed)|<[a-z][^>]*\son\w+=/i);
        expect(text.replace(/&#\d+;/g, "")).not.toMatch(/(?:src|href)="(?!\/[SL]\/|#)/);
      }),
    );
  });
});

it.each([
  ["by its mark", Buffer.from("\ufeffé"), "text/html; charset=latin1", "é"],
  ["by the header", Buffer.from([0xe9]), "text/html; charset=iso-8859-1", "é"],
  [
    "by what stands in it",
    Buffer.from('<meta charset="windows-1251">\xe9', "latin1"),
    "text/html",
    '<meta charset="windows-1251">й',
  ],
  ["by what fits", Buffer.from("é"), "text/html", "é"],
  ["else as old browsers did", Buffer.from([0xe9, 0x20]), "text/html", "é "],
  ["not by what is none", Buffer.from("é"), "text/html; charset=nonsense", "é"],
])("characters are found %s", (_, bytes, type, text) => {
  expect(decoderFor(bytes, type).decode(bytes)).toBe(text);
});
