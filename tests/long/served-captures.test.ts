/**
 * Every dated capture of a GET in the samples, the crawls and all other files of the corpus, asked for by its very
 * millisecond: `id_` gives byte for byte the payload that an independent reader in Python finds in the file. What is
 * damaged or cut short there may be missing, and is counted. Takes minutes, so it runs with `npm run test:long` only.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { Archive, ArchiveWriter } from "../../src/archive/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import type { Handler } from "../../src/http/index.ts";
import { findInputs } from "../../src/pipeline/index.ts";
import { Collection, serveArchives } from "../../src/serve/index.ts";
import { askHandler } from "../../src/testing/served-archive.ts";
import { loadZstd } from "../../src/warc/index.ts";
import { SAMPLES, temporaryFolder } from "../cli/holotype.ts";
import { CORPUS, present, WALIB } from "../interop/corpus-files.ts";
import { hasPython } from "../interop/walib-run.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
function reason(): string {
  if (!present || !hasPython) return " (skipped: no ../shared/corpus, or no Python)";
  return long === undefined ? " (skipped: only in test:long)" : "";
}
const why = reason();

/** Lists the captures of all files below the folders: a line of JSON each. */
const READER = `
import sys, json, hashlib, os, re, zipfile, io
sys.path.insert(0, sys.argv[1])
import walib

def sources(path):
    data = open(path, 'rb').read()
    yield from unpack(path, data)

def unpack(name, data):
    if data[:2] == b'PK':
        try: z = zipfile.ZipFile(io.BytesIO(data))
        except zipfile.BadZipFile: return
        for entry in z.namelist():
            if re.search(r'\\.(w?arc(\\.gz)?|wacz|zip)$', entry, re.I):
                yield from unpack(name + '!' + entry, z.read(entry))
    else:
        yield name, data

def target(rec):
    uri = rec.get('warc-target-uri', '') if rec.fmt == 'warc' else rec.get('url', '')
    return uri[1:-1] if uri.startswith('<') and uri.endswith('>') else uri

def payload(rec):
    type = (rec.get('content-type', '') or '').lower().replace(' ', '')
    is_http = rec.block[:5].upper() == b'HTTP/' and (rec.fmt == 'arc' or rec.get('warc-type').lower() != 'resource' or type.startswith('application/http'))
    if not is_http: return None, rec.block, {}
    head, body = walib.http_split(rec.block)
    line, headers = walib.http_headers(head)
    body = body or b''
    if 'chunked' in headers.get('transfer-encoding', '').lower():
        plain = walib.dechunk(body)
        if plain is not None: body = plain
    status = re.match(r'\\S+\\s+(\\d+)', line)
    return (int(status.group(1)) if status else None), body, headers

def method(rec):
    return rec.block.split(b' ', 1)[0].decode('latin1').upper()[:12]

for folder in sys.argv[2:]:
    for base, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if not re.search(r'\\.(w?arc(\\.gz)?|wacz)$', name, re.I): continue
            for source, data in sources(os.path.join(base, name)):
                found, methods = [], {}
                try:
                    for number, offset, note, rec in walib.file_records(data):
                        if rec is None or rec.fmt == 'garbage': continue
                        if rec.fmt == 'warc':
                            type = (rec.get('warc-type') or '').lower()
                            if type == 'request':
                                ids = [v for k, v in rec.headers if k.lower() == 'warc-concurrent-to'] + [rec.get('warc-record-id')]
                                for id in ids: methods[id] = method(rec)
                            if type not in ('response', 'resource', 'revisit'): continue
                        else:
                            type = 'response'
                            if 'arc-filedesc' in rec.flags: continue
                        status, body, headers = payload(rec)
                        found.append(dict(source=source, type=type, uri=target(rec), date=rec.get('warc-date') or rec.get('date') or '',
                            id=rec.get('warc-record-id'), near=rec.get('warc-concurrent-to'), status=status, sha1=hashlib.sha1(body).hexdigest(), sha256=hashlib.sha256(body).hexdigest(), size=len(body),
                            digest=rec.get('warc-payload-digest'), profile=rec.get('warc-profile'), segment=rec.get('warc-segment-number'),
                            flags=sorted(rec.flags), note=note))
                except Exception as error:
                    print(json.dumps(dict(source=source, failed=str(error))), file=sys.stderr)
                for each in found:
                    each['method'] = methods.get(each['id']) or methods.get(each['near']) or 'GET'
                    print(json.dumps(each))
`;

interface Found {
  readonly source: string;
  readonly type: "response" | "resource" | "revisit";
  readonly uri: string;
  readonly date: string;
  readonly method: string;
  readonly status: number | null;
  readonly sha1: string;
  readonly sha256: string;
  readonly size: number;
  readonly digest: string | null;
  readonly profile: string | null;
  readonly segment: string | null;
  readonly flags: readonly string[];
  /** What is wrong with the gzip member. */
  readonly note: string;
}

function readIndependently(folders: readonly string[]): Found[] {
  const output = execFileSync("python3", ["-c", READER, dirname(WALIB), ...folders], {
    maxBuffer: 1 << 29,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Found);
}

/** 17 digits; absent where there is no date. */
function timestampOf(date: string): string | undefined {
  const digits = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?Z$/.exec(date);
  if (digits !== null) return digits.slice(1, 7).join("") + (digits[7] ?? "").padEnd(3, "0").slice(0, 3);
  return /^\d{14}$/.test(date) ? `${date}000` : undefined;
}

/** Each reading of one URL at one millisecond: several records may be of the same, and `id_` gives one of them. */
function groupOf({ uri, date }: Found): string {
  return `${timestampOf(date)} ${uri}`;
}

/** The readers may disagree about what is damaged, and the archive need not have it. */
function isDamaged({ note, flags, uri, segment }: Found): boolean {
  return note !== "" || uri === "" || segment !== null || flags.some((flag) => DAMAGE.test(flag));
}
const DAMAGE =
  /^(?:arc-10-fields|truncated-block|content-length-mismatch|header-eof|no-content-length|bad-|negative-length)/;

const ODD = [
  // Its chunks break off: the archive gives what they held up to there, the reader all bytes as they are.
  "warcat/example/bad_http_chunked_content.warc",
  // A second record of one id, URL and second, whose "HTTP message" is none; the first is damaged.
  "in/warccsv/test1/en0000/test.warc",
];

/** By digests as they are written and as they are: what a revisit may refer to. */
class Payloads {
  private readonly byDigest = new Map<string, Set<string>>();

  add({ sha1, sha256, digest }: Found): void {
    for (const name of [`sha1:${sha1}`, `sha256:${sha256}`, normalDigest(digest)]) {
      const known = this.byDigest.get(name) ?? new Set();
      this.byDigest.set(name, known.add(sha1));
    }
  }

  of(digest: string | null): ReadonlySet<string> | undefined {
    return this.byDigest.get(normalDigest(digest));
  }
}

/** sha1 in hex, whether it was written so or in base32. */
function normalDigest(digest: string | null): string {
  const [, label = "", value = ""] = /^([^:]+):(.*)$/.exec((digest ?? "").replace("sha-", "sha")) ?? [];
  const bits = value
    .toUpperCase()
    .split("")
    .map((each) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(each));
  if (value.length !== 32 || bits.includes(-1)) return `${label}:${value.toLowerCase()}`;
  const text = bits.map((each) => each.toString(2).padStart(5, "0")).join("");
  return `${label}:${(text.match(/.{4}/g) ?? []).map((four) => Number.parseInt(four, 2).toString(16)).join("")}`;
}

class Comparison {
  readonly counts: Record<string, number> = {};
  readonly wrong: string[] = [];
  private readonly groups = new Map<string, Set<string>>();
  private readonly payloads = new Payloads();

  constructor(all: readonly Found[]) {
    for (const each of all) {
      if (each.type === "revisit") continue;
      const group = groupOf(each);
      this.groups.set(group, (this.groups.get(group) ?? new Set()).add(each.sha1));
      this.payloads.add(each);
    }
  }

  private count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  async take(each: Found, handler: Handler): Promise<void> {
    const time = timestampOf(each.date);
    if (each.method !== "GET") return this.count("not GET");
    if (time === undefined) return this.count("without a date");
    const { status, body } = await askHandler(handler, `/coll/${time}id_/${each.uri}`);
    const sha1 = createHash("sha1").update(body).digest("hex");
    const what = this.judge(each, status, sha1);
    this.count(what ?? "wrong");
    if (what === undefined) {
      const { source, uri, size, flags } = each;
      this.wrong.push(
        `${source} ${time} ${uri}: ${size} bytes there, answered ${status} with ${body.length}; ${flags.join(" ")}`,
      );
    }
  }

  /** Absent for an answer that is wrong. */
  private judge(each: Found, status: number, sha1: string): string | undefined {
    if (each.type === "revisit") {
      const originals = this.payloads.of(each.digest);
      if (/not-modified/.test(each.profile ?? ""))
        return status < 400 ? "304, confirmed content" : "304, nothing to confirm";
      if (originals?.has(sha1) || sha1 === normalDigest(each.digest).slice(5)) return "revisit, equal";
      if (this.groups.get(groupOf(each))?.has(sha1)) return "revisit, of a second with a response";
      if ((originals === undefined || each.digest === null) && status === 404) return "revisit without an original";
      return isDamaged(each) ? "damaged, or not a record" : undefined;
    }
    if (sha1 === each.sha1) return "equal";
    if (this.groups.get(groupOf(each))?.has(sha1)) return "one of several at the same millisecond";
    if (isDamaged(each)) return "damaged, or not a record";
    return ODD.some((odd) => each.source.endsWith(odd)) ? "odd, see there" : undefined;
  }
}

describe.skipIf(why !== "")(`captures over the wire${why}`, () => {
  it.each([
    ["the samples", [SAMPLES]],
    ["the site crawls", [join(CORPUS, "sites"), join(CORPUS, "crawl")]],
    ["the corpus", [join(CORPUS, "real"), join(CORPUS, "derived")]],
  ])("%s", { timeout: 3_600_000 }, async (name, folders) => {
    await loadZstd();
    const folder = join(temporaryFolder(), "archive");
    {
      await using writer = ArchiveWriter.open(nodeDisk, folder, { create: true });
      await writer.add(findInputs(nodeDisk, folders, () => {}));
    }
    await using archive = await Archive.open(nodeDisk, folder);
    const handler = serveArchives([new Collection("coll", archive)]);
    const all = readIndependently(folders);
    const comparison = new Comparison(all);
    for (const each of all) await comparison.take(each, handler);
    process.stdout.write(`${name}: ${all.length} captures read, ${JSON.stringify(comparison.counts)}\n`);
    expect(comparison.wrong).toEqual([]);
  });
});
