/** `/<coll>/compare?url=…&a=…&b=…`: two versions of a URL, and what they differ in. */
import { formatTimestamp, systemClock } from "../../../base/index.ts";
import type { ServerAnswer } from "../../../http/index.ts";
import { foreign, formatBytes, formatNumber, formatSecond, html, type Markup } from "../../../markup/index.ts";
import { lifespanRow } from "../../api/rows.ts";
import type { Asked } from "../../route.ts";
import type { PageLinks } from "../links.ts";
import { PageQuery } from "../query.ts";
import { pageAnswer, wantsJson } from "../shell.ts";
import type { TextDiff } from "./diff-lines.ts";
import { diffSection } from "./diff-section.ts";
import { compareTexts } from "./diff-thread.ts";
import { compareFields, compareLists, type FieldDifference, type ListDifference } from "./differences.ts";
import { type ComparedDocument, readDocument } from "./document.ts";
import { fieldsSection, listsSection } from "./lists-section.ts";
import { type SideBySide, sideBySide } from "./side-by-side.ts";
import { askedVersions, type ComparedVersion, type ComparedVersions, stampOf } from "./versions.ts";
import { sourceLines } from "./visible-text.ts";

const VIEWS = ["text", "side", "source", "headers", "links"] as const;
type View = (typeof VIEWS)[number];

const NAMES: Readonly<Record<View, string>> = {
  text: "Text",
  side: "Side by side",
  source: "Source",
  headers: "Headers",
  links: "Links and resources",
};

interface Comparison {
  readonly versions: ComparedVersions;
  readonly before: ComparedDocument;
  readonly after: ComparedDocument;
  readonly text: TextDiff | undefined;
  readonly source: TextDiff | undefined;
  readonly fields: readonly FieldDifference[];
  readonly links: ListDifference;
  readonly resources: ListDifference;
  readonly view: View;
  readonly side: SideBySide | undefined;
}

export async function compareAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection, request } = asked;
  const query = new PageQuery(request, systemClock.now());
  const versions = await askedVersions(asked, query);
  const before = await readDocument(collection, versions.before.capture, request.signal);
  const after = await readDocument(collection, versions.after.capture, request.signal);
  const isPage = before.isHtml && after.isHtml;
  const isText = !before.content.isBinary && !after.content.isBinary;
  const view = query.choice("view", VIEWS) ?? (isPage ? "text" : isText ? "source" : "headers");
  const text = isPage ? await compareTexts({ before: before.lines, after: after.lines }) : undefined;
  const wantsSource = isText && (view === "source" || wantsJson(asked));
  const source = wantsSource
    ? await compareTexts({ before: sourceLines(before.content.text), after: sourceLines(after.content.text) })
    : undefined;
  const comparison: Comparison = {
    versions,
    before,
    after,
    text,
    source,
    fields: compareFields(before, after),
    links: compareLists(before.links, after.links),
    resources: compareLists(before.resources.keys(), after.resources.keys()),
    view,
    side: sideBySide(asked, versions.before, versions.after),
  };
  const { url } = versions;
  return pageAnswer(asked, {
    title: `Compare ${url}`,
    search: url,
    policy: view === "side" ? comparison.side?.policy : undefined,
    json: () => comparisonJson(comparison),
    body: (links) => page(comparison, links),
  });
}

function comparisonJson({ versions, text, source, fields, links, resources }: Comparison): object {
  return {
    url: versions.url,
    before: lifespanRow(versions.before.lifespan),
    after: lifespanRow(versions.after.lifespan),
    sameContent: isSame(versions),
    text: text ?? null,
    source: source ?? null,
    headers: fields.filter(({ before, after }) => before !== after),
    links,
    resources,
  };
}

function isSame({ before, after }: ComparedVersions): boolean {
  return before.lifespan.sha256 === after.lifespan.sha256;
}

function page(comparison: Comparison, links: PageLinks): Markup {
  const { versions, before, after, view } = comparison;
  const { url } = versions;
  const isOne = versions.before.lifespan.birth === versions.after.lifespan.birth;
  const note = isOne
    ? html`<p class="notice note">Both times lead to the same version${versions.count === 1 ? ", the only one that is known" : ""}.</p>`
    : isSame(versions)
      ? html`<p class="notice note">Both versions hold the same bytes; they differ in status or place at most.</p>`
      : undefined;
  return html`<div class="head"><p class="crumb"><a href="${links.timeline(url)}">Timeline</a></p><h1 class="url">${foreign(url)}</h1>
${chooser(versions, view, links)}
<div class="sides">${sideFacts("Before", versions.before, before, links)}${sideFacts("After", versions.after, after, links)}</div>
${note}${tabs(comparison, links)}</div>
<section aria-labelledby="differences"><h2 id="differences">${NAMES[view]}</h2>${cautions(before, after)}
${viewSection(comparison, links)}</section>`;
}

function viewSection(
  { view, text, source, fields, links: linked, resources, before, after, side }: Comparison,
  links: PageLinks,
) {
  if (view === "headers") return fieldsSection(fields);
  if (view === "side")
    return side?.body ?? html`<p>Pages cannot be shown here: the server has no origin for replay.</p>`;
  if (view === "links")
    return [
      listsSection("Links", linked, links),
      listsSection("Resources", resources, links, (url) => after.resources.get(url) ?? before.resources.get(url)),
    ];
  const diff = view === "text" ? text : source;
  if (diff !== undefined) return diffSection(diff, view);
  return html`<p>${view === "text" ? "Only pages of HTML have a text that readers see." : "This is not text; its bytes are not compared."}</p>`;
}

/** What was not compared. */
function cautions(before: ComparedDocument, after: ComparedDocument): Markup[] {
  return [before, after].flatMap(({ content: { isCut, damage } }, i) => {
    const name = i === 0 ? "The version before" : "The version after";
    return [
      ...(isCut ? [html`<p class="notice note">${name} is very long; only its beginning is compared.</p>`] : []),
      ...(damage === undefined ? [] : [html`<p class="notice note">${name}: ${damage}.</p>`]),
    ];
  });
}

function chooser({ url, before, after, choices, count }: ComparedVersions, view: View, links: PageLinks): Markup {
  const select = (name: "a" | "b", label: string, { lifespan }: ComparedVersion) =>
    html`<label for="${name}">${label}</label><select id="${name}" name="${name}">${choices.map((each) => {
      const isChosen = each.birth === lifespan.birth && each.identity === lifespan.identity;
      return html`<option value="${stampOf(each)}"${isChosen ? html` selected` : undefined}>${formatSecond(each.birth)}</option>`;
    })}</select>`;
  const part =
    choices.length < count
      ? html`<p class="note">${formatNumber(choices.length)} of ${formatNumber(count)} changes are in these lists.</p>`
      : undefined;
  return html`<form class="between" action="${links.query("compare", {})}" method="get"><input type="hidden" name="url" value="${url}"><input type="hidden" name="view" value="${view}">
${select("a", "Version of", before)}${select("b", "with that of", after)}<button>Compare</button></form>${part}`;
}

function sideFacts(
  name: string,
  { lifespan, capture }: ComparedVersion,
  document: ComparedDocument,
  links: PageLinks,
): Markup {
  const { birth, end, lastSeen, captures, sha256, payloadSize, status, mime } = lifespan;
  const stamp = formatTimestamp(capture.timeMs ?? birth);
  const until = end === undefined ? "nothing else found since" : `something else found ${formatSecond(end)}`;
  const facts: readonly (readonly [string, Markup | string])[] = [
    ["first seen", html`<a href="${links.replay(formatTimestamp(birth), lifespan.url)}">${formatSecond(birth)}</a>`],
    ["last seen", `${formatSecond(lastSeen)}, ${until}`],
    ["captures", formatNumber(captures)],
    ["title", foreign(document.title, 120)],
    ["answer", html`${status ?? "none"}, ${foreign(mime)}, ${formatBytes(payloadSize)}`],
    [
      "content",
      html`<a href="${links.query(`duplication/${sha256}`, {})}"><code>${sha256.slice(0, 12)}\u2026</code></a>`,
    ],
  ];
  const shown = document.isHtml ? facts : facts.filter(([what]) => what !== "title");
  return html`<div class="side"><h2>${name}</h2><dl>${shown.map(([what, value]) => html`<div><dt>${what}</dt><dd>${value}</dd></div>`)}</dl>
<ul class="actions"><li><a href="${links.replay(stamp, lifespan.url)}">View</a></li><li><a href="${links.raw(stamp, lifespan.url)}">Raw</a></li></ul></div>`;
}

function tabs({ versions, view, text, fields, links: linked, resources, side }: Comparison, links: PageLinks): Markup {
  const counts: Readonly<Record<View, number | undefined>> = {
    text: text === undefined ? undefined : text.added + text.removed,
    side: undefined,
    source: undefined,
    headers: fields.filter(({ before, after }) => before !== after).length,
    links: linked.added.length + linked.removed.length + resources.added.length + resources.removed.length,
  };
  const { url, before, after } = versions;
  const [a, b] = [stampOf(before.lifespan), stampOf(after.lifespan)];
  const shown = VIEWS.filter(
    (each) => (each !== "text" || text !== undefined) && (each !== "side" || side !== undefined),
  );
  return html`<ul class="tabs">${shown.map((each) => {
    const count =
      counts[each] === undefined ? undefined : html` <span class="count">${formatNumber(counts[each])}</span>`;
    const current = each === view ? html` aria-current="page"` : undefined;
    return html`<li><a href="${links.query("compare", { url, a, b, view: each })}"${current}>${NAMES[each]}${count}</a></li>`;
  })}</ul>`;
}
