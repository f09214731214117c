/** The page at `/api/`: each call, its parameters, and a curl line that works on this server. */
import type { ServerAnswer } from "../../http/index.ts";
import { dataTable, html, type Markup } from "../../markup/index.ts";
import { ENDPOINTS, type Endpoint } from "../api/endpoints.ts";
import { type ExampleValues, exampleTarget, exampleValues } from "../api/examples.ts";
import { openApiDocument } from "../api/openapi.ts";
import { PARAMETERS, type ParameterName } from "../api/parameters.ts";
import type { Asked } from "../route.ts";
import { pageAnswer } from "./shell.ts";

/** Its twin in JSON is the OpenAPI document. */
export async function apiPage(asked: Asked): Promise<ServerAnswer> {
  const { collection, collections, origin } = asked;
  const values = await exampleValues(collection);
  const coll = collections.size > 1 ? collection.name : undefined;
  return pageAnswer(asked, {
    title: "API",
    place: "api",
    json: () => openApiDocument(origin),
    body: ({ root }) => html`<div class="head"><p class="eyebrow">API</p><h1>Ask this archive</h1>
<p class="lead">Every call answers with JSON. Calls that list rows give pages, or stream all rows as lines with <code>format=ndjson</code>. Times are UTC: 1 to 14 digits, ISO 8601, or <code>now</code>.</p>
<nav aria-label="Calls"><ul>${Object.keys(ENDPOINTS).map((name) => html`<li><a href="#${name}"><code>${name}</code></a></li>`)}</ul></nav></div>
<section aria-labelledby="also"><h2 id="also">Also on the wire</h2>
<p>The machine-readable form of this page is <a href="${root}/api/openapi.json">openapi.json</a>. The archive also speaks Memento (RFC 7089), and CDX in the dialects of pywb and of the Wayback Machine:</p>
<pre><code>${alsoThere(origin, collection.name, values)}</code></pre></section>
${Object.entries<Endpoint>(ENDPOINTS).map(([name, endpoint]) => formatCall(name, endpoint, `${origin}${exampleTarget(name, endpoint, values, coll)}`))}`,
  });
}

function alsoThere(origin: string, name: string, { url, time }: ExampleValues): string {
  return [
    `curl -I '${origin}/${name}/${url}'`,
    `curl '${origin}/${name}/timemap/link/${url}'`,
    `curl '${origin}/${name}/${time}id_/${url}'`,
    `curl '${origin}/${name}/cdx?url=${url}'`,
  ].join("\n");
}

function formatCall(name: string, endpoint: Endpoint, address: string): Markup {
  const parameters = [...endpoint.required, ...endpoint.optional];
  return html`<section id="${name}" aria-labelledby="${name}-title"><p class="eyebrow"><code>/api/${name}</code></p><h2 id="${name}-title">${endpoint.summary}</h2>
<p>${spelled(endpoint.description)}</p>
<pre id="${name}-line"><code>${`curl '${address}'`}</code></pre>
<ul class="actions"><li><a href="${address}">Open it<span class="unseen"> (${name})</span></a></li><li><button class="quiet" type="button" data-copy="${name}-line" hidden>Copy</button></li></ul>
<details><summary>${String(parameters.length)} parameters<span class="unseen"> of ${name}</span></summary>${dataTable({
    caption: `Parameters of /api/${name}`,
    kind: "plain",
    titles: ["Parameter", "Meaning"],
    texts: [1],
    rows: parameters.map((parameter) => parameterRow(parameter, endpoint)),
  })}</details></section>
`;
}

function parameterRow(name: ParameterName, { required }: Endpoint) {
  const head = required.includes(name) ? html`<code>${name}</code> (required)` : html`<code>${name}</code>`;
  return { head, cells: [spelled(PARAMETERS[name].description)] };
}

/** What stands between backticks is code. */
function spelled(text: string): Markup[] {
  return text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
