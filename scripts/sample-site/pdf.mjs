/** The catalogue as a PDF, in two editions: a small writer for PDF 1.4, and what it is given to draw. */
import { deflateSync } from "node:zlib";
import { ABOUT, paragraphsOf, specimensOf } from "./texts.mjs";

const FONTS = { roman: "Times-Roman", italic: "Times-Italic", bold: "Times-Bold" };
const SIZE = [420, 595];

/** Text as PDF wants it: Latin-1 with an octal escape for everything outside of ASCII. */
function quote(text) {
  const plain = text.replaceAll("–", "\u0096").replaceAll("’", "'");
  return `(${[...plain]
    .map((c) => (/[\\()]/.test(c) ? `\\${c}` : c > "~" ? `\\${c.charCodeAt(0).toString(8).padStart(3, "0")}` : c))
    .join("")})`;
}

/** Roughly how wide Times sets a text; enough for breaking lines and centring. */
function widthOf(text, size) {
  let units = 0;
  for (const c of text) {
    units += "iljtf.,;:'!|()I ".includes(c) ? 0.29 : "mwMW—".includes(c) ? 0.78 : c >= "A" && c <= "Z" ? 0.68 : 0.465;
  }
  return units * size;
}

function page() {
  const ops = [];
  const self = {
    ops,
    text(x, y, size, font, text, tint = "0.17 0.13 0.09") {
      ops.push(`BT /${font} ${size} Tf ${tint} rg ${x.toFixed(1)} ${y.toFixed(1)} Td ${quote(text)} Tj ET`);
    },
    centre(y, size, font, text, tint) {
      self.text((SIZE[0] - widthOf(text, size)) / 2, y, size, font, text, tint);
    },
    block(x, y, width, size, font, text) {
      let line = "";
      for (const word of text.split(" ")) {
        if (widthOf(`${line} ${word}`, size) > width) {
          self.text(x, y, size, font, line);
          y -= size * 1.42;
          line = word;
        } else line = line === "" ? word : `${line} ${word}`;
      }
      self.text(x, y, size, font, line);
      return y - size * 1.42;
    },
    rule(x1, y1, x2, y2, width = 0.6) {
      ops.push(`0.55 0.18 0.11 RG ${width} w ${x1} ${y1} m ${x2} ${y2} l S`);
    },
  };
  return self;
}

/** The ammonite of the title page, as one long line with its chamber walls. */
function spiral(sheet, cx, cy) {
  const at = (turn, part) => {
    const r = 92 * 1.94 ** (turn - part);
    return `${(cx + Math.cos(turn * 6.2832 + 0.6) * r).toFixed(1)} ${(cy + Math.sin(turn * 6.2832 + 0.6) * r).toFixed(1)}`;
  };
  const line = [];
  for (let i = 0; i <= 180; i++) line.push(`${at(-4.2 + (i / 180) * 4.2, 0)} ${i === 0 ? "m" : "l"}`);
  sheet.ops.push(`0.25 0.18 0.12 RG 1.1 w 1 J ${line.join(" ")} S`);
  sheet.ops.push("0.55 0.18 0.11 RG 0.45 w");
  for (let i = 0; i <= 34; i++) {
    const turn = -i / 17;
    const walls = [];
    for (let k = 0; k <= 8; k++) walls.push(`${at(turn + 0.012 * Math.sin(k * 1.6), k / 8)} ${k === 0 ? "m" : "l"}`);
    sheet.ops.push(`${walls.join(" ")} S`);
  }
}

function entry(sheet, specimen, year, y) {
  sheet.text(54, y, 9, "bold", `DRAWER ${specimen.drawer}`, "0.55 0.18 0.11");
  sheet.rule(54, y - 6, 366, y - 6);
  sheet.text(54, y - 26, 17, "roman", specimen.name);
  sheet.text(54, y - 42, 11, "italic", `${specimen.latin} ${specimen.author}`);
  let at = sheet.block(54, y - 60, 312, 9.5, "roman", `${specimen.found}. ${specimen.measure}.`) - 4;
  for (const paragraph of paragraphsOf(specimen, year)) at = sheet.block(54, at, 312, 10.5, "roman", paragraph) - 4;
  return at;
}

/** `edition` is 2009 or 2018. */
export function catalogue(edition) {
  const title = page();
  title.ops.push(
    "0.984 0.965 0.914 rg 0 0 420 595 re f 0.55 0.18 0.11 RG 1.2 w 28 28 364 539 re S 0.5 w 33 33 354 529 re S",
  );
  title.centre(500, 26, "roman", "A Short Catalogue");
  title.centre(474, 14, "italic", "of the types in the open drawers");
  spiral(title, 206, 330);
  title.centre(130, 13, "roman", "THE CABINET OF HOLOTYPES");
  title.centre(112, 11, "italic", "4 Lantern Row, Thistle Quay");
  title.centre(76, 10, "roman", edition === 2009 ? "First edition, 2009" : "Second edition, enlarged, 2018");

  const preface = page();
  preface.text(54, 520, 18, "roman", "What is kept here");
  preface.rule(54, 510, 366, 510);
  ABOUT.reduce((y, text) => preface.block(54, y, 312, 11, "roman", text) - 8, 486);

  const pages = [title, preface];
  const specimens = specimensOf(edition);
  for (let i = 0; i < specimens.length; i += 2) {
    const sheet = page();
    entry(sheet, specimens[i], edition, 535);
    if (specimens[i + 1]) entry(sheet, specimens[i + 1], edition, 285);
    sheet.centre(30, 9, "roman", String(pages.length + 1));
    pages.push(sheet);
  }
  return writePdf(pages, edition === 2009 ? "20090418" : "20180201");
}

function writePdf(pages, day) {
  const objects = [];
  const add = (body) => objects.push(body);
  const first = 4 + Object.keys(FONTS).length;
  const kids = pages.map((_, i) => `${first + i * 2} 0 R`);
  const fonts = Object.keys(FONTS).map((name, i) => `/${name} ${4 + i} 0 R`);
  add("<< /Type /Catalog /Pages 2 0 R /Lang (en) >>");
  add(
    `<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${pages.length} /MediaBox [0 0 ${SIZE.join(" ")}] /Resources << /Font << ${fonts.join(" ")} >> >> >>`,
  );
  add(`<< /Title (A Short Catalogue) /Author (The Cabinet of Holotypes) /CreationDate (D:${day}120000Z) >>`);
  for (const base of Object.values(FONTS))
    add(`<< /Type /Font /Subtype /Type1 /BaseFont /${base} /Encoding /WinAnsiEncoding >>`);
  for (const [i, sheet] of pages.entries()) {
    add(`<< /Type /Page /Parent 2 0 R /Contents ${first + i * 2 + 1} 0 R >>`);
    const stream = deflateSync(Buffer.from(sheet.ops.join("\n"), "latin1"), { level: 9 });
    add(
      Buffer.concat([
        Buffer.from(`<< /Length ${stream.length} /Filter /FlateDecode >>\nstream\n`),
        stream,
        Buffer.from("\nendstream"),
      ]),
    );
  }
  const parts = [Buffer.from("%PDF-1.4\n%\u00e2\u00e3\u00cf\u00d3\n", "latin1")];
  let length = parts[0].length;
  const offsets = objects.map((body, i) => {
    const start = length;
    const part = Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), Buffer.from(body), Buffer.from("\nendobj\n")]);
    parts.push(part);
    length += part.length;
    return start;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const count = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<< /Size ${count} /Root 1 0 R /Info 3 0 R >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}
