/** The mark: three lanes of a timeline, as an icon and in the bar of the pages. */
import { html } from "../../markup/index.ts";

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>rect{rx:2px}.a{fill:#2b5b73}.b{fill:#8fb0c0}.c{fill:#1f7a5c}@media(prefers-color-scheme:dark){.a{fill:#7fb2ca}.b{fill:#4c7183}.c{fill:#3fa480}}</style><rect class="a" x="3" y="5" width="14" height="6"/><rect class="b" x="18" y="5" width="5" height="6"/><rect class="a" x="12" y="13" width="10" height="6"/><rect class="b" x="23" y="13" width="6" height="6"/><rect class="c" x="3" y="21" width="26" height="6"/></svg>`;

export const MARK = html`<svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect class="mark-a" x="3" y="5" width="14" height="6" rx="1.5"/><rect class="mark-b" x="18" y="5" width="5" height="6" rx="1.5"/><rect class="mark-a" x="12" y="13" width="10" height="6" rx="1.5"/><rect class="mark-b" x="23" y="13" width="6" height="6" rx="1.5"/><rect class="mark-c" x="3" y="21" width="26" height="6" rx="1.5"/></svg>`;
