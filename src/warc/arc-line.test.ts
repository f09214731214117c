import fc from "fast-check";
import { expect, test } from "vitest";
import { type ArcLine, parseArcLine, parseArcVersion } from "./arc-line.ts";

const DATE = "20040105123456";
const V1: ArcLine = { url: "http://x.org/", ip: "192.0.2.1", date: DATE, mime: "text/html", length: 42 };
const V2: ArcLine = { ...V1, status: "200", checksum: "-", location: "-", filename: "IA-0.arc" };

test.each<[name: string, line: string, expected: ArcLine]>([
  ["version 1", `http://x.org/ 192.0.2.1 ${DATE} text/html 42\n`, V1],
  ["no line end", `http://x.org/ 192.0.2.1 ${DATE} text/html 42`, V1],
  ["CR LF and blanks", `http://x.org/ 192.0.2.1 ${DATE} text/html 42 \t\r\n`, V1],
  ["version 2", `http://x.org/ 192.0.2.1 ${DATE} text/html 200 - - 0 IA-0.arc 42\n`, V2],
  [
    "version 2 with checksum, location and a large offset",
    `http://x.org/ 192.0.2.1 ${DATE} text/html 302 abcd http://y/ 1234567890 IA-0.arc 42\n`,
    { ...V2, status: "302", checksum: "abcd", location: "http://y/" },
  ],
  [
    "version 2 without a result code",
    `http://x.org/ 192.0.2.1 ${DATE} text/html - - - 12345 IA-0.arc 42\n`,
    { ...V2, status: "-" },
  ],
  ["version 2 without a mime type", `http://x.org/ 192.0.2.1 ${DATE}  200 - - 0 IA-0.arc 42\n`, { ...V2, mime: "" }],
  [
    "version 2 with parameters",
    `http://x.org/ 192.0.2.1 ${DATE} text/html; charset=utf-8 200 - - 0 IA-0.arc 42\n`,
    { ...V2, mime: "text/html; charset=utf-8" },
  ],
  ["blanks in the URL", `http://x.org/a b  c 192.0.2.1 ${DATE} text/html 42\n`, { ...V1, url: "http://x.org/a b  c" }],
  [
    "a pair of address and date in the URL",
    `http://x.org/?q= 192.0.2.9 20010101000000 x 192.0.2.1 ${DATE} text/html 42\n`,
    { ...V1, url: "http://x.org/?q= 192.0.2.9 20010101000000 x" },
  ],
  [
    "the filedesc",
    `filedesc://IA-0.arc 0.0.0.0 ${DATE} text/plain 76\n`,
    {
      url: "filedesc://IA-0.arc",
      ip: "0.0.0.0",
      date: DATE,
      mime: "text/plain",
      length: 76,
    },
  ],
  ["8 digits", "http://x.org/ 192.0.2.1 20040105 text/html 42\n", { ...V1, date: "20040105" }],
  ["12 digits", "http://x.org/ 192.0.2.1 200401051234 text/html 42\n", { ...V1, date: "200401051234" }],
  ["18 digits", `http://x.org/ 192.0.2.1 ${DATE}0000 text/html 42\n`, { ...V1, date: `${DATE}0000` }],
  ["no date", "http://x.org/ 192.0.2.1 - text/html 42\n", { ...V1, date: "-" }],
  ["no address", `http://x.org/ - ${DATE} text/html 42\n`, { ...V1, ip: "-" }],
  ["the address None", `http://x.org/ None ${DATE} text/html 42\n`, { ...V1, ip: "None" }],
  ["neither address nor date nor type", "http://x.org/ - - - 42\n", { ...V1, ip: "-", date: "-", mime: "-" }],
  ["IPv6", `http://x.org/ 2001:db8::1 ${DATE} text/html 42\n`, { ...V1, ip: "2001:db8::1" }],
  ["IPv6 and IPv4", `http://x.org/ ::ffff:192.0.2.1 ${DATE} text/html 42\n`, { ...V1, ip: "::ffff:192.0.2.1" }],
  ["an empty mime type", `http://x.org/ 192.0.2.1 ${DATE}  42\n`, { ...V1, mime: "" }],
  ["an empty mime type without its blank", `http://x.org/ 192.0.2.1 ${DATE} 42\n`, { ...V1, mime: "" }],
  ["mime -", `http://x.org/ 192.0.2.1 ${DATE} - 42\n`, { ...V1, mime: "-" }],
  ["parameters", `http://x.org/ 192.0.2.1 ${DATE} text/html; a=b 42\n`, { ...V1, mime: "text/html; a=b" }],
  ["a length of 0", `http://x.org/ 192.0.2.1 ${DATE} text/html 0\n`, { ...V1, length: 0 }],
  ["a large length", `http://x.org/ 192.0.2.1 ${DATE} text/html 123456789012\n`, { ...V1, length: 123456789012 }],
  ["another scheme", `dns:x.org 192.0.2.1 ${DATE} text/dns 42\n`, { ...V1, url: "dns:x.org", mime: "text/dns" }],
])("%s", (_, line, expected) => {
  expect(parseArcLine(line)).toEqual(expected);
});

test.each([
  [""],
  ["\n"],
  ["http://x.org/\n"],
  ["http://x.org/ 42\n"],
  [`http://x.org/ 192.0.2.1 ${DATE} text/html\n`],
  [`http://x.org/ 192.0.2.1 ${DATE} text/html -1\n`],
  [`http://x.org/ 192.0.2.1 ${DATE} text/html 1234567890123456\n`],
  [`http://x.org/ 192.0.2 ${DATE} text/html 42\n`],
  ["http://x.org/ 192.0.2.1 2004 5\n"],
  ["http://x.org/ 192.0.2.1 Monday text/html 42\n"],
  [`x.org 192.0.2.1 ${DATE} text/html 42\n`],
  [` http://x.org/ 192.0.2.1 ${DATE} text/html 42\n`],
  ["Content-Length: 42\n"],
  ["HTTP/1.1 200 OK\n"],
])("%j is no header", (line) => {
  const parsed = parseArcLine(line);
  // A year alone is a date of four digits.
  if (line.includes(" 2004 5")) expect(parsed).toMatchObject({ date: "2004", mime: "", length: 5 });
  else expect(parsed).toBeUndefined();
});

const url = fc.webUrl({ withQueryParameters: true });
const mime = fc.constantFrom("", "-", "text/html", "text/html; charset=x", "unk", "200", "1.2.3.4");
const ip = fc.constantFrom("192.0.2.1", "0.0.0.0", "::1", "-");

test("what is written is read as the same", () => {
  fc.assert(
    fc.property(url, ip, mime, fc.nat(), fc.boolean(), (u, i, m, length, wide) => {
      const tail = wide ? " 404 K - 99999 a.arc" : "";
      const expected = { url: u, ip: i, date: DATE, mime: m, length };
      const more = { status: "404", checksum: "K", location: "-", filename: "a.arc" };
      expect(parseArcLine(`${u} ${i} ${DATE} ${m}${tail} ${length}\n`)).toEqual(
        wide ? { ...expected, ...more } : expected,
      );
    }),
  );
});

test("no line makes it throw", () => {
  const piece = fc.constantFrom("http://x/", " ", "-", "1.2.3.4", DATE, "200", "\n", "\r", "::", "9", "text/html", "é");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const parsed = parseArcLine(`a:${pieces.join("")}`);
      if (parsed !== undefined) expect(Number.isSafeInteger(parsed.length)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test("long lines take no more than linear time", () => {
  const size = 1 << 18;
  const patterns = [
    " ",
    "-",
    " -",
    " 200",
    " 1.2.3.4",
    " - 2004",
    " 200 - - 0",
    "a",
    "1",
    ":",
    "1:",
    " ::",
    "1.",
    "\t",
    "\r",
  ];
  for (const pattern of patterns) {
    const filler = pattern.repeat(size / pattern.length);
    for (const line of [`a:${filler}\n`, `a:${filler} 42\n`, `a:${filler} x 42\n`]) parseArcLine(line);
    expect(parseArcLine(`a:${filler}x 1.2.3.4 ${DATE} t 42\n`)).toMatchObject({ length: 42 });
  }
}, 3000);

test.each([
  ["1 1 InternetArchive\nURL IP-address\n", "1"],
  ["2 0 Alexa\n", "2"],
  ["\n1 0 x", "1"],
  ["3 0 x", undefined],
  ["1", undefined],
  ["", undefined],
])("the version in %j", (block, version) => {
  expect(parseArcVersion(block)).toBe(version);
});
