import { describe, expect, it } from "vitest";
import { hostOf, type KeyMatch, keyRange, urlKey } from "./index.ts";

function finds(url: string, match: KeyMatch, other: string): boolean {
  const { from, to } = keyRange(url, match);
  const key = urlKey(other);
  return from <= key && key < to;
}

describe("keyRange", () => {
  it.each<[KeyMatch, string, string, string]>([
    ["exact", "http://www.example.org/A/", "org,example)/a", "org,example)/a\0"],
    ["exact", "urn:x:Y", "urn:x:y", "urn:x:y\0"],
    ["prefix", "http://example.org/a", "org,example)/a", "org,example)/b"],
    ["prefix", "http://example.org/a/", "org,example)/a/", "org,example)/a0"],
    ["prefix", "http://example.org/a/ ", "org,example)/a/", "org,example)/a0"],
    ["prefix", "http://example.org/a#b/", "org,example)/a", "org,example)/b"],
    ["prefix", "http://example.org/a?", "org,example)/a?", "org,example)/a@"],
    ["prefix", "http://example.org/a?b=c/", "org,example)/a?b=c/", "org,example)/a?b=c0"],
    ["prefix", "http://example.org", "org,example)/", "org,example)0"],
    ["prefix", "example.org/", "org,example)/", "org,example)0"],
    ["prefix", "urn:isbn:", "urn:isbn:", "urn:isbn;"],
    ["host", "http://www.example.org/a?b", "org,example)", "org,example*"],
    ["host", "example.org", "org,example)", "org,example*"],
    ["host", " example.org:8080 ", "org,example:8080)", "org,example:8080*"],
    ["host", "localhost:8080/a", "localhost:8080)", "localhost:8080*"],
    ["host", "http://[2001:db8::1]/", "2001:db8::1)", "2001:db8::1*"],
    ["domain", "http://example.org/a", "org,example)", "org,example-"],
    ["domain", "example.org:8080", "org,example)", "org,example-"],
    ["domain", "org", "org)", "org-"],
  ])("%s of %j is from %j to %j", (match, url, from, to) => {
    expect(keyRange(url, match)).toEqual({ from, to });
  });

  it.each<[KeyMatch, string]>([
    ["host", "urn:uuid:1"],
    ["domain", "mailto:a@example.org"],
    ["host", "filedesc://a.arc"],
    ["domain", "  "],
    ["host", "http://"],
  ])("%s of %j is empty: there is no host", (match, url) => {
    const { from, to } = keyRange(url, match);
    expect(to).toBe(from);
  });

  it.each<[KeyMatch, string, string, boolean]>([
    ["exact", "http://example.org/a", "https://www.example.org/A/", true],
    ["exact", "http://example.org/a", "http://example.org/a?b", false],
    ["prefix", "http://example.org/a", "http://example.org/ab", true],
    ["prefix", "http://example.org/a/", "http://example.org/ab", false],
    ["prefix", "http://example.org/a/", "http://example.org/a/b", true],
    ["prefix", "http://example.org/a?", "http://example.org/a?b", true],
    ["prefix", "http://example.org/a?", "http://example.org/ab", false],
    ["host", "http://example.org/", "http://example.org/~z?z", true],
    ["host", "http://example.org/", "http://example.org:8080/", false],
    ["host", "http://example.org/", "http://sub.example.org/", false],
    ["host", "http://example.org/", "http://example.org.example/", false],
    ["domain", "http://example.org/", "http://example.org/~z?z", true],
    ["domain", "http://example.org/", "http://sub.example.org:8080/", true],
    ["domain", "http://example.org/", "http://a.b.example.org/", true],
    ["domain", "http://example.org/", "http://example-2.org/", false],
    ["domain", "http://example.org/", "http://myexample.org/", false],
    ["domain", "http://example.org/", "http://example.com/", false],
    ["domain", "http://example.org/", "http://example.org:8080/", false],
  ])("%s of %j: finds %j: %s", (match, url, other, found) => {
    expect(finds(url, match, other)).toBe(found);
  });

  it("keeps www when keys do", () => {
    expect(keyRange("www.example.org", "host", { stripWww: false }).from).toBe("org,example,www)");
  });
});

describe("hostOf", () => {
  it.each([
    ["http://www2.example.org/a", "example.org"],
    ["http://a.b.example.org:8080/x)/y", "a.b.example.org:8080"],
    ["http://localhost/", "localhost"],
    ["http://localhost:8080/", "localhost:8080"],
    ["http://192.0.2.1:8080/", "192.0.2.1:8080"],
    ["http://[2001:db8::1]/", "2001:db8::1"],
    ["http://[::ffff:192.0.2.1]/", "::ffff:192.0.2.1"],
  ])("of the key of %j is %j", (url, host) => {
    expect(hostOf(urlKey(url))).toBe(host);
  });

  it.each(["-", "dns:example.org", "urn:x)/y", "http:/a", "filedesc://a.arc", ""])("of %j is undefined", (key) => {
    expect(hostOf(key)).toBeUndefined();
  });
});
