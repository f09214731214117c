/** What the pages about a collection as a whole have beside the others: columns over time, a slider, marked changes. */
export const VIEWS_STYLE = `
.titled { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .25rem 1.5rem; }
.titled h2 { overflow-wrap: anywhere; }
.csv { font-size: .875rem; color: var(--soft); }
code.long { overflow-wrap: anywhere; }
.counting { display: none; margin-top: 3rem; font-size: 1.0625rem; }
.counting:last-child { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; }
progress { width: 16rem; max-width: 100%; height: .7rem; accent-color: var(--saved); }

.pair .bar { padding: 0; background: none; border: 0; box-shadow: none; }
svg.columns-chart { display: block; overflow: visible; margin-top: .5rem; }
.columns-chart .grid { stroke: var(--line); stroke-width: 1; }
.columns-chart .ground { stroke: var(--kept); stroke-width: 1; }
.columns-chart .tick { fill: var(--soft); font: .75rem var(--sans); font-variant-numeric: tabular-nums; paint-order: stroke; stroke: var(--card); stroke-width: 3px; }
.places { margin: 0; padding: 0; list-style: none; font-size: .875rem; }
.places li { margin: 0 0 .15rem; }

.dates { display: flex; flex-wrap: wrap; gap: .75rem 2rem; align-items: start; margin: 1.5rem 0 1.25rem; }
.slide { flex: 1 1 22rem; display: grid; grid-template: "label button" "range button" "years none" / 1fr max-content; gap: .1rem .8rem; align-items: end; }
.slide .shown { grid-area: label; }
.slide label { color: var(--soft); font-size: .875rem; }
.slide output { color: var(--ink); font: 400 1.25rem/1.2 var(--serif); font-variant-numeric: tabular-nums; margin-left: .25rem; }
.slide input[type="range"] { grid-area: range; width: 100%; height: 2rem; padding: 0; border: 0; background: none; accent-color: var(--saved); }
.slide button { grid-area: button; }
.slide .years { grid-area: years; width: calc(100% - 1rem); margin: 0 .5rem; overflow: visible; fill: var(--soft); font: .75rem var(--sans); }
td time, .tied { white-space: nowrap; }
.tied bdi { overflow-wrap: normal; }
.dated, .between { display: flex; flex-wrap: wrap; gap: .4rem .6rem; align-items: center; }
.dated { margin-top: 1.1rem; }
.between { margin: 1rem 0; }
.dated label, .between label { color: var(--soft); font-size: .875rem; }
.between select { max-width: 100%; }
.folder::before, .leaf::before { display: inline-block; width: 1.4em; color: var(--soft); text-decoration: none; }
.folder { font-weight: 600; }
.folder::before { content: "\\25B8" / ""; }
.leaf::before { content: "\\00B7" / ""; text-align: center; width: 1.4em; }
.tag.appeared, .tag.added { background: var(--ins); color: var(--ins-ink); }
.tag.vanished, .tag.removed { background: var(--del); color: var(--del-ink); }
.tag.changed { background: var(--mark); color: var(--mark-ink); }

:root { --ins: #dcefe5; --ins-ink: #12523d; --del: #f8e1da; --del-ink: #8a2f1b; }
@media (prefers-color-scheme: dark) { :root { --ins: #17392d; --ins-ink: #a6e2c9; --del: #4a2219; --del-ink: #f5b8a6; } }
ins { background: var(--ins); color: var(--ins-ink); text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: .15em; }
del { background: var(--del); color: var(--del-ink); text-decoration: line-through; }
ins a, del a { color: inherit; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem 1.5rem; margin: 1.25rem 0; }
.side { min-width: 0; padding: 1rem 1.25rem 1.1rem; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
.side h2 { font-size: 1.25rem; }
.side dl { margin: .25rem 0 .75rem; font-size: .9375rem; }
.side dl div { display: grid; grid-template-columns: 5.5rem 1fr; gap: 0 .75rem; padding: .15rem 0; }
.side dt { color: var(--soft); }
.side dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.count { padding: 0 .4rem; border-radius: 1rem; background: var(--faint); font-size: .75rem; font-variant-numeric: tabular-nums; }
.notice.note { padding-left: .75rem; }
.diff { margin-top: 1rem; max-height: 70vh; overflow: auto; border: 1px solid var(--line); border-radius: 4px; padding: .5rem 0; }
.diff p, .diff .block { max-width: none; margin: 0; padding: .1rem 1rem; overflow-wrap: anywhere; white-space: pre-wrap; }
.diff.source { font: .8125rem/1.5 var(--mono); }
.diff .skipped { color: var(--soft); font: italic .8125rem/1.6 var(--sans); background: var(--faint); padding: .2rem 1rem; margin: .35rem 0; }
.diff .block { border-left: 4px solid var(--third); background: var(--paper); padding-left: calc(1rem - 4px); margin: .15rem 0; }
.diff .block.added { border-left-color: var(--saved); }
.diff .block.removed { border-left-color: var(--failed); }
.diff ins, .diff del { white-space: pre-wrap; }
.diff .old del { text-decoration-color: color-mix(in srgb, currentColor 45%, transparent); }
.diff .new ins { text-decoration-color: color-mix(in srgb, currentColor 45%, transparent); }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 0 2rem; }
.two > div { min-width: 0; }
h4 { margin: .5rem 0 .25rem; font: 600 .9375rem/1.4 var(--sans); }
.urls { margin: 0; padding: 0; list-style: none; font-size: .9375rem; }
.urls li { margin: .2rem 0; overflow-wrap: anywhere; }
.frames { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; margin-top: .75rem; }
.frames iframe { width: 100%; height: 75vh; border: 1px solid var(--line); border-radius: 4px; background: #fff; }
.frames h3 { margin: 0 0 .35rem; }
@media (max-width: 40rem) {
  .slide { flex-basis: 100%; }
  .years .second { display: none; }
  .dated { margin-top: 0; }
  .frames { grid-template-columns: 1fr; }
  .frames iframe { height: 50vh; }
}
@media print { .dates, .between { display: none; } .diff { max-height: none; border: 0; } .counting { display: none !important; } }
`;
