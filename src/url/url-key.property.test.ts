import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { equivalentUrl, hostOf, type KeyMatch, keyRange, urlKey } from "./index.ts";

const MATCHES: readonly KeyMatch[] = ["exact", "prefix", "host", "domain"];

/** Pieces that mean something to us, so that chance puts them together in ways nobody would. */
const PIECES = `http:// https:// HTTP: dns: filedesc www. www1. example .org ü שלום \u200d \ud800 % %25 %2f %3F %ff %C3
  / // /.. /. ? & = # @ : :80 [ ] 1.2 0177 4294967296 ( ) .aspx sid= cfid=1 &cftoken=2 ;`.split(/\s+/);
const PIECE = fc.constantFrom(...PIECES, " ", "\t", "\n", "\0");
const ANYTHING = fc.oneof(
  fc.array(PIECE, { maxLength: 12 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 }).map((codes) => String.fromCharCode(...codes)),
);
const WEB_URL = fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ["http", "https", "ftp"] });

describe("any text", () => {
  it("has a key of printable ASCII", () => {
    fc.assert(
      fc.property(ANYTHING, fc.boolean(), (text, stripWww) => {
        expect(urlKey(text, { stripWww })).toMatch(/^[!-~]+$/);
        expect(equivalentUrl(text)).toMatch(/^[!-~]+$/);
      }),
      { numRuns: 5000 },
    );
  });

  it("is in its own ranges", () => {
    fc.assert(
      fc.property(ANYTHING, fc.constantFrom<KeyMatch>("exact", "prefix"), (text, match) => {
        const { from, to } = keyRange(text, match);
        const isFolder = match === "prefix" && from !== urlKey(text);
        const key = isFolder ? from : urlKey(text);
        expect(from <= key && key < to).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("has ranges in order", () => {
    fc.assert(
      fc.property(ANYTHING, fc.constantFrom(...MATCHES), (text, match) => {
        const { from, to } = keyRange(text, match);
        expect(from <= to).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("web URLs", () => {
  it("have one key, however often they are made from it", () => {
    // Taking `www.` off once more, or the next session id, would not be the same; such URLs are left out.
    const stable = WEB_URL.filter((url) => !/www\d*\.|sid=|cfid=/i.test(url));
    fc.assert(
      fc.property(stable, (url) => {
        const key = urlKey(url);
        const again = `http://${hostOf(key)}${key.slice(key.indexOf(")/") + 1)}`;
        expect(urlKey(again)).toBe(key);
      }),
      { numRuns: 2000 },
    );
  });

  it("have the key of their other spellings", () => {
    fc.assert(
      fc.property(WEB_URL, (url) => {
        const key = urlKey(url);
        expect(urlKey(` ${url}\n`)).toBe(key);
        expect(urlKey(url.replace("://", "://me:secret@"))).toBe(key);
        expect(urlKey(`${url.replace(/#.*/, "")}#elsewhere`)).toBe(key);
        expect(urlKey(url.replaceAll("%", "%25"))).toBe(key);
      }),
      { numRuns: 1000 },
    );
  });

  it("lie in the ranges of their host and of its domains", () => {
    fc.assert(
      fc.property(
        WEB_URL.filter((url) => !/www/i.test(url)),
        (url) => {
          const key = urlKey(url);
          const host = hostOf(key)!;
          for (const range of [keyRange(host, "host"), keyRange(host.replace(/^[^.]*\./, ""), "domain")]) {
            expect(range.from <= key && key < range.to).toBe(true);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("a URL of 400,000 characters takes linear time", () => {
  const session = "abcdefghijklmnopqrstuvwx";
  it.each([
    ["nested escapes", "http://example.org/%", "25"],
    ["nested escapes of the host", "http://%", "25"],
    ["escapes", "http://example.org/?", "%41"],
    ["dots of the host", "http://", ".."],
    ["labels", "http://", "a."],
    ["international labels", "http://", "ü."],
    ["one international label", "http://", "ü"],
    ["combining marks", "http://a", "\u0301\u0316"],
    ["right to left", "http://", "ש"],
    ["digits", "http://", "9"],
    ["digits of the port", "a:", "9"],
    ["dotted digits", "http://", "1."],
    ["schemes", "", "http://"],
    ["colons", "http://a", ":"],
    ["users", "http://", "a@"],
    ["slashes", "http:", "/"],
    ["parents", "http://example.org", "/a/.."],
    ["parents alone", "http://example.org", "/.."],
    ["path sessions", "http://example.org", `/(s(${session}))`],
    ["path sessions before a page", "http://example.org/.aspx?".replace("?", "%3f"), `/(${session})`],
    ["path session groups", "http://example.org/(", `s(${session})`],
    ["pages", `http://example.org/(${session})`, "/.aspx"],
    ["query sessions", "http://example.org/?", "sid="],
    ["query sessions too long", "http://example.org/?sid=", "0"],
    ["cfid", "http://example.org/?&cftoken=&", "cfid=1"],
    ["cftoken", "http://example.org/?cfid=1", "&cftoken="],
    ["parameters", "http://example.org/?", "b&a=1&"],
    ["white space", "", " \t"],
    ["line breaks", "http://example.org/a", "\na"],
    ["path parameters", "http://example.org/", ";/"],
  ])("%s", (_, start, repeated) => {
    const url = start + repeated.repeat(400_000 / repeated.length);
    const begun = performance.now();
    urlKey(url);
    equivalentUrl(url);
    keyRange(url, "domain");
    // Less than a second; anything quadratic takes minutes.
    expect(performance.now() - begun).toBeLessThan(10_000);
  });
});
