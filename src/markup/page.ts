/**
 * A report as one page of HTML: no script, no link to elsewhere, nothing loaded, and a policy in it that forbids all
 * three. Texts out of archives are shown as text only.
 */
import { createHash } from "node:crypto";
import { PATTERNS } from "./charts.ts";
import { html, Markup } from "./markup.ts";
import { KIT_STYLE } from "./style.ts";

export interface PageSection {
  /** Of its anchor. */
  readonly id: string;
  readonly title: string;
  readonly intro?: string | undefined;
  readonly body: Markup;
}

export interface ReportPage {
  /** What the page is: `deduplication report`. */
  readonly kind: string;
  /** The result in a few words, and in a sentence or two. */
  readonly title: string;
  readonly lead: string;
  /** The result as a picture. */
  readonly figure?: Markup | undefined;
  readonly sections: readonly PageSection[];
  readonly footer: string;
}

export function formatPage({ kind, title, lead, figure, sections, footer }: ReportPage): string {
  // Only this very style sheet is allowed, so that no text that got past the escapes could bring one of its own.
  const styleHash = createHash("sha256").update(KIT_STYLE).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title} \u2013 ${kind}</title>
<style>${new Markup(KIT_STYLE)}</style>
</head>
<body>
${PATTERNS}
<header class="page">
<p class="eyebrow">Holotype ${kind}</p>
<h1>${title}</h1>
<p class="lead">${lead}</p>
${figure}
<nav aria-label="Sections"><ul>${sections.map(({ id, title: name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
</header>
<main>
${sections.map(formatSection)}
</main>
<footer class="page"><p>${footer}</p></footer>
</body>
</html>
`;
  return page.text;
}

function formatSection({ id, title, intro, body }: PageSection): Markup {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${intro === undefined ? undefined : html`<p>${intro}</p>`}
${body}
</section>
`;
}
