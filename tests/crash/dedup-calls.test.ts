/** `dedup --in-place` as a real process, killed at chosen calls on the disk, and run again. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { digestOf } from "../../src/base/index.ts";
import { createDice } from "../../src/testing/dice.ts";
import { bufferSource, payloadOf, WarcReader } from "../../src/warc/index.ts";
import { record, response, warcFile } from "../cli/archives.ts";
import { put, temporaryFolder } from "../cli/holotype.ts";
import { countCalls, runAtCall, spreadCalls } from "./run-at-call.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
/** In the suite a few, spread over the whole run; in the long form as many as were asked for once, and more. */
const KILLS = long === undefined ? 10 : 100;

/** Captures with requests and metadata, half of them duplicates. */
function makeInputs(folder: string, compression: "gzip" | "none"): void {
  const dice = createDice(31);
  const bodies = Array.from({ length: 6 }, () => Buffer.from(dice.bytes(3000)));
  mkdirSync(folder, { recursive: true });
  for (let file = 0; file < 4; file++) {
    const records = Array.from({ length: 6 }, (_, i) => {
      const uri = `http://site.example/${file}/${i}`;
      return [
        record("request", uri, "application/http; msgtype=request", `GET /${file}/${i} HTTP/1.1\r\n\r\n`),
        response(uri, bodies[(file + i) % bodies.length]!, { date: `${2000 + file}-01-0${i + 1}T00:00:00Z` }),
        record("metadata", uri, "application/warc-fields", `fetchTimeMs: ${file}${i}\r\n`),
      ];
    }).flat();
    put(folder, `${file}.warc${compression === "gzip" ? ".gz" : ""}`, warcFile(records, { compression }));
  }
}

const dedup = (folder: string) => ["dedup", folder, "--in-place", "--threads", "1"];

function filesIn(folder: string): Record<string, Buffer> {
  const names = readdirSync(folder).filter((name) => /^\d\.warc/.test(name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))]));
}

/** Every record of a set: the id of a capture, of others also type and content; and the payloads that are held. */
function contentOf(files: Record<string, Buffer>) {
  const [records, payloads]: [string[], Set<string>] = [[], new Set()];
  for (const [name, bytes] of Object.entries(files)) {
    for (const each of new WarcReader(bufferSource(bytes))) {
      const payload = Buffer.concat([...payloadOf(each).chunks].map((piece) => Buffer.from(piece)));
      const { hex } = digestOf("sha256", payload);
      const isCapture = each.type === "response" || each.type === "revisit";
      if (each.type === "response") payloads.add(hex);
      records.push(isCapture ? `${name} ${each.id}` : `${name} ${each.id} ${each.type} ${hex}`);
    }
  }
  return { records, payloads };
}

const work = temporaryFolder();

describe.each(["none", "gzip"] as const)("dedup --in-place of files with compression %s", (compression) => {
  it(`killed at ${KILLS} calls loses nothing, and comes to the same result`, { timeout: 600_000 }, () => {
    const inputs = join(work, compression);
    makeInputs(inputs, compression);
    const before = filesIn(inputs);
    const fresh = (name: string) => {
      const folder = join(work, `${compression}-${name}`);
      cpSync(inputs, folder, { recursive: true, preserveTimestamps: true });
      return folder;
    };
    const whole = fresh("whole");
    // The key of the user is there or not; both must do, but the number of calls should be the same.
    runAtCall(dedup(fresh("first")));
    const calls = countCalls(dedup(whole), work);
    const after = filesIn(whole);
    expect(calls).toBeGreaterThan(KILLS);
    expect(contentOf(after)).toEqual(contentOf(before));
    let killed = 0;
    for (const call of spreadCalls(calls, KILLS)) {
      const folder = fresh("killed");
      const about = `killed at call ${call} of ${calls}`;
      if (runAtCall(dedup(folder), call).signal === "SIGKILL") killed++;
      const found = filesIn(folder);
      for (const [name, bytes] of Object.entries(found)) {
        expect(bytes.equals(before[name]!) || bytes.equals(after[name]!), `${about}: ${name}`).toBe(true);
      }
      expect(contentOf(found), about).toEqual(contentOf(before));
      const again = runAtCall(dedup(folder));
      expect(again.exit, `${about}: ${again.err}`).toBe(0);
      for (const [name, bytes] of Object.entries(filesIn(folder))) {
        expect(bytes.equals(after[name]!), `${about}, and again: ${name}`).toBe(true);
      }
      rmSync(folder, { recursive: true });
    }
    expect(killed).toBeGreaterThan(KILLS * 0.9);
  });
});
