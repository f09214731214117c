/** What the pages of a server have beside the kit: the bar on top, boxes to type in, tags, tabs, figures in a row. */
import { KIT_STYLE } from "./style.ts";

export const PAGES_STYLE = `${KIT_STYLE}
body { display: flex; flex-direction: column; min-height: 100vh; }
[hidden] { display: none !important; }
main, footer.page { width: 100%; }
main { flex: 1 0 auto; padding-bottom: 2rem; }
main:focus { outline: none; }
.skip { position: absolute; left: 1rem; top: -4rem; z-index: 2; padding: .5rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 0 0 4px 4px; }
.skip:focus { top: 0; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.top { background: var(--card); border-bottom: 1px solid var(--line); }
.top > div { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1.5rem; max-width: 66rem; margin: 0 auto; padding: .6rem 1.5rem; }
.brand { display: flex; align-items: center; gap: .55rem; font: 400 1.25rem/1 var(--serif); text-decoration: none; }
.brand svg { display: block; }
.mark-a { fill: var(--observed); } .mark-b { fill: var(--presumed-line); } .mark-c { fill: var(--saved); }
.top nav ul { margin: 0; gap: .15rem 1.1rem; font-size: .9375rem; }
.top nav a { display: block; padding: .3rem 0; color: var(--soft); text-decoration: none; border: 0 solid transparent; border-width: 2px 0; }
.eyebrow code { text-transform: none; letter-spacing: 0; }
.top nav a:hover { color: var(--ink); }
.top nav a[aria-current] { color: var(--ink); border-bottom-color: var(--saved); }
.top .find { flex: 1 1 14rem; max-width: 26rem; margin-left: auto; }

h1.url { font: 400 1.75rem/1.25 var(--serif); overflow-wrap: anywhere; text-wrap: wrap; }
.head { padding-top: 2rem; }
.head .lead { margin-top: .6rem; }
.crumb { margin: 0; font-size: .9375rem; color: var(--soft); }
.totals { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; margin: 1.5rem 0 0; }
.totals div { display: flex; flex-direction: column-reverse; }
.totals dt { color: var(--soft); font-size: .875rem; }
.totals dd { margin: 0; font: 400 1.6rem/1.2 var(--serif); font-variant-numeric: tabular-nums; white-space: nowrap; }

input, select, button, .button { font: inherit; color: inherit; }
input, select { min-width: 0; height: 2.4rem; padding: .3rem .7rem; background: var(--paper); border: 1px solid var(--kept); border-radius: 4px; }
input::placeholder { color: var(--soft); opacity: 1; }
button, .button { display: inline-block; min-height: 2.4rem; padding: .3rem 1rem; background: var(--card); border: 1px solid var(--kept); border-radius: 4px; cursor: pointer; text-decoration: none; line-height: 1.7rem; }
button:hover, .button:hover { border-color: var(--ink); }
.primary { background: var(--accent); border-color: var(--accent); color: var(--card); }
.primary:hover { border-color: var(--ink); }
.quiet { min-height: 0; padding: 0; background: none; border: 0; color: inherit; text-decoration: underline; text-decoration-color: var(--kept); text-underline-offset: .2em; line-height: inherit; }
.find { display: flex; gap: .4rem; }
.find .typed { flex: 1 1 auto; position: relative; }
.find .typed input { width: 100%; }
.large { flex-wrap: wrap; margin-top: 1.5rem; align-items: end; }
.large .typed { flex: 1 1 20rem; }
.large input, .large select, .large button { height: 3rem; font-size: 1.0625rem; }
.large label { display: block; margin-bottom: .2rem; color: var(--soft); font-size: .875rem; }
.large .date { flex: 0 1 11rem; }
.large .date input { width: 100%; }
.suggestions { position: absolute; z-index: 3; left: 0; right: 0; top: 100%; margin: .2rem 0 0; padding: .25rem 0; list-style: none; max-height: 22rem; overflow-y: auto; background: var(--card); border: 1px solid var(--kept); border-radius: 4px; box-shadow: 0 6px 18px var(--shade); font-size: .9375rem; }
.suggestions li { display: flex; gap: .6rem; padding: .35rem .7rem; cursor: pointer; overflow-wrap: anywhere; }
.suggestions [aria-selected="true"] { background: var(--faint); box-shadow: inset 3px 0 var(--saved); }
.suggestions .what { flex: none; width: 2.4rem; color: var(--soft); font-size: .8125rem; line-height: 1.45rem; }

.tag { display: inline-block; padding: 0 .45rem; border-radius: 3px; background: var(--faint); color: var(--soft); font-size: .8125rem; line-height: 1.35rem; white-space: nowrap; }
.tag.returned { background: var(--mark); color: var(--mark-ink); }
.tag.failed { background: none; box-shadow: inset 0 0 0 1px var(--failed); color: var(--failed); }
.head .actions { margin-top: 1.25rem; }
.scroll { position: relative; }
.actions { display: flex; flex-wrap: wrap; gap: .2rem .9rem; margin: 0; padding: 0; list-style: none; }
.actions li { margin: 0; }
.tabs { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 0 .75rem; padding: 0; list-style: none; border-bottom: 1px solid var(--line); }
.tabs a { display: block; padding: .3rem 0; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent; margin-bottom: -1px; }
.tabs a[aria-current] { color: var(--ink); border-bottom-color: var(--saved); }
pre { margin: .75rem 0; padding: .7rem .9rem; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--faint); border-radius: 4px; font: .875rem/1.5 var(--mono); }
code { font-family: var(--mono); font-size: .9em; }
pre code { font-size: inherit; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: 0 2rem; align-items: start; }
.columns > * { min-width: 0; }
.links { margin: .5rem 0 0; padding: 0; list-style: none; }
.links li { padding: .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.lanes { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 .75rem; margin-top: 1rem; }
.lanes ol { margin: 0; padding: 0; list-style: none; }
.lanes li { height: 30px; line-height: 30px; font: 400 1rem/30px var(--serif); white-space: nowrap; }
.lanes li.failed, .lanes li.other { color: var(--soft); font: .8125rem/30px var(--sans); }
.lanes svg { display: block; overflow: visible; }
.lanes .axis { grid-column: 2; }
.axis text { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
.grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.observed { fill: var(--observed); } .presumed { fill: var(--presumed-line); }
.lanes a:hover .observed, .lanes a:hover .presumed { fill: var(--saved); }
.tick { fill: none; stroke: var(--ink); stroke-opacity: .55; stroke-width: 1; vector-effect: non-scaling-stroke; pointer-events: none; }
.tick.failed { stroke: var(--failed); stroke-opacity: 1; stroke-width: 1.5; }
.tick.other { stroke-dasharray: 2 2; }
.calendar th, .calendar td { padding: 0; text-align: center; border: 1px solid var(--card); }
.calendar thead th { padding: .2rem 0; font-weight: 400; border-bottom-color: var(--kept); }
.calendar th:first-child { padding-right: .6rem; text-align: left; vertical-align: middle; font-variant-numeric: tabular-nums; }
.calendar td { width: 7.4%; height: 2rem; background: var(--faint); font-variant-numeric: tabular-nums; vertical-align: middle; }
.calendar td:empty { background: none; }
.calendar td a { display: block; line-height: 2rem; text-decoration: none; }
.calendar td a:hover { text-decoration: underline; }
.calendar .shade-1 { background: var(--shade-1); } .calendar .shade-2 { background: var(--shade-2); } .calendar .shade-3 { background: var(--shade-3); } .calendar .shade-4 { background: var(--shade-4); }
.calendar .shade-3 a, .calendar .shade-4 a { color: var(--card); }
.quiet-month { color: var(--soft); }
.versions tbody th { white-space: nowrap; font: 400 1.0625rem/1.3 var(--serif); }
.versions tr:target th, .versions tr:target td { background: var(--mark); }
.actions li:has(details[open]) { flex-basis: 100%; }
.cite { margin: 0; max-width: 34rem; }
.cite pre { margin: .3rem 0; font-size: .8125rem; }
.pager { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin-top: 1rem; }
.notice { border-left: 4px solid var(--third); }

@media (max-width: 40rem) {
  .top > div { padding: .5rem .9rem; gap: .2rem 1rem; }
  .top .find { flex-basis: 100%; max-width: none; margin: .2rem 0 .3rem; }
  .head { padding-top: 1.25rem; }
  h1.url { font-size: 1.35rem; }
  .totals { display: grid; grid-template-columns: 1fr 1fr; gap: .8rem 1rem; }
  .totals dd { font-size: 1.3rem; }
  .large .typed, .large .date { flex-basis: 100%; }
  .large button { width: 100%; }
  .axis .odd { display: none; }
  .versions, .versions caption, .versions tbody, .versions tr, .versions td, .versions th { display: block; }
  .versions thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .versions tr { padding: .7rem 0; border-bottom: 1px solid var(--line); }
  .versions th, .versions td { padding: .1rem 0; border: 0; }
  .versions td { display: flex; gap: .75rem; text-align: left; }
  .versions td::before { content: attr(data-name); flex: none; width: 6.5rem; color: var(--soft); font-size: .8125rem; line-height: 1.35rem; }
  .versions td:last-child { margin-top: .3rem; }
  .versions td:last-child::before { content: none; }
  .calendar { font-size: .75rem; }
  .calendar thead th { font-size: .6875rem; }
}
@media print {
  .top nav, .find, .skip, .actions, .tabs, .pager, button { display: none; }
  .top { border-bottom: 1px solid var(--line); }
  body { display: block; }
}
`;
