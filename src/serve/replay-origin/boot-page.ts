/** The page that a frame begins with: it starts the worker, tells it of the collection, and goes on to the archived page. */
import type { ServerAnswer } from "../../http/index.ts";
import { html, Markup } from "../../markup/index.ts";
import { textAnswer } from "../answers.ts";
import { bootPolicy, type FramePlace, replayPolicy } from "./policies.ts";

/** Put together here: a bundler takes the end of a script in a template for the end of its own. */
const SCRIPT = new Markup('<script src="/static/replay-boot.js"><' + "/script>");

/** What ui/replay-boot.ts reads: the message to the worker, as wabac understands it. */
function configOf(place: FramePlace, pagesPath: string): object {
  return {
    name: place.name,
    extraConfig: {
      prefix: "",
      isLive: false,
      archivePrefix: `/${place.name}/`,
      archiveMod: "ir_",
      // Where a page leads that is opened without our frame around it.
      baseUrl: `${place.pages}${pagesPath}`,
      baseUrlAppendReplay: true,
      noPostToGet: false,
      csp: replayPolicy(place),
      injectScripts: ["../replay-guard.js"],
    },
  };
}

/** `pagesPath`: what pages of the collection begin with on their own origin, `/cabinet/as-of/`. */
export function bootAnswer(place: FramePlace, pagesPath: string): ServerAnswer {
  const config = JSON.stringify(configOf(place, pagesPath));
  const page = html`<!doctype html>
<html lang="en" data-config="${config}">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Replay</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;margin:2rem;color:#5c6468}p{opacity:0;animation:late 0s 1.5s forwards}@keyframes late{to{opacity:1}}</style>
<p id="state">Preparing replay …</p>
${SCRIPT}
</html>
`;
  return textAnswer(200, "text/html; charset=utf-8", page.text, [
    ["Content-Security-Policy", bootPolicy(place)],
    ["Cache-Control", "no-store"],
  ]);
}
