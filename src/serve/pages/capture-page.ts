/** `/<coll>/capture?url=…&time=…`: all that is known of one capture: header, digests, and where its record lies. */

import type { ServerAnswer } from "../../http/index.ts";
import { foreign, formatBytes, html, type Markup, timeOf } from "../../markup/index.ts";
import { captureRow, fileName } from "../api/rows.ts";
import { ArchivedHead } from "../replay/archived-head.ts";
import { notesOf, pickMemento } from "../replay/memento-answer.ts";
import type { Asked } from "../route.ts";
import { askedShown } from "./replay-page.ts";
import { pageAnswer } from "./shell.ts";

export async function captureInfoPage(asked: Asked): Promise<ServerAnswer> {
  const { collection } = asked;
  const { memento } = askedShown(asked);
  const { capture } = await pickMemento(collection, memento);
  const opened = await collection.open(capture);
  let fields: (readonly [string, string])[];
  let status: string;
  let notes: string[];
  try {
    const head = new ArchivedHead(opened, capture);
    fields = [...(opened.http?.headers ?? [])];
    status = opened.http?.startLine ?? `${head.status}`;
    notes = notesOf(capture, opened);
  } finally {
    await opened[Symbol.asyncDispose]();
  }
  const facts: (readonly [string, Markup | string | undefined])[] = [
    ["Captured", capture.timeMs === undefined ? "at an unknown time" : timeOf(capture.timeMs, "second")],
    ["Record", capture.type],
    ["Counts as", capture.class],
    ["Media type", capture.mime === undefined ? undefined : foreign(capture.mime)],
    ["Size", capture.size === undefined ? undefined : formatBytes(capture.size)],
    ["SHA-256", capture.sha256 === undefined ? undefined : html`<code>${capture.sha256}</code>`],
    ["SHA-1", capture.sha1 === undefined ? undefined : html`<code>${capture.sha1}</code>`],
    ["Came with", capture.source === undefined ? undefined : foreign(fileName(capture.source))],
    ["Lies in", collection.hasRules ? undefined : html`${foreign(fileName(capture.file))}, at byte ${capture.offset}`],
    ["Notes", notes.length === 0 ? undefined : notes.join("; ")],
  ];
  return pageAnswer(asked, {
    title: `Capture of ${capture.url}`,
    search: capture.url,
    json: () => ({ ...captureRow(capture), http: { status, headers: fields } }),
    body: (
      links,
    ) => html`<div class="head"><p class="crumb"><a href="${links.timeline(capture.url)}">All versions</a></p>
<h1 class="url">${foreign(capture.url)}</h1></div>
<section><h2>Capture</h2>${table(facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])))}</section>
<section><h2>HTTP header</h2><p><code>${foreign(status)}</code></p>${table(fields.map(([name, value]) => [foreign(name), foreign(value, 2000)] as const))}</section>`,
  });
}

function table(rows: readonly (readonly [Markup | string, Markup | string])[]): Markup {
  const shown = rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td class="any">${value}</td></tr>`);
  return html`<div class="scroll" role="region" aria-label="Facts" tabindex="0"><table><tbody>${shown}</tbody></table></div>`;
}
