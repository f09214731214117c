/** What other people's tools make of deduplicated files: warcio in JavaScript and in Python, and wabac.js. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { WARCParser } from "warcio";
import { digestOf, parseDigest } from "../../src/base/index.ts";
import { captureBytes, idOf, noise, packRecords, recordBytes } from "../../src/testing/capture-text.ts";
import { type ArchiveFile, dedupTrial } from "../../src/testing/dedup-trial.ts";
import { checkDeduplicated, type HeldRecord, readRecords } from "../../src/testing/deduplicated.ts";
import { holotypeAlone, SAMPLES } from "../cli/holotype.ts";
import { contentOf, replayWith } from "./wabac-replay.ts";

const folder = mkdtempSync(join(tmpdir(), "holotype-neighbours-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const names = readdirSync(SAMPLES).filter((name) => name.endsWith(".warc.gz"));
const samples: readonly ArchiveFile[] = names.map((name) => ({ name, bytes: readFileSync(join(SAMPLES, name)) }));

const at = (day: number) => `2020-01-0${day}T00:00:00Z`;
const PAYLOAD = noise("payload", 2000);
const url = (name: string) => `http://a.example/${name}`;

/** Captures of all kinds that are replaced. */
const odd: readonly ArchiveFile[] = [
  {
    name: "odd.warc.gz",
    bytes: packRecords([
      captureBytes({ uri: url("plain"), date: at(1), payload: PAYLOAD, blockDigest: true }),
      captureBytes({ uri: url("plain"), date: at(2), payload: PAYLOAD, blockDigest: true }),
      captureBytes({ uri: url("chunked"), date: at(1), payload: PAYLOAD, chunks: [500, 500], digest: "hex" }),
      captureBytes({ uri: url("chunked"), date: at(2), payload: PAYLOAD, chunks: [7], digest: "sha256" }),
      captureBytes({ uri: url("liar"), date: at(3), payload: PAYLOAD, http: ["Transfer-Encoding: chunked"] }),
      captureBytes({ uri: url("file"), date: at(4), payload: PAYLOAD, type: "resource", mime: "image/png" }),
      captureBytes({ uri: url("moved"), date: at(5), payload: PAYLOAD, status: "301 Moved", http: ["Location: /x"] }),
      captureBytes({ uri: url("gone"), date: at(6), payload: PAYLOAD, status: "404 Not Found" }),
      captureBytes({ uri: url("post"), date: at(7), payload: PAYLOAD }),
      recordBytes(
        [
          "WARC/1.0",
          "WARC-Type: request",
          `WARC-Target-URI: ${url("post")}`,
          `WARC-Date: ${at(7)}`,
          `WARC-Record-ID: <${idOf("request")}>`,
          `WARC-Concurrent-To: <${idOf(`response ${url("post")} ${at(7)}`)}>`,
          "Content-Type: application/http; msgtype=request",
        ],
        "POST /post HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\na=b",
      ),
    ]),
  },
];

async function deduplicated(files: readonly ArchiveFile[]): Promise<readonly ArchiveFile[]> {
  const { output } = await dedupTrial(files);
  expect(checkDeduplicated(files, output).replaced.length).toBeGreaterThan(6);
  return output;
}

const captures = (files: readonly ArchiveFile[]) =>
  files.flatMap(readRecords).filter(({ type }) => type === "response" || type === "resource");

describe.each([
  ["the samples", samples],
  ["odd captures", odd],
])("%s, deduplicated", (name, files) => {
  it("are read by npm warcio, record by record, and their digests hold", async () => {
    for (const file of await deduplicated(files)) {
      const wanted = readRecords(file);
      // Without a look at HTTP the block comes as it is.
      const parser = new WARCParser([file.bytes] as unknown as AsyncIterable<Uint8Array>, { parseHttp: false });
      let count = 0;
      for await (const record of parser) {
        const block = Buffer.from(await record.readFully(false));
        const ours = wanted[count++]!;
        expect([record.warcType, record.warcTargetURI ?? undefined]).toEqual([
          ours.type,
          ours.fields.get("warc-target-uri"),
        ]);
        expect([parser.offset, parser.recordLength]).toEqual([ours.offset, ours.raw!.length]);
        expect(block.equals(ours.block)).toBe(true);
        checkDigest(record.warcHeader("WARC-Block-Digest") ?? undefined, block);
        if (record.warcType === "revisit") {
          expect(record.warcRefersToTargetURI).toBe(ours.refersTo?.uri);
          expect(record.warcRefersToDate).toBe(ours.refersTo?.date);
          expect(record.warcHeader("WARC-Profile")).toMatch(/revisit\/identical-payload-digest$/);
        }
      }
      expect(count).toBe(wanted.length);
    }
  });

  it("give npm warcio the HTTP headers that the records had", async () => {
    const output = await deduplicated(files);
    for (const [i, file] of output.entries()) {
      const before = new Map(readRecords(files[i]!).map((record) => [record.id, record]));
      for await (const record of new WARCParser([file.bytes] as unknown as AsyncIterable<Uint8Array>)) {
        await record.skipFully();
        if (record.warcType !== "revisit") continue;
        const was = before.get(record.warcHeader("WARC-Record-ID")!.slice(1, -1))!;
        const status = /^HTTP\/1\.\d (\d+)/.exec(was.block.toString("latin1", 0, 20))?.[1];
        if (was.type === "response") expect(String(record.httpHeaders?.statusCode)).toBe(status);
      }
    }
  });

  it.each(["whole", "on demand"] as const)(
    "are replayed by wabac.js, loaded %s, with the right bodies for every URL and time",
    async (mode) => {
      vi.spyOn(console, "log").mockImplementation(() => {});
      const output = await deduplicated(files);
      const key = `${name}-${mode}`.replaceAll(" ", "-");
      const before = await replayWith(`${key}-before`, Buffer.concat(files.map(({ bytes }) => bytes)), mode);
      const after = await replayWith(`${key}-after`, Buffer.concat(output.map(({ bytes }) => bytes)), mode);
      const wanted = captures(files).filter(({ uri }) => uri !== url("post"));
      let replayed = 0;
      for (const capture of wanted) {
        const { uri, date } = capture as HeldRecord & { uri: string; date: string };
        const was = await before.get(uri, date);
        const is = await after.get(uri, date);
        const status = statusOf(capture);
        // A redirect to itself is passed over for the next capture, and a redirect on demand has no body.
        if (was === undefined || (status >= 300 && status < 400)) continue;
        replayed++;
        expect(contentOf(is)?.equals(contentOf(was)!), `${uri} ${date}`).toBe(true);
        expect(contentOf(is)?.equals(capture.payload), `${uri} ${date}`).toBe(true);
        if (mode === "on demand") expect(is!.status, `${uri} ${date}`).toBe(status);
      }
      expect(replayed).toBeGreaterThan(wanted.length * 0.8);
    },
  );
});

function statusOf({ type, block }: HeldRecord): number {
  return type === "resource" ? 200 : Number(/^HTTP\/1\.\d (\d+)/.exec(block.toString("latin1", 0, 20))?.[1]);
}

it("redirect with new Location and equal body: wabac.js has it right on demand, and not where it loads all", async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const [output] = await deduplicated(odd);
  const onDemand = await (await replayWith("moved-1", output!.bytes, "on demand")).get(url("moved"), at(5));
  expect([onDemand?.status, onDemand?.headers.get("location")]).toEqual([301, "/x"]);
  const whole = await (await replayWith("moved-2", output!.bytes, "whole")).get(url("moved"), at(5));
  // Then it takes status and headers from the original, whatever the revisit says.
  expect([whole?.status, whole?.headers.get("location")]).toEqual([200, null]);
});

it("an export of some URLs plays in wabac.js with no other file present", { timeout: 120_000 }, async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const [output, chosen] = [join(folder, "output"), join(folder, "chosen")];
  expect(holotypeAlone(["dedup", "-j", "1", SAMPLES, "-o", output]).exit).toBe(0);
  const prefix = "http://cabinet.example/collection/";
  expect(holotypeAlone(["restore", "-j", "1", output, "-o", chosen, "--url", prefix]).exit).toBe(0);
  const exported = readdirSync(chosen)
    .filter((name) => name.endsWith(".warc.gz"))
    .map((name) => readFileSync(join(chosen, name)));
  const replay = await replayWith("export", Buffer.concat(exported), "on demand");
  const wanted = captures(samples).filter(({ uri }) => uri?.startsWith(prefix) === true);
  expect(wanted.length).toBeGreaterThan(10);
  for (const { uri, date, payload } of wanted) {
    expect(contentOf(await replay.get(uri!, date!))?.equals(payload), `${uri} ${date}`).toBe(true);
  }
});

it("POST + revisit: wabac.js files a response under what was posted, and any revisit under its URL alone", async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const [before, after] = await Promise.all([
    replayWith("post-before", odd[0]!.bytes, "whole"),
    replayWith("post-after", (await deduplicated(odd))[0]!.bytes, "whole"),
  ]);
  const posted = `${url("post")}?__wb_method=POST&a=b`;
  expect((await before.get(posted, at(7)))?.body.equals(PAYLOAD)).toBe(true);
  // So do those that crawlers write. The body is there, and found under the URL.
  expect(await after.get(posted, at(7))).toBeUndefined();
  expect((await after.get(url("post"), at(7)))?.body.equals(PAYLOAD)).toBe(true);
});

function checkDigest(claim: string | undefined, bytes: Uint8Array): void {
  const digest = parseDigest(claim ?? "");
  if (claim !== undefined) expect(digest && digestOf(digest.algorithm, bytes).hex).toBe(digest?.hex);
}

const PYTHON_WARCIO = "1.7.5";

/** The command of Python's warcio, or why there is none. It is installed only where that changes nobody's machine. */
function findPythonWarcio(): { command: string; reason?: undefined } | { command?: undefined; reason: string } {
  if (spawnSync("python3", ["--version"]).status !== 0) return { reason: "there is no python3" };
  const isDebianRoot = process.getuid?.() === 0 && existsSync("/etc/debian_version");
  if (!isDebianRoot && process.env["HOLOTYPE_PIP"] !== "1") {
    return { reason: "not root on Debian; HOLOTYPE_PIP=1 lets the test install warcio into a temporary folder" };
  }
  const home = join(folder, "venv");
  const options = { timeout: 120_000, stdio: "ignore" } as const;
  if (spawnSync("python3", ["-m", "venv", home], options).status !== 0) return { reason: "python3 makes no venv here" };
  const pip = spawnSync(join(home, "bin", "pip"), ["install", "-q", `warcio==${PYTHON_WARCIO}`], options);
  return pip.status === 0 ? { command: join(home, "bin", "warcio") } : { reason: "pip cannot install warcio here" };
}

const { command, reason } = findPythonWarcio();
const why = reason === undefined ? "" : ` (skipped: ${reason})`;

describe(`warcio check, in Python${why}`, { timeout: 120_000 }, () => {
  /** Ids of the records with which it finds fault. */
  function complaints(files: readonly ArchiveFile[], name: string) {
    const paths = files.map((file) => join(folder, `${name}-${file.name}`));
    for (const [i, { bytes }] of files.entries()) writeFileSync(paths[i]!, bytes);
    const { stdout, status } = spawnSync(command!, ["check", ...paths]);
    const ids = [...stdout.toString().matchAll(/WARC-Record-ID <(.*?)>/g)].map(([, id]) => id!);
    return { status, ids };
  }

  it.skipIf(command === undefined)("passes where no body is chunked", async () => {
    const plain: readonly ArchiveFile[] = [1, 2].map((file) => ({
      name: `${file}.warc.gz`,
      bytes: packRecords(
        [1, 2, 3, 4, 5].map((day) =>
          captureBytes({ uri: url(`${file}/${day}`), date: at(day), payload: PAYLOAD, blockDigest: true }),
        ),
      ),
    }));
    expect(complaints(await deduplicated(plain), "plain")).toEqual({ status: 0, ids: [] });
  });

  it.skipIf(command === undefined)("finds no fault that was not there before", async () => {
    // It takes the digest of a chunked body as stored, and the samples have it as transferred.
    const before = complaints(samples, "before");
    const chunked = samples.flatMap(readRecords).filter(({ framing }) => framing === "chunked");
    expect(before.ids.filter((id) => !chunked.some((record) => record.id === id))).toEqual([]);
    const after = complaints(await deduplicated(samples), "after");
    expect(after.ids.filter((id) => !before.ids.includes(id))).toEqual([]);
  });
});
