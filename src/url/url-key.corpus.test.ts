/** The CDX and CDXJ files of the corpus: every original URL has the key that its file gives, or it is said why not. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { urlKey } from "./index.ts";

const CORPUS = fileURLToPath(new URL("../../../shared/corpus", import.meta.url));
const present = existsSync(CORPUS);
const why = present ? "" : ` (skipped: there is no ${CORPUS})`;

interface Entry {
  readonly key: string;
  readonly url: string;
}

/** Files whose keys are no SURT, or that have other columns than key, time and URL. */
const OTHER_FILES: Readonly<Record<string, string>> = {
  "-unsurt-sorted.cdx": "keys with the host as it is",
  "example-non-surt.cdx": "keys with the host as it is",
  "wayback-sample-overlay/sample/cdx/example.cdx": "keys with the host as it is",
  "TestArc1.cdx": "without keys",
  "IAH-20080610152754-00000-test.cdx": "without keys",
  "NAS-research/src/test/resources/cdx/valid.cdx": "keys with the host as it is",
  "NAS-research/src/test/resources/cdx/bad-lines.cdx": "keys with the host as it is",
  "Reader2.cdx": "no CDX: the URL first, then an address",
  "Reader4.cdx": "no CDX: the URL first, then an address",
  "examples/hello-world.cdx": "keys with the host as it is",
  "cdxfile3.cdx": "without URLs",
  "5mementos.cdxj": "a list of mementos of one URL, without keys",
  "notcdx.cdx": "no CDX",
  "wget/s1.cdx": "wget writes the URL where the key belongs",
  "wget/s2.cdx": "wget writes the URL where the key belongs",
};

/** Keys that their makers made otherwise than `surt` does. */
const EXCEPTIONS: readonly { readonly why: string; holds: (entry: Entry) => boolean }[] = [
  {
    why: "the Java indexers file a DNS lookup under its host; surt keeps dns: in front",
    holds: ({ key, url }) =>
      url ===
      `dns:${key
        .replace(/\)\/?$/, "")
        .split(",")
        .reverse()
        .join(".")}`,
  },
  {
    why: "early pywb took metadata: for a host",
    holds: ({ key, url }) => key === `metadata)/${url.slice("metadata://".length).toLowerCase()}`,
  },
  {
    why: "the Java indexers keep the case of warcinfo:",
    holds: ({ key, url }) => key === url && url.startsWith("warcinfo:"),
  },
  {
    why: "pywb puts the body of a POST into the query of the key",
    holds: ({ key, url }) => key.includes("?__wb_method=post") && key.startsWith(urlKey(url).replace(/\?.*/, "")),
  },
];

function cdxFiles(): readonly string[] {
  return readdirSync(CORPUS, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.cdxj?(?:\.gz)?$/.test(path))
    .filter((path) => !Object.keys(OTHER_FILES).some((end) => path.endsWith(end)))
    .sort();
}

function entriesOf(path: string): readonly Entry[] {
  const bytes = readFileSync(`${CORPUS}/${path}`);
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const entries: Entry[] = [];
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("!") || /^ ?CDX /.test(line)) continue;
    const [key, , third] = line.split(" ");
    const url = third!.startsWith("{") ? (JSON.parse(line.slice(line.indexOf("{"))) as { url?: string }).url : third;
    if (url !== undefined) entries.push({ key: key!, url });
  }
  return entries;
}

describe.skipIf(!present)(`keys of the corpus${why}`, () => {
  it.each(present ? cdxFiles() : [])("%s", (path) => {
    const others = entriesOf(path).filter((entry) => urlKey(entry.url) !== entry.key);
    const unexplained = others.filter((entry) => !EXCEPTIONS.some((exception) => exception.holds(entry)));
    expect(unexplained).toEqual([]);
  });

  it.each(EXCEPTIONS)("has examples of every exception: $why", ({ holds }) => {
    const others = cdxFiles()
      .flatMap(entriesOf)
      .filter((entry) => urlKey(entry.url) !== entry.key);
    expect(others.filter(holds).length).toBeGreaterThan(0);
  });

  it("has thousands of them", () => {
    expect(cdxFiles().flatMap(entriesOf).length).toBeGreaterThan(9000);
  });
});
