/**
 * The pages of 2018 and 2024: one HTML5 markup, two style sheets. Home, collection, visiting and news were written anew
 * in 2024; most specimen pages and the page about the house were left alone, and are the same bytes in both states.
 */
import { ABOUT, formatDay, HOURS, newsOf, paragraphsOf, specimensOf } from "./texts.mjs";

function layout(title, kind, content, head = "") {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="/style.css">
<link rel="icon" href="/favicon.ico" sizes="32x32">
<link rel="icon" href="/images/mark.svg" type="image/svg+xml">${head}
</head>
<body class="${kind}">
<header class="top">
<a class="brand" href="/"><img src="/images/mark.svg" width="40" height="40" alt=""> <span>The Cabinet of Holotypes</span></a>
<nav><a href="/collection/">Collection</a> <a href="/visiting/">Visiting</a> <a href="/news.html">News</a> <a href="/about.html">About</a></nav>
</header>
<main>
${content}
</main>
<footer><p>4 Lantern Row, Thistle Quay. Entrance in Ropewalk.</p><p><a href="/labels.html">How to read a label</a> · <a href="/files/catalogue.pdf">Catalogue (PDF)</a></p></footer>
</body>
</html>
`;
}

const picture = (s, attributes = "") =>
  `<img src="/images/${s.image}" width="${s.size[0]}" height="${s.size[1]}" alt="${s.alt}"${attributes}>`;

const card = (s) =>
  `<a class="card" href="/collection/${s.slug}.html" data-group="${s.group}">${picture(s)}<h3>${s.name}</h3><p><i>${s.latin}</i></p></a>`;

const newsItem = ([date, title, text]) =>
  `<article class="item"><time datetime="${date}">${formatDay(date)}</time><h3>${title}</h3><p>${text}</p></article>`;

const hours = (year) =>
  `<table class="hours">${HOURS[year].days.map(([day, time]) => `<tr><th>${day}</th><td>${time}</td></tr>`).join("")}</table>`;

const GALLERY = `\n<script src="/gallery.js" defer></script>`;

function home2018() {
  const some = specimensOf(2018);
  return layout(
    "The Cabinet of Holotypes",
    "home",
    `<section class="hero"><div><h1>One of everything.</h1><p>Forty drawers by the harbour, and in each the single specimen that gave a species its name.</p><p><a class="button" href="/collection/">Open a drawer</a> <a class="button quiet" href="/visiting/">Plan a visit</a></p></div><img src="/images/cabinet.svg" width="400" height="480" alt="A tall cabinet with forty drawers, one open"></section>
<section class="cards">${[some[5], some[1], some[2]].map(card).join("\n")}</section>
<section class="strip"><div><h2>Latest</h2>${newsOf(2018, 2).map(newsItem).join("\n")}</div><div><h2>The Drawing Room</h2><p>Agnes Pell's drawings, in the old scullery, until further notice.</p><p><a href="/exhibition/">About the exhibition</a></p></div></section>`,
  );
}

function home2024() {
  const [butterfly, beetle, ammonite, urchin, , glass] = specimensOf(2024);
  const tile = (s, kind) =>
    `<a class="${kind}" href="/collection/${s.slug}.html">${picture(s)}<span>${s.name}<small>Drawer ${s.drawer}</small></span></a>`;
  return layout(
    "The Cabinet of Holotypes",
    "home",
    `<section class="mosaic">
<div class="tile words"><h1>Forty drawers.<br>One of everything.</h1><p>A holotype is the one specimen on which a name rests. We keep forty of them, in a seed merchant's chest, in a narrow house by the sea.</p></div>
${tile(butterfly, "tile tall")}
${tile(glass, "tile")}
${tile(ammonite, "tile")}
${tile(urchin, "tile")}
<div class="tile open"><h2>Open today?</h2>${hours(2024)}<p><a href="/visiting/">How to find us</a></p></div>
${tile(beetle, "tile")}
<div class="tile drawer" data-drawers="/specimens.json" hidden><h2>Not sure where to begin?</h2><p class="told">The drawers are numbered, but nobody starts at one.</p><button type="button">Open another drawer</button><img src="/images/cabinet.svg" width="400" height="480" alt=""></div>
<div class="tile latest"><h2>Latest</h2>${newsOf(2024, 2).map(newsItem).join("\n")}</div>
</section>`,
    `\n<link rel="alternate" type="application/json" href="/specimens.json" title="The open drawers as data">${GALLERY}`,
  );
}

function collection(year) {
  const list = specimensOf(year);
  const groups = ["All", ...new Set(list.map((s) => s.group))];
  const words =
    year === 2018
      ? "Six of our forty drawers, photographed or drawn."
      : 'Six of our forty drawers. The same <a href="/specimens.json">as data</a>.';
  return layout(
    "Collection: The Cabinet of Holotypes",
    "collection",
    `<h1>Collection</h1>
<p class="lead">${words}</p>
<form class="filter" onsubmit="return false"><span>${groups.map((g, i) => `<button type="button" data-show="${g}"${i === 0 ? ' aria-pressed="true"' : ""}>${g}</button>`).join(" ")}</span> <label>Find <input type="search" placeholder="a name"></label></form>
<section class="cards">${list.map(card).join("\n")}</section>
<p class="none" hidden>Nothing in the open drawers. There are thirty-four more in the house.</p>`,
    GALLERY,
  );
}

function specimenPage(s, index, list, year) {
  const before = list[(index + list.length - 1) % list.length];
  const after = list[(index + 1) % list.length];
  return layout(
    `${s.name}: The Cabinet of Holotypes`,
    "specimen",
    `<article class="sheet">
<figure>${picture(s)}<figcaption>Drawer ${s.drawer}. ${s.measure}.</figcaption></figure>
<div class="words"><p class="kicker">${s.group} <span class="type">Holotype</span></p>
<h1>${s.name}</h1>
<p class="latin"><i>${s.latin}</i> ${s.author}</p>
${paragraphsOf(s, year)
  .map((text) => `<p>${text}</p>`)
  .join("\n")}
<dl><dt>Found</dt><dd>${s.found}</dd><dt>Size</dt><dd>${s.measure}</dd></dl></div>
</article>
<nav class="pager"><a href="/collection/${before.slug}.html">← ${before.name}</a> <a href="/collection/${after.slug}.html">${after.name} →</a></nav>`,
  );
}

function visiting(year) {
  const more =
    year === 2018
      ? "<p>The entrance has moved round the corner. There is no step any more, and the bell is lower.</p>"
      : "<p>No step, a low bell, a chair by every window. Dogs of a thoughtful disposition are welcome. On the first Sunday of the month we keep the lights soft and the clocks stopped.</p>";
  return layout(
    "Visiting: The Cabinet of Holotypes",
    "visiting",
    `<h1>Visiting</h1>
<div class="two"><div>${hours(year)}<p>${HOURS[year].fee}</p>${more}<p><a href="/files/visiting.ics">Visiting days for your calendar</a></p></div>
<figure><img src="/images/map.svg" width="480" height="320" alt="Map: from the ferry stage along Lantern Row and left into Ropewalk"><figcaption>From the ferry stage, four minutes on foot.</figcaption></figure></div>`,
  );
}

function news(year) {
  return layout("News: The Cabinet of Holotypes", "news", `<h1>News</h1>\n${newsOf(year, 6).map(newsItem).join("\n")}`);
}

function about() {
  return layout(
    "About: The Cabinet of Holotypes",
    "about",
    `<h1>About</h1>
${ABOUT.map((text, i) => `<p${i === 0 ? ' class="lead"' : ""}>${text}</p>`).join("\n")}
<p>For the press: a <a href="/press/orchard-beetle.png">picture of the beetle</a> that may be printed.</p>`,
  );
}

function exhibition() {
  return layout(
    "The Drawing Room: The Cabinet of Holotypes",
    "exhibition",
    `<h1>The Drawing Room</h1>
<p class="lead">Agnes Pell drew for forty years with one pen.</p>
<figure><img src="/images/mapmakers-spleenwort.svg" width="400" height="320" alt="A pressed fern of four fronds"><figcaption>The fern from the chart house wall, 1903.</figcaption></figure>
<p>In the old scullery we show, until further notice, what she drew of things too small, too large or too dead to photograph. The scullery is lit by the window only, so come before four in winter.</p>`,
  );
}

function specimensAsData() {
  const drawers = specimensOf(2024).map(({ slug, name, latin, author, group, drawer, found, measure, image }) => ({
    drawer,
    name,
    latin,
    author,
    group,
    found,
    measure,
    page: `/collection/${slug}.html`,
    image: `/images/${image}`,
  }));
  return `${JSON.stringify({ title: "The Cabinet of Holotypes", drawers }, undefined, 1)}\n`;
}

const notFound = () =>
  layout(
    "No such drawer",
    "missing",
    `<h1>No such drawer</h1>\n<p class="lead">We have looked. There are forty, and this is not one of them.</p>\n<p><a class="button" href="/collection/">See those that are open</a></p>`,
  );

const gone = () =>
  layout(
    "The Drawing Room has closed",
    "missing",
    `<h1>The Drawing Room has closed</h1>\n<p class="lead">The drawings are in drawer 38 and may be seen on asking.</p>`,
  );

/** Path to HTML (or JSON) text, for 2018 or 2024. */
export function latePages(year) {
  const list = specimensOf(year);
  const pages = {
    "/": year === 2018 ? home2018() : home2024(),
    "/collection/": collection(year),
    "/visiting/": visiting(year),
    "/news.html": news(year),
    "/about.html": about(),
  };
  list.forEach((s, index) => {
    pages[`/collection/${s.slug}.html`] = specimenPage(s, index, list, year);
  });
  if (year === 2018) pages["/exhibition/"] = exhibition();
  return { pages, data: year === 2024 ? specimensAsData() : undefined, notFound: notFound(), gone: gone() };
}
