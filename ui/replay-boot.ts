/**
 * On the replay origin: starts the worker of wabac, tells it of the collection, and goes on to the archived page. Where
 * there are no service workers, the page around the frame is told, and shows the static view.
 */

interface Config {
  readonly name: string;
  readonly extraConfig: object;
}

const TRIES_MAX = 3;
const PATIENCE_MS = 15_000;

function fail(): void {
  window.parent.postMessage({ holotype: "no-worker" }, "*");
  const state = document.getElementById("state");
  if (state !== null)
    state.textContent =
      "This browser cannot run the replay worker here. The static view shows the page without its scripts.";
}

function activeWorker({ active, waiting, installing }: ServiceWorkerRegistration): Promise<ServiceWorker> {
  if (active !== null) return Promise.resolve(active);
  return new Promise((resolve, reject) => {
    const coming = waiting ?? installing;
    coming?.addEventListener("statechange", () => {
      if (coming.state === "activated") resolve(coming);
      if (coming.state === "redundant") reject(new Error("the worker does not start"));
    });
  });
}

async function start(): Promise<void> {
  const config = JSON.parse(document.documentElement.dataset["config"] ?? "") as Config;
  const { serviceWorker } = navigator;
  // In charge of replayed pages alone: this page is none of them.
  const registration = await serviceWorker.register("/sw.js?replayPrefix=r", { scope: "/w/" });
  const added = new Promise<void>((resolve, reject) => {
    serviceWorker.addEventListener("message", ({ data }: MessageEvent<{ msg_type?: string; name?: string }>) => {
      if (data.msg_type === "collAdded" && data.name === config.name) resolve();
    });
    setTimeout(() => reject(new Error("the worker does not answer")), PATIENCE_MS);
  });
  serviceWorker.startMessages();
  // Anew each time: an archived page may have told the worker something else.
  const message = { msg_type: "addColl", type: "live", file: { sourceUrl: "proxy:" }, skipExisting: false, ...config };
  (await activeWorker(registration)).postMessage(message);
  await added;
  // A reload that goes round the worker brings us back here; not for ever.
  const tries = Number(new URLSearchParams(location.hash.slice(1)).get("try") ?? 0);
  if (tries >= TRIES_MAX) throw new Error("the worker is gone round");
  const isSame = location.pathname.startsWith("/w/");
  const target = location.pathname.replace(/^\/boot\//, "/w/r/") + location.search;
  if (!isSame) location.replace(target);
  else {
    location.hash = `try=${tries + 1}`;
    location.reload();
  }
}

if ("serviceWorker" in navigator) start().catch(fail);
else fail();
