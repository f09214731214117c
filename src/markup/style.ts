/**
 * The look of reports and pages: quiet paper by day, quiet slate by night, black on white in print. Nothing is loaded.
 * What only the pages of a server have is in pages-style.ts.
 */
export const KIT_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #23282b; --soft: #5c6468; --line: #e0dcd3; --faint: #f0ede6; --shade: #23282b33;
  --kept: #7d97a5; --saved: #1f7a5c; --saved-line: #5fb394; --third: #b98a3a; --third-dot: #f5e3bd;
  --observed: #2b5b73; --presumed: #c3d5dd; --presumed-line: #8fb0c0; --failed: #a3402b; --mark: #fbf0d0; --mark-ink: #6b4a0c; --accent: #1a6a50;
  --shade-1: #dbe8ee; --shade-2: #b4cfdb; --shade-3: #43788f; --shade-4: #2b5b73;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "Book Antiqua", Georgia, serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", sans-serif;
  --mono: ui-monospace, "SFMono-Regular", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #171a1c; --card: #1e2225; --ink: #e4e2dc; --soft: #a3a9ab; --line: #33393c; --faint: #262b2e; --shade: #000000aa;
    --kept: #6f8a99; --saved: #3fa480; --saved-line: #23664e; --third: #d0a458; --third-dot: #5f4518;
    --observed: #7fb2ca; --presumed: #2d4550; --presumed-line: #4c7183; --failed: #e58a72; --mark: #43361a; --mark-ink: #f0d596; --accent: #6cc7a5;
    --shade-1: #263a44; --shade-2: #33525f; --shade-3: #6fa3ba; --shade-4: #8fc0d6;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 var(--sans); }
main, header.page, footer.page { max-width: 66rem; margin: 0 auto; padding: 0 1.5rem; }
header.page { padding-top: 3rem; }
footer.page { padding-top: 1rem; padding-bottom: 3rem; color: var(--soft); font-size: .875rem; }
.patterns { position: absolute; }
.eyebrow { margin: 0; color: var(--soft); font-size: .875rem; letter-spacing: .08em; text-transform: uppercase; }
h1 { margin: .35rem 0 0; font: 400 3.25rem/1.1 var(--serif); letter-spacing: -.01em; text-wrap: balance; }
.lead { max-width: 44rem; margin: 1rem 0 0; font-size: 1.125rem; }
h2 { margin: 0 0 .35rem; font: 400 1.6rem/1.25 var(--serif); }
h3 { margin: 1.75rem 0 .35rem; font: 600 1rem/1.4 var(--sans); }
section { margin-top: 2rem; padding: 1.5rem 1.75rem 1.6rem; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
p { margin: .5rem 0; max-width: 46rem; }
.note, figcaption { color: var(--soft); font-size: .875rem; }
.none { color: var(--soft); font-style: italic; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 1.5rem 0 0; padding: 0; list-style: none; font-size: .9375rem; }
a { color: inherit; text-decoration-color: var(--kept); text-underline-offset: .2em; }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--saved); outline-offset: 2px; }

figure { margin: 1rem 0 0; }
header.page figure { margin-top: 2rem; }
.pair { display: grid; grid-template: "what bar value" / 3.6rem 1fr max-content; gap: 0 1rem; align-items: center; margin-top: .6rem; }
.pair .what { grid-area: what; font-size: .9375rem; color: var(--soft); }
.pair .value { grid-area: value; min-width: 5rem; font-size: 1.0625rem; font-variant-numeric: tabular-nums; text-align: right; }
.pair .bar { grid-area: bar; height: 2.75rem; }
.stack { height: 2.25rem; }
svg.chart { display: block; border-radius: 3px; }
svg.row-bar { display: block; border-radius: 2px; }
.named { display: grid; grid-template-columns: 11fr 9fr; gap: .3rem 1rem; align-items: center; }
.short .named { grid-template-columns: 6fr 14fr; }
.long .named { grid-template-columns: 1fr; }
.track { fill: var(--faint); }
.kept { fill: var(--kept); }
.saved-ground { fill: var(--saved); } .saved-line { fill: var(--saved-line); }
.third-ground { fill: var(--third); } .third-dot { fill: var(--third-dot); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .75rem 0 0; padding: 0; list-style: none; font-size: .875rem; color: var(--soft); }
.legend svg { vertical-align: -1px; margin-right: .25rem; }

.scroll {
  overflow-x: auto; margin-top: .9rem;
  background: linear-gradient(90deg, var(--card) 30%, transparent) left / 3rem 100% no-repeat local, linear-gradient(270deg, var(--card) 30%, transparent) right / 3rem 100% no-repeat local,
    linear-gradient(90deg, var(--shade), transparent) left / .9rem 100% no-repeat scroll, linear-gradient(270deg, var(--shade), transparent) right / .9rem 100% no-repeat scroll;
}
table { width: 100%; border-collapse: collapse; font-size: .9375rem; line-height: 1.4; }
caption { padding: 0 0 .35rem; color: var(--soft); font-size: .875rem; text-align: left; }
th, td { padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; }
thead th { color: var(--soft); font-size: .8125rem; vertical-align: bottom; border-bottom-color: var(--kept); }
tfoot th, tfoot td { border-bottom: 0; border-top: 1px solid var(--kept); font-weight: 600; }
th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.rest th, .rest td { color: var(--soft); font-style: italic; }
bdi { overflow-wrap: anywhere; }
.bars tbody th { width: 52%; min-width: 15rem; }
.fine { display: block; color: var(--soft); font-size: .8125rem; overflow-wrap: anywhere; }
.largest td { min-width: 13rem; }
.largest td.number { min-width: 0; }
details { margin-top: .75rem; }
summary { cursor: pointer; color: var(--soft); font-size: .9375rem; }
.plain tbody th { width: 44%; min-width: 9rem; }
.side-by-side { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: .5rem 2.5rem; }
.figures caption { color: var(--ink); font-weight: 600; border-bottom: 1px solid var(--kept); }
.figures thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.figures th, .figures td { padding-top: .28rem; padding-bottom: .28rem; }
.figures tbody th { color: var(--soft); }
.proofs { margin: .5rem 0; padding-left: 1.2rem; max-width: 46rem; }
.proofs li { margin: .3rem 0; }

@media (max-width: 40rem) {
  main, header.page, footer.page { padding-left: .9rem; padding-right: .9rem; }
  header.page { padding-top: 1.75rem; }
  h1 { font-size: 2.25rem; }
  .lead { font-size: 1.0625rem; }
  section { padding: 1.1rem 1rem 1.2rem; }
  .pair { grid-template: "what value" "bar bar" / 1fr max-content; gap: .2rem 1rem; margin-top: .9rem; }
  .pair .bar { height: 2.25rem; }
  .named, .short .named { grid-template-columns: 1fr; }
  table { font-size: .875rem; }
  th, td { padding-right: .7rem; }
}
@media print {
  :root { --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --faint: #eee; --kept: #8299a5; --saved: #1f7a5c; --saved-line: #9fd3bf; --third: #b98a3a; --third-dot: #fff; }
  html { font-size: 12px; }
  main, header.page, footer.page { max-width: none; padding-left: 0; padding-right: 0; }
  section { padding: 0; border: 0; margin-top: 1.5rem; }
  h2, h3, caption, thead { break-after: avoid; }
  tr, figure { break-inside: avoid; }
  .scroll { overflow: visible; background: none; }
  nav, summary, details:not([open]) { display: none; }
  tfoot { display: table-row-group; }
}
`;
