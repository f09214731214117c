/** Both versions as pages, next to each other: static views in frames of the replay origin, where nothing of them runs. */
import { formatSecond, html, type Markup } from "../../../markup/index.ts";
import { headerUrl } from "../../archived-url.ts";
import type { Asked } from "../../route.ts";
import type { Policy } from "../shell.ts";
import { type ComparedVersion, stampOf } from "./versions.ts";

export interface SideBySide {
  readonly body: Markup;
  /** What the page must be allowed for it. */
  readonly policy: Policy;
}

/** A click on a link moves the window, nothing else does. The one script that may run is ours, by its digest. */
const SANDBOX = "allow-top-navigation-by-user-activation allow-scripts";

/** Absent where there is no way to the replay origin. */
export function sideBySide(asked: Asked, before: ComparedVersion, after: ComparedVersion): SideBySide | undefined {
  const { replay, collection, origin } = asked;
  const replayOrigin = replay?.origins.replayFor(origin);
  if (replay === undefined || replayOrigin === undefined) return undefined;
  const own = `${replayOrigin}/${replay.names.nameOf(collection, false)}/`;
  const frame = (name: string, { lifespan }: ComparedVersion) => {
    const source = `${own}${stampOf(lifespan)}sy_/${headerUrl(lifespan.url)}`;
    const title = `${name}: ${formatSecond(lifespan.birth)}`;
    return html`<div><h3>${title}</h3><iframe title="${title}" src="${source}" sandbox="${SANDBOX}" loading="eager" referrerpolicy="no-referrer"></iframe></div>`;
  };
  return {
    body: html`<p class="note">As the archive has them, with scripts off. They scroll together.</p><div class="frames" data-frames>${frame("Before", before)}${frame("After", after)}</div>`,
    policy: { "frame-src": own },
  };
}
