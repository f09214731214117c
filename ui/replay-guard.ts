/**
 * In every replayed page, before its own scripts. It takes away what no policy of a browser stops, tells the page around
 * the frame where the frame is, and hands links to it, so that the bar goes along. A page that gets round this can still
 * reach nothing: that is held by policies, and by the origin.
 */

interface WabacInfo {
  readonly url?: string;
}

const scope = window as unknown as Record<string, unknown> & { readonly wbinfo?: WabacInfo };
const SEALED = [
  "RTCPeerConnection",
  "webkitRTCPeerConnection",
  "RTCDataChannel",
  "RTCIceTransport",
  "WebTransport",
  "WebSocketStream",
  "SharedWorker",
];

function seal(): void {
  for (const name of SEALED) Reflect.deleteProperty(scope, name);
  // The worker is ours: a page that could talk to it could tell it lies.
  Reflect.deleteProperty(Navigator.prototype, "serviceWorker");
}

/** What a link means that leads to another page in this window. */
function linkOf(event: MouseEvent): HTMLAnchorElement | HTMLAreaElement | undefined {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return undefined;
  const link = event
    .composedPath()
    .find((each) => each instanceof HTMLAnchorElement || each instanceof HTMLAreaElement);
  if (link === undefined || !link.hasAttribute("href") || link.hasAttribute("download")) return undefined;
  return link;
}

const isOuter = window.parent === window.top && window.parent !== window;
/** Of links in frames of the page only these lead out of their frame. */
const OUT = /^(?:_top|_blank|___wb_replay_top_frame)$/;
const WHOLE = /^(?:|_self|_parent|_top|_blank|___wb_replay_top_frame)$/;

function follow(event: MouseEvent): void {
  const link = linkOf(event);
  if (link === undefined || !(isOuter ? WHOLE : OUT).test(link.target)) return;
  const url = link.href;
  if (!/^https?:/i.test(url) || (url.includes("#") && withoutHash(url) === withoutHash(scope.wbinfo?.url ?? "")))
    return;
  event.preventDefault();
  window.top?.postMessage({ holotype: "go", url }, "*");
}

function withoutHash(url: string): string {
  return url.replace(/#.*$/s, "");
}

function tell(): void {
  window.parent.postMessage({ holotype: "at", url: scope.wbinfo?.url }, "*");
}

seal();
if (window.parent !== window) {
  window.addEventListener("click", follow);
  if (isOuter) {
    tell();
    window.addEventListener("pageshow", tell);
  }
}
