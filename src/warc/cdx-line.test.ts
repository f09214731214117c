import { describe, expect, test } from "vitest";
import {
  CDX_9,
  CDX_11,
  CDX_14,
  CDX_NETARCHIVE,
  CDX_PUBLIC,
  detectCdxLayout,
  formatCdxHeader,
  formatCdxLine,
  formatField,
  parseCdxDigest,
  parseCdxHeader,
  parseCdxLine,
} from "./cdx-line.ts";

const ELEVEN =
  "org,example)/a 20140126200624 http://www.example.org/a text/html 200 OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB - - 2258 334 x.warc.gz";

describe("header", () => {
  test.each([
    [" CDX N b a m s k r M S V g", " ", "N b a m s k r M S V g"],
    [" CDX N b a m s k r V g\r\n", " ", "N b a m s k r V g"],
    ["CDX A b e a m s c k r V v D d g M n", " ", "A b e a m s c k r V v D d g M n"],
    ["\tCDX\tN\tb\ta", "\t", "N b a"],
    ["|CDX|N|b|a", "|", "N b a"],
    ["|CDX N b a", "|", "N b a"],
    [" CDX N b ? ö", " ", "N b ? ö"],
    [" CDX N b ", " ", "N b"],
  ])("%j", (line, delimiter, codes) => {
    const layout = parseCdxHeader(line);
    expect(layout?.delimiter).toBe(delimiter);
    expect(layout?.codes).toEqual(codes.split(" "));
  });

  test.each(["", " ", " CDX", "CDX", " CDX ", "xCDXxNxb", "-CDX-N-b", "%CDX%N", " cdx N b", ELEVEN])(
    "not one: %j",
    (line) => {
      expect(parseCdxHeader(line)).toBeUndefined();
    },
  );

  test("is written with the delimiter before it", () => {
    expect(formatCdxHeader(CDX_11)).toBe(" CDX N b a m s k r M S V g");
    expect(formatCdxHeader(parseCdxHeader("\tCDX\tN\tb")!)).toBe("\tCDX\tN\tb");
  });
});

describe("line", () => {
  test("of eleven fields", () => {
    const entry = parseCdxLine(`${ELEVEN}\r\n`, CDX_11)!;
    expect(entry).toEqual({
      urlKey: "org,example)/a",
      timestamp: "20140126200624",
      url: "http://www.example.org/a",
      mime: "text/html",
      status: 200,
      digest: "OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB",
      length: 2258,
      offset: 334,
      file: "x.warc.gz",
    });
    expect(formatCdxLine(entry, CDX_11)).toBe(ELEVEN);
  });

  test("with the original that pywb resolved", () => {
    const line = `${ELEVEN} 900 12 y.warc.gz`;
    const entry = parseCdxLine(line, CDX_14)!;
    expect(entry.extra).toEqual({ "orig.length": "900", "orig.offset": "12", "orig.filename": "y.warc.gz" });
    expect(formatCdxLine(entry, CDX_14)).toBe(line);
  });

  test("of the sixteen letters of Alexa: k, V and the url key have their names, c and v are extra", () => {
    const line =
      "0-0-0c.com/B 20010424210551 209.52.183.152 0-0-0c.com:80/B text/html 200 58670fbe7432c5bed6f3dcd7ea32b221 a725a64ad6bb7112c55ed26c9e4cef63 - 17130110 59129865 1927657 6501523 DE_crawl6.20010424210458 - 5750";
    const layout = parseCdxHeader(" CDX A b e a m s c k r V v D d g M n")!;
    const entry = parseCdxLine(line, layout)!;
    expect(entry).toMatchObject({
      urlKey: "0-0-0c.com/B",
      offset: 17130110,
      digest: "a725a64ad6bb7112c55ed26c9e4cef63",
    });
    expect(entry.extra).toMatchObject({
      e: "209.52.183.152",
      c: "58670fbe7432c5bed6f3dcd7ea32b221",
      v: "59129865",
      n: "5750",
    });
    expect(formatCdxLine(entry, layout)).toBe(line);
  });

  test("of WebCurator: the digest is under c, the time is ISO and becomes digits", () => {
    const layout = parseCdxHeader("CDX b e a m s c v n g")!;
    const entry = parseCdxLine(
      "2008-06-10T15:27:43Z - dns:x.net text/dns - IHCAQRKNNF3EJL36YKE2I7E4XVVK4RMX 431 41 f",
      layout,
    )!;
    expect(entry).toMatchObject({
      timestamp: "20080610152743",
      digest: "IHCAQRKNNF3EJL36YKE2I7E4XVVK4RMX",
      offset: 431,
    });
    expect(parseCdxLine("2008-06-10T15:27:43.5Z - u m - c 1 2 f", layout)?.timestamp).toBe("20080610152743500");
  });

  test("of wget, whose layout has a letter twice", () => {
    const layout = parseCdxHeader(" CDX a b a m s c k r M V g u")!;
    const line = "http://x/ 20120118143120 http://x/ text/html 200 - AAAA - - 0 w.warc <urn:uuid:1>";
    const entry = parseCdxLine(line, layout)!;
    expect(entry).toMatchObject({ url: "http://x/", digest: "AAAA", extra: { u: "<urn:uuid:1>" } });
    expect(formatCdxLine(entry, layout)).toBe(line);
  });

  test("keeps a status, length or offset that is not a whole number", () => {
    const line = "k 20140126200624 u m unk d - - -1 99999999999999999 f";
    const entry = parseCdxLine(line, CDX_11)!;
    expect([entry.status, entry.length, entry.offset]).toEqual([undefined, undefined, undefined]);
    expect(entry.extra).toEqual({ s: "unk", S: "-1", V: "99999999999999999" });
    expect(formatCdxLine(entry, CDX_11)).toBe(line);
  });

  test("with an offset past 4 GiB and a time of 17 digits", () => {
    const line = "k 20140126200624123 u - - - - - 5 9007199254740 f";
    expect(parseCdxLine(line, CDX_11)).toMatchObject({ timestamp: "20140126200624123", offset: 9007199254740 });
  });

  test("a code of the header is never a way to the prototype", () => {
    const layout = parseCdxHeader(" CDX b __proto__ constructor")!;
    const entry = parseCdxLine("20140126200624 x y", layout)!;
    expect(Object.getPrototypeOf(entry.extra)).toBe(Object.prototype);
    expect(formatCdxLine(entry, layout)).toBe("20140126200624 x y");
    expect(formatCdxLine({ timestamp: "20140126200624" }, layout)).toBe("20140126200624 - -");
    expect(formatCdxLine({ timestamp: "20140126200624", extra: {} }, layout)).toBe("20140126200624 - -");
  });

  test.each([
    "",
    "-",
    " CDX N b a m s k r M S V g",
    " CDX N b a m s k r V g",
    ELEVEN.slice(0, -10),
    `${ELEVEN} `,
    `${ELEVEN} 1 2 3`,
    `${ELEVEN}${ELEVEN}`,
    ELEVEN.replace("20140126200624", "2014"),
    ELEVEN.replace("20140126200624", "-"),
    ELEVEN.replace("20140126200624", "9999-12-31T23:59:59-23:59"),
    "This file is to test handling of illegal cdx files now",
  ])("not one of eleven fields: %j", (line) => {
    expect(parseCdxLine(line, CDX_11)).toBeUndefined();
  });

  test("values keep to their fields: blanks, controls and the delimiter are percent-encoded", () => {
    const entry = { urlKey: "a b", timestamp: "20140126200624", url: "http://x/a b\tc\n", mime: "", file: "é.warc" };
    expect(formatCdxLine(entry, CDX_9)).toBe("a%20b 20140126200624 http://x/a%20b%09c%0A - - - - - é.warc");
    expect(formatField("a|b", "|")).toBe("a%7Cb");
    expect(formatField("a¦b", "¦")).toBe("a%C2%A6b");
    expect(formatField("a|b")).toBe("a|b");
  });

  test("a digest is written without its label", () => {
    const line = (digest: string) => formatCdxLine({ timestamp: "20140126200624", digest }, CDX_PUBLIC).split(" ")[5];
    expect(line("sha1:ABC")).toBe("ABC");
    expect(line("sha-256:ab")).toBe("ab");
    expect(line("blake3:ab")).toBe("blake3:ab");
  });
});

describe("a file without header", () => {
  test.each([
    ["eleven", ELEVEN, CDX_11],
    ["nine", "k 20140126200624 u m 200 d - 334 f", CDX_9],
    ["fourteen", `${ELEVEN} - - -`, CDX_14],
    ["the public server", "k 20140126200624 u m 200 d 334", CDX_PUBLIC],
    ["NetarchiveSuite", "http://x/ 80.80.3.197 20040712071248 image/gif 485 x.arc 41839", CDX_NETARCHIVE],
  ])("of %s", (_, line, layout) => {
    expect(detectCdxLayout(line)).toBe(layout);
  });

  test.each(["This file is to test handling of illegal cdx files", 'com,x)/ 20240814070734 {"url":"x"}', ""])(
    "%j",
    (line) => {
      expect(detectCdxLayout(line)).toBeUndefined();
    },
  );

  test.each([10, 12, 13])("of %i fields", (count) => {
    const line = ["k", "20140126200624", ...Array.from({ length: count - 2 }, () => "-")].join(" ");
    expect(detectCdxLayout(line)?.codes).toHaveLength(count);
  });
});

test.each([
  ["3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
  ["da39a3ee5e6b4b0d3255bfef95601890afd80709", "sha1", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
  ["sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
  ["d41d8cd98f00b204e9800998ecf8427e", "md5", "d41d8cd98f00b204e9800998ecf8427e"],
  ["2QOYZWMPACZAJ2MABGMOZ6CCPY======", "md5", "d41d8cd98f00b204e9800998ecf8427e"],
  ["sha-256:" + "e3".repeat(32), "sha256", "e3".repeat(32)],
  ["e3".repeat(32), "sha256", "e3".repeat(32)],
  ["e3".repeat(64), "sha512", "e3".repeat(64)],
])("digest %s", (text, algorithm, hex) => {
  expect(parseCdxDigest(text)).toEqual({ algorithm, hex });
});

test.each(["", "-", "abc", "=".repeat(32), "what:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"])("no digest: %j", (text) => {
  expect(parseCdxDigest(text)).toBeUndefined();
});
