/**
 * The sample site in its four states: every resource with the exact status, headers and body it is answered with.
 * Everything is computed from the state alone. The oddities that a web archive has to live with are listed in
 * `samples/README.md`, and each is made in one place here.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { cabinet, fern, map, mark, radiolarian } from "./drawings.mjs";
import { earlyPages } from "./early-pages.mjs";
import { favicon } from "./favicon.mjs";
import { lanternSwallowtail, orchardBeetle } from "./insects.mjs";
import { latePages } from "./late-pages.mjs";
import { catalogue } from "./pdf.mjs";
import { clockmakersAmmonite, marbledPaper, slateCloth, typesettersUrchin } from "./shells.mjs";
import { calendar, LABELS_PAGE } from "./texts.mjs";

export const HOST = "cabinet.example";

/** `publishedAt` is when the state's changes went online, some time before the crawl. */
export const STATES = [
  { name: "2009", capturedAt: "2009-05-14T09:30:00Z", publishedAt: "2009-05-03T11:00:00Z" },
  { name: "2013", capturedAt: "2013-09-03T14:05:00Z", publishedAt: "2013-08-25T16:20:00Z" },
  { name: "2018", capturedAt: "2018-03-21T08:15:00Z", publishedAt: "2018-03-11T19:45:00Z" },
  { name: "2024", capturedAt: "2024-06-12T16:40:00Z", publishedAt: "2024-05-19T07:10:00Z" },
];

/** A page that never was, for the crawler to ask for. */
export const MISSING_PATH = "/collection/drawer-41.html";

const TYPES = {
  html: "text/html; charset=utf-8",
  css: "text/css",
  js: "application/javascript",
  json: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  ico: "image/x-icon",
  pdf: "application/pdf",
  ics: "text/calendar; charset=utf-8",
  txt: "text/plain",
};

const pictures = new Map();

/** Painting takes a second or two a plate, and most plates are the same in every state. */
function once(name, make) {
  if (!pictures.has(name)) pictures.set(name, make());
  return pictures.get(name);
}

const asset = (name) => readFileSync(new URL(`assets/${name}`, import.meta.url));

/** Path to body, for everything answered with 200. */
function bodiesOf(year) {
  const { pages, data } = year < 2018 ? earlyPages(year) : latePages(year);
  const lamp = once("beetle, lamp", () => orchardBeetle("lamp"));
  const bodies = {
    ...pages,
    "/labels.html": LABELS_PAGE,
    "/robots.txt": "User-agent: *\nCrawl-delay: 2\nDisallow: /keeper/\n",
    "/favicon.ico": once("favicon", favicon),
    "/style.css": asset(`style-${year}.css`),
    "/gallery.js": asset(`gallery-${Math.min(year, 2018)}.js.txt`),
    "/files/catalogue.pdf": catalogue(year < 2018 ? 2009 : 2018),
    "/files/visiting.ics": calendar(year),
    "/images/lantern-swallowtail.png": once("swallowtail", lanternSwallowtail),
    "/images/orchard-beetle.png": year < 2018 ? lamp : once("beetle, window", () => orchardBeetle("window")),
    "/images/clockmakers-ammonite.png": once("ammonite", clockmakersAmmonite),
    "/images/typesetters-urchin.png": once("urchin", typesettersUrchin),
    "/press/orchard-beetle.png": lamp,
  };
  if (year < 2018) bodies["/images/marbled-paper.png"] = once("marbled", marbledPaper);
  if (year === 2013) bodies["/images/slate-cloth.png"] = once("slate", slateCloth);
  if (year >= 2013) {
    bodies["/images/cabinet.svg"] = cabinet();
    bodies["/images/mapmakers-spleenwort.svg"] = fern();
    bodies["/images/map.svg"] = map(year < 2018 ? "lantern row" : "ropewalk");
  }
  if (year >= 2018) {
    bodies["/images/glaziers-radiolarian.svg"] = radiolarian();
    bodies["/images/mark.svg"] = mark();
  }
  if (data !== undefined) bodies["/specimens.json"] = data;
  return new Map(Object.entries(bodies).map(([path, body]) => [path, Buffer.from(body)]));
}

const bodies = new Map();

function bodiesOfState(index) {
  if (!bodies.has(index)) bodies.set(index, bodiesOf(Number(STATES[index].name)));
  return bodies.get(index);
}

const httpDate = (ms) => new Date(ms).toUTCString();

/** When the content a path has in a state was first put there: its true Last-Modified. */
function modifiedAt(path, index) {
  const body = bodiesOfState(index).get(path);
  while (
    index > 0 &&
    bodiesOfState(index - 1)
      .get(path)
      ?.equals(body)
  )
    index--;
  const minutes = createHash("sha1").update(path).digest().readUInt16BE(0) % 5000;
  return Date.parse(STATES[index].publishedAt) + minutes * 60_000;
}

/** `body` is what travels: the same file under another content coding has another ETag and the same Last-Modified. */
function validators(path, index, body) {
  const state = STATES[index];
  // Made up on every request by some script: new validators each time, and always the same page.
  if (path === "/labels.html") {
    return [
      ["Last-Modified", httpDate(Date.parse(state.capturedAt))],
      ["ETag", `"labels-${state.name}"`],
    ];
  }
  // Copied over with its old time stamp: new content under the validators of 2009.
  if (path === "/files/visiting.ics") {
    return [
      ["Last-Modified", httpDate(Date.parse(STATES[0].publishedAt))],
      ["ETag", '"visiting-1"'],
    ];
  }
  if (path === "/news.html") return [["Cache-Control", "no-cache"]];
  return [
    ["Last-Modified", httpDate(modifiedAt(path, index))],
    ["ETag", `"${createHash("sha1").update(body).digest("hex").slice(0, 16)}"`],
  ];
}

/** Which answers travel compressed, and which in chunks. One page is chunked in 2013 only, with the same payload. */
function isGzipped(path, year) {
  return (year >= 2013 && /\.(css|js)$/.test(path)) || (year >= 2018 && (path === "/" || path.endsWith(".svg")));
}

function isChunked(path, year) {
  return path === "/news.html" || (year >= 2018 && path === "/") || (year === 2013 && path === "/labels.html");
}

/** The system byte of a gzip header would otherwise name the machine this ran on. */
function gzip(body) {
  const member = gzipSync(body, { level: 9 });
  member[9] = 255;
  return member;
}

function resource(state, path, status, type, fields, body) {
  const year = Number(state.name);
  const gzipped = status === 200 && isGzipped(path, year);
  const chunked = status === 200 && isChunked(path, year);
  const headers = [
    ["Date", httpDate(Date.parse(state.capturedAt))],
    ["Server", `cabinet/${state.name}`],
    ...fields,
    ...(gzipped
      ? [
          ["Content-Encoding", "gzip"],
          ["Vary", "Accept-Encoding"],
        ]
      : []),
    chunked ? ["Transfer-Encoding", "chunked"] : ["Content-Length", String(body.length)],
    ["Content-Type", type],
  ];
  return { path, status, headers, body: new Uint8Array(body), framing: chunked ? "chunked" : "plain" };
}

function redirect(state, path, to) {
  const url = `http://${HOST}${to}`;
  const body = Buffer.from(
    `<html><head><title>Moved</title></head><body>It is <a href="${url}">here</a> now.</body></html>\n`,
  );
  return resource(state, path, 301, "text/html", [["Location", url]], body);
}

/**
 * Every resource of a state, the redirects and the pages that are gone included. Any other path is answered like
 * MISSING_PATH.
 */
export function resourcesOf(state) {
  const index = STATES.findIndex(({ name }) => name === state.name);
  const year = Number(state.name);
  const list = [];
  for (const [path, body] of bodiesOfState(index)) {
    const type = TYPES[path.endsWith("/") ? "html" : path.slice(path.lastIndexOf(".") + 1)];
    const sent = isGzipped(path, year) ? gzip(body) : body;
    list.push(resource(state, path, 200, type, validators(path, index, sent), sent));
  }
  list.push(redirect(state, "/index.html", "/"));
  if (year >= 2018) list.push(redirect(state, "/visit.html", "/visiting/"));
  const { notFound, gone } = year < 2018 ? earlyPages(year) : latePages(year);
  if (year === 2024) list.push(resource(state, "/exhibition/", 410, TYPES.html, [], Buffer.from(gone)));
  list.push(resource(state, MISSING_PATH, 404, TYPES.html, [], Buffer.from(notFound)));
  return list;
}
