/**
 * The pages of 2009 and 2013. Both share one markup, as a site does whose style sheet was redone and whose pages were
 * not: a page whose words stayed is the same bytes in both states.
 */
import { ABOUT, formatDay, GUEST_BOOK, HOURS, newsOf, paragraphsOf, specimensOf } from "./texts.mjs";

const DOCTYPE = `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">`;

function layout(title, depth, content, extra = "") {
  const up = "../".repeat(depth);
  return `${DOCTYPE}
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">
<head>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8" />
<title>${title}</title>
<link rel="stylesheet" type="text/css" href="${up}style.css" />
<link rel="shortcut icon" href="/favicon.ico" />${extra}
</head>
<body>
<div id="page">
<div id="header">
<h1><a href="${up}index.html">The Cabinet of Holotypes</a></h1>
<p>Forty drawers, one of everything</p>
</div>
<ul id="menu">
<li><a href="${up}index.html">Welcome</a></li>
<li><a href="${up}collection/">The collection</a></li>
<li><a href="${up}visit.html">Visit us</a></li>
<li><a href="${up}news.html">News</a></li>
<li><a href="${up}about.html">About</a></li>
<li><a href="${up}guestbook.html">Guest book</a></li>
</ul>
<div id="content">
${content}
</div>
<div id="footer"><p>The Cabinet of Holotypes, 4 Lantern Row, Thistle Quay. Please do not lean on the glass.</p></div>
</div>
</body>
</html>
`;
}

const script = (up) => `\n<script type="text/javascript" src="${up}gallery.js"></script>`;

const picture = (s, up, width) =>
  `<img src="${up}images/${s.image}" width="${width}" height="${Math.round((width * s.size[1]) / s.size[0])}" alt="${s.alt}" />`;

const newsItem = ([date, title, text]) =>
  `<div class="item"><h3>${title}</h3>\n<p class="date">${formatDay(date)}</p>\n<p>${text}</p></div>`;

function home2009() {
  const [month] = specimensOf(2009);
  return layout(
    "The Cabinet of Holotypes, Thistle Quay",
    0,
    `<h2>Welcome to the Cabinet</h2>
<div class="plate">${picture(month, "", 300)}
<p>Specimen of the month: the <a href="collection/${month.slug}.html">${month.name}</a>, found asleep on a lighthouse in 1870.</p></div>
<p>In a narrow house on the harbour of Thistle Quay stands a chest of forty drawers. In each drawer lies one specimen: the very one from which its species was first described. The learned word for such a specimen is <em>holotype</em>. We just call them the residents.</p>
<p>Four of the drawers are now open <a href="collection/">on this web site</a>, and all forty are open on Wednesday afternoons and Saturdays. <a href="visit.html">Do come</a>.</p>
<p>If this is your first visit you may like to know <a href="labels.html">how to read a label</a>.</p>
<h2>What is new</h2>
${newsOf(2009, 2).map(newsItem).join("\n")}
<p class="counter">You are visitor <b>0</b><b>1</b><b>8</b><b>4</b><b>2</b>. Best seen with a magnifying glass.</p>`,
  );
}

function home2013() {
  const slides = specimensOf(2013)
    .map(
      (s, i) =>
        `<div class="slide"${i === 0 ? "" : ' style="display: none"'}>${picture(s, "", 400)}<div class="caption"><h2>${s.name}</h2><p><em>${s.latin}</em> ${s.author}</p><p><a class="button" href="collection/${s.slug}.html">Open drawer ${s.drawer}</a></p></div></div>`,
    )
    .join("\n");
  return layout(
    "The Cabinet of Holotypes | Thistle Quay",
    0,
    `<div id="slides">
${slides}
</div>
<div class="columns">
<div class="column"><h2>The cabinet</h2><img class="cabinet" src="images/cabinet.svg" width="150" height="180" alt="A tall cabinet with forty drawers, one open" /><p>Forty drawers, and in each of them the one specimen on which a name rests. <a href="about.html">Read more</a></p></div>
<div class="column"><h2>The Drawing Room</h2><p>New: Agnes Pell's drawings of things too small, too large or too dead to photograph.</p><p><a class="button" href="exhibition/">See the exhibition</a></p><h2>Before you come</h2><p>You may like to know <a href="labels.html">how to read a label</a>, or take our <a href="files/catalogue.pdf">catalogue</a> with you (PDF).</p></div>
<div class="column"><h2>News</h2>
${newsOf(2013, 2).map(newsItem).join("\n")}
<p><a href="news.html">All news</a></p></div>
</div>`,
    script(""),
  );
}

function collection2009() {
  const list = specimensOf(2009);
  return layout(
    "The collection: The Cabinet of Holotypes",
    1,
    `<h2>The collection</h2>
<p>Four of our forty drawers. Point at a small picture and it will appear above; click to go to its page.</p>
<div class="plate wide"><img id="large" src="../images/${list[0].image}" width="400" alt="" /><p id="caption">${list[0].name}</p></div>
<div id="thumbs">
${list.map((s) => `<a href="${s.slug}.html" title="${s.name}">${picture(s, "../", 110)}</a>`).join("\n")}
</div>
<p>There is also a <a href="../files/catalogue.pdf">short catalogue</a> to print out (PDF, four pages).</p>`,
    script("../"),
  );
}

function collection2013() {
  const list = specimensOf(2013);
  const groups = ["All", ...new Set(list.map((s) => s.group))];
  return layout(
    "The collection | The Cabinet of Holotypes",
    1,
    `<h2>The collection</h2>
<p>Five of our forty drawers.</p>
<p id="filter">${groups.map((g, i) => `<a href="#" class="button${i === 0 ? " on" : ""}">${g}</a>`).join("\n")}</p>
<div id="cards">
${list.map((s) => `<div class="card" title="${s.group}"><a href="${s.slug}.html">${picture(s, "../", 240)}<strong>${s.name}</strong></a><br /><em>${s.latin}</em></div>`).join("\n")}
</div>
<p>The same in print: <a href="../files/catalogue.pdf">A Short Catalogue</a> (PDF).</p>`,
    script("../"),
  );
}

function specimenPage(s) {
  return layout(
    `${s.name}: The Cabinet of Holotypes`,
    1,
    `<p class="crumb"><a href="./">The collection</a> &raquo; Drawer ${s.drawer}</p>
<h2>${s.name}</h2>
<p class="latin"><em>${s.latin}</em> ${s.author} <span class="type">TYPE</span></p>
<div class="plate">${picture(s, "../", 380)}</div>
${paragraphsOf(s, 2009)
  .map((text) => `<p>${text}</p>`)
  .join("\n")}
<table class="label" cellspacing="0">
<tr><th>Drawer</th><td>${s.drawer}</td></tr>
<tr><th>Found</th><td>${s.found}</td></tr>
<tr><th>Size</th><td>${s.measure}</td></tr>
</table>
<p><a href="../labels.html">How to read a label</a></p>`,
  );
}

function visit(year) {
  const { days, fee } = HOURS[year];
  return layout(
    "Visit us: The Cabinet of Holotypes",
    0,
    `<h2>Visit us</h2>
<p>4 Lantern Row, Thistle Quay. From the ferry stage turn right and follow the smell of tar.${year === 2009 ? " There is one step, and a bell." : ""}</p>
${year === 2009 ? "" : `<p><img src="images/map.svg" width="480" height="320" alt="Map of Thistle Quay with the way from the ferry stage" /></p>\n`}<table class="label" cellspacing="0">
${days.map(([day, hours]) => `<tr><th>${day}</th><td>${hours}</td></tr>`).join("\n")}
</table>
<p>${fee}</p>
<p>Our visiting days <a href="files/visiting.ics">for your calendar</a>.</p>`,
  );
}

function news(year) {
  const title = year === 2009 ? "News" : "News and small events";
  return layout(
    `${title}: The Cabinet of Holotypes`,
    0,
    `<h2>${title}</h2>\n${newsOf(year, 6).map(newsItem).join("\n")}`,
  );
}

function about() {
  return layout(
    "About: The Cabinet of Holotypes",
    0,
    `<h2>About the Cabinet</h2>
${ABOUT.map((text) => `<p>${text}</p>`).join("\n")}
<p>For newspapers: a <a href="press/orchard-beetle.png">picture of the beetle</a> that may be printed.</p>`,
  );
}

function guestBook(year) {
  const entries = GUEST_BOOK.filter(([since]) => since <= year).reverse();
  return layout(
    "Guest book: The Cabinet of Holotypes",
    0,
    `<h2>Guest book</h2>
<p>Copied from the book on the table in the hall, with its spelling mended.</p>
${entries.map(([, who, text]) => `<blockquote><p>${text}</p><p class="date">${who}</p></blockquote>`).join("\n")}`,
  );
}

function exhibition() {
  return layout(
    "The Drawing Room: The Cabinet of Holotypes",
    1,
    `<h2>The Drawing Room</h2>
<p>Agnes Pell drew for forty years with one pen. In the old scullery we show, until further notice, what she drew of things too small, too large or too dead to photograph.</p>
<div class="plate wide"><img src="../images/mapmakers-spleenwort.svg" width="400" height="320" alt="A pressed fern of four fronds" /><p>The fern from the chart house wall, 1903.</p></div>
<p>Mind the step. The scullery is lit by the window only, so come before four in winter.</p>`,
  );
}

function notFound() {
  return layout(
    "No such drawer",
    0,
    `<h2>No such drawer</h2>\n<p>We have looked. There are forty, and this is not one of them.</p>\n<p><a href="/">Back to the Cabinet</a></p>`,
  )
    .replaceAll('href="style.css"', 'href="/style.css"')
    .replaceAll(/href="((?:index|visit|news|about|guestbook)\.html|collection\/)"/g, 'href="/$1"');
}

/** Path to HTML text, for 2009 or 2013. */
export function earlyPages(year) {
  const early = year === 2009;
  const pages = {
    "/": early ? home2009() : home2013(),
    "/collection/": early ? collection2009() : collection2013(),
    "/visit.html": visit(year),
    "/news.html": news(year),
    "/about.html": about(),
    "/guestbook.html": guestBook(year),
  };
  for (const s of specimensOf(year)) pages[`/collection/${s.slug}.html`] = specimenPage(s);
  if (!early) pages["/exhibition/"] = exhibition();
  return { pages, notFound: notFound() };
}
