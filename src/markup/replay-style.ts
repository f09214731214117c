/** The look of the page around a replayed one: one bar, and a frame that fills the rest of the window. */
export const REPLAY_STYLE = `
html:has(.framed) { scrollbar-gutter: auto; }
body.framed { height: 100vh; height: 100dvh; overflow: hidden; }
.framed main { flex: 1 1 auto; display: flex; flex-direction: column; min-height: 0; max-width: none; margin: 0; padding: 0; }
.bar { position: relative; z-index: 2; flex: none; display: grid; grid-template-columns: auto minmax(0, 1fr) auto; align-items: center; gap: .3rem .9rem; padding: .45rem .9rem; background: var(--card); border-bottom: 1px solid var(--line); box-shadow: 0 1px 4px var(--shade); font-size: .9375rem; }
.bar .find { max-width: none; }
.bar .second { grid-column: 1 / -1; display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .1rem 1rem; }
.bar .find input, .bar .find button { height: 2rem; min-height: 0; padding: 0 .7rem; line-height: 1; }
.bar .when { display: flex; flex-wrap: wrap; align-items: center; gap: .1rem .9rem; }
.bar .when nav { display: flex; align-items: center; gap: .1rem; white-space: nowrap; }
.bar .step { display: inline-block; width: 1.75rem; height: 1.75rem; border-radius: 4px; text-align: center; font-size: 1.375rem; line-height: 1.5rem; text-decoration: none; color: var(--presumed-line); }
.bar a.step { color: var(--ink); }
.bar a.step:hover { background: var(--faint); }
.bar .when p { margin: 0; color: var(--soft); font-variant-numeric: tabular-nums; }
.bar .when strong { color: var(--ink); font-weight: 600; }
.bar details { position: relative; border: 0; margin: 0; padding: 0; background: none; }
.bar summary { padding: .2rem .5rem; border-radius: 4px; cursor: pointer; white-space: nowrap; }
.bar summary:hover, .bar details[open] > summary { background: var(--faint); }
.bar .panel { position: absolute; z-index: 3; right: 0; top: calc(100% + .35rem); width: max-content; max-width: min(46rem, calc(100vw - 1.8rem)); max-height: calc(100vh - 8rem); overflow: auto; padding: .6rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 6px; box-shadow: 0 8px 24px var(--shade); }
.bar .panel ul { margin: 0; padding: 0; list-style: none; display: block; }
.bar .panel li { margin: .3rem 0; }
.bar .panel p { margin: .4rem 0; }
.bar .panel table { font-size: .875rem; }
.bar .panel td:first-child { max-width: 24rem; overflow-wrap: anywhere; }
.bar .panel td:not(:first-child) { white-space: nowrap; }
.bar .notice { padding-left: .6rem; }
.bar .cite { max-width: 32rem; margin-top: .4rem; padding-top: .4rem; border-top: 1px solid var(--line); font-size: .875rem; }
.bar .cite pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: .875rem; }
.dot { display: inline-block; width: .6rem; height: .6rem; margin-right: .45rem; border-radius: 50%; background: var(--saved); }
.dot.far { background: var(--third); border-radius: 0; transform: rotate(45deg); }
.miss { flex: none; margin: 0; padding: .4rem .9rem; background: var(--mark); color: var(--mark-ink); font-size: .9375rem; overflow-wrap: anywhere; }
.miss a { color: inherit; }
.stage { flex: 1 1 auto; min-height: 0; display: flex; background: #fff; }
.stage iframe { flex: 1 1 auto; width: 100%; height: 100%; border: 0; background: #fff; }
.stage.plain { display: block; overflow: auto; padding: 2rem 1.5rem; background: var(--paper); }
.stage.plain h1 { font: 400 1.5rem/1.3 var(--serif); overflow-wrap: anywhere; }
td.any { overflow-wrap: anywhere; white-space: normal; }
@media (max-width: 40rem) {
  .bar { padding: .35rem .6rem; gap: .2rem .6rem; font-size: .875rem; }
  .bar .find button { display: none; }
  .bar details { position: static; }
  .bar .panel { left: .6rem; right: .6rem; width: auto; max-width: none; }
}
@media print { .bar { position: static; box-shadow: none; } .bar details { display: none; } }
`;
