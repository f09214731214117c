/**
 * The oracle: what an archive must answer by docs/lifespans.md, from raw records and nothing else. It knows no order of
 * records and no state; it shares no code with the archive. Slow, and meant to be read as a proof.
 */
import { type CaptureClass, type Finding, findAll } from "./oracle-classes.ts";
import { type Capture, readRecords, sha256 } from "./oracle-records.ts";
import { compare, is304, timelineDigest } from "./oracle-revisits.ts";

export interface OracleCapture {
  readonly key: string;
  readonly url: string;
  /** Null if undated. */
  readonly timeMs: number | null;
  readonly type: "response" | "resource" | "revisit";
  readonly class: CaptureClass;
  /** Null where there is none or it is not known. */
  readonly status: number | null;
  /** Where it is not the status: a 206 that has the whole counts as 200. */
  readonly contentStatus?: number | null;
  readonly location: string | null;
  readonly mime: string | null;
  /** Of the content; null if that is not known. */
  readonly sha256: string | null;
  readonly size: number | null;
  readonly pending: boolean;
  readonly cutOff: boolean;
  readonly digestLies: boolean;
  readonly id: string | null;
  /** What the header says of the payload: with key, time and id it names the capture. */
  readonly told: string;
}

export interface OracleLifespan {
  readonly key: string;
  readonly birth: number;
  readonly end: number | null;
  readonly lastSeen: number;
  readonly captures: number;
  readonly status: number | null;
  readonly mime: string | null;
  readonly url: string;
  readonly sha256: string;
  readonly size: number;
}

export interface OracleChange {
  readonly key: string;
  readonly timeMs: number;
  readonly kind: "appeared" | "vanished" | "changed";
}

export interface OracleAnswers {
  /** By URL key, in the order of the keys. Removed captures are not among them. */
  readonly captures: Readonly<Record<string, readonly OracleCapture[]>>;
  /** By URL key; empty for keys that have captures and no lifespan. */
  readonly lifespans: Readonly<Record<string, readonly OracleLifespan[]>>;
  certainty(key: string, timeMs: number): "observed" | "presumed" | undefined;
  at(key: string, timeMs: number): OracleLifespan | undefined;
  slice(timeMs: number): OracleLifespan[];
  /** After the one time and up to the other, by time and key. */
  changes(fromMs: number, toMs: number): OracleChange[];
}

/** `removed` is asked about captures as they are listed before anything is removed. */
export function oracle(
  files: readonly (readonly Buffer[])[],
  removed: (capture: OracleCapture) => boolean = () => false,
): OracleAnswers {
  const { captures, requests } = readRecords(files);
  const before = findAll(captures, [], requests);
  const gone = before.filter((finding) => removed(listed(finding))).map(({ capture }) => capture);
  const left = captures.filter((capture) => !gone.includes(capture));
  return answers(findAll(left, gone, requests), gone);
}

function answers(findings: readonly Finding[], gone: readonly Capture[]): OracleAnswers {
  const keys = [...new Set(findings.map(({ capture }) => capture.key))].sort();
  const of = (key: string) => findings.filter(({ capture }) => capture.key === key);
  const captures = Object.fromEntries(keys.map((key) => [key, of(key).map(listed).sort(inList)]));
  const runs = Object.fromEntries(keys.map((key) => [key, runsOf(of(key))]));
  const lifespans = Object.fromEntries(keys.map((key) => [key, lifespansOf(key, runs[key]!)]));
  const indexAt = (key: string, timeMs: number) =>
    (lifespans[key] ?? []).findIndex(({ birth, end }) => birth <= timeMs && (end === null || timeMs < end));
  const at = (key: string, timeMs: number) => lifespans[key]?.[indexAt(key, timeMs)];
  return {
    captures,
    lifespans,
    at,
    certainty: (key, timeMs) => {
      const run = runs[key]?.[indexAt(key, timeMs)];
      return run === undefined ? undefined : certaintyOf(run, timeMs, doubtsOf(key, of(key), gone));
    },
    slice: (timeMs) => keys.map((key) => at(key, timeMs)).filter((lifespan) => lifespan !== undefined),
    changes: (fromMs, toMs) =>
      keys
        .flatMap((key) => changesOf(lifespans[key]!))
        .filter(({ timeMs }) => fromMs < timeMs && timeMs <= toMs)
        .sort((one, other) => one.timeMs - other.timeMs),
  };
}

/** A 304 that confirms nothing is pending too, whichever record it is in. */
function isPending({ capture, payload }: Finding): boolean {
  if (capture.type === "revisit" && capture.profile === "unknown") return false;
  return payload === undefined && (capture.type === "revisit" || is304(capture));
}

function listed(finding: Finding): OracleCapture {
  const { capture, answer, payload } = finding;
  const { key, url, timeMs, type, cutOff, digestLies, id, told } = capture;
  const { status, contentStatus, location, mime } = answer;
  return {
    key,
    url,
    timeMs,
    type,
    class: finding.class,
    status,
    ...(contentStatus === status ? {} : { contentStatus }),
    location,
    mime,
    sha256: payload === undefined ? null : sha256(payload),
    size: payload?.length ?? null,
    pending: isPending(finding),
    cutOff,
    digestLies,
    id,
    told,
  };
}

/** What is null comes first. */
function inList(one: OracleCapture, other: OracleCapture): number {
  const time = ({ timeMs }: OracleCapture) => timeMs ?? Number.MIN_SAFE_INTEGER;
  const text = (it: OracleCapture) => JSON.stringify([it.sha256 ?? "", it.class, it.id ?? "", it.told]);
  return time(one) - time(other) || compare(text(one), text(other));
}

/** Captures of one URL and moment that found the same: one visit. */
interface Visit {
  readonly timeMs: number;
  readonly content: string;
  /** The capture with the smallest record mark. */
  readonly shown: Finding;
}

/** "From captures to lifespans": visits one after the other that found the same. */
function runsOf(findings: readonly Finding[]): Visit[][] {
  const visits: Visit[] = findings
    .filter((each) => (each.class === "state" || each.class === "confirmation") && each.payload !== undefined)
    .sort((one, other) => compare(one.capture.mark, other.capture.mark))
    .map((shown) => ({
      timeMs: shown.capture.timeMs!,
      content: timelineDigest(shown.payload!, shown.answer),
      shown,
    }))
    .sort((one, other) => one.timeMs - other.timeMs || compare(one.content, other.content));
  const runs: Visit[][] = [];
  for (const visit of visits) {
    const last = runs.at(-1)?.at(-1);
    if (last === undefined || last.content !== visit.content) runs.push([visit]);
    else if (last.timeMs !== visit.timeMs) runs.at(-1)!.push(visit);
  }
  return runs;
}

function lifespansOf(key: string, runs: readonly (readonly Visit[])[]): OracleLifespan[] {
  return runs.map((run, i) => {
    const { capture, answer, payload } = run[0]!.shown;
    return {
      key,
      birth: run[0]!.timeMs,
      end: runs[i + 1]?.[0]!.timeMs ?? null,
      lastSeen: run.at(-1)!.timeMs,
      captures: run.length,
      status: answer.contentStatus,
      mime: answer.mime,
      url: capture.url,
      sha256: sha256(payload!),
      size: payload!.length,
    };
  });
}

/** "Observed and presumed": the times of visits that cast doubt on what was there. */
function doubtsOf(key: string, findings: readonly Finding[], gone: readonly Capture[]): number[] {
  const failed = findings.filter((each) => each.class === "failed" || isPending(each)).map(({ capture }) => capture);
  return [...failed, ...gone.filter((capture) => capture.key === key)]
    .map(({ timeMs }) => timeMs)
    .filter((timeMs) => timeMs !== null);
}

function certaintyOf(run: readonly Visit[], timeMs: number, doubts: readonly number[]): "observed" | "presumed" {
  const times = run.map((visit) => visit.timeMs);
  if (times.includes(timeMs)) return "observed";
  const before = times.findLast((time) => time < timeMs);
  const after = times.find((time) => time > timeMs);
  if (before === undefined || after === undefined) return "presumed";
  return doubts.some((doubt) => before < doubt && doubt < after) ? "presumed" : "observed";
}

function changesOf(lifespans: readonly OracleLifespan[]): OracleChange[] {
  const isError = ({ status }: OracleLifespan) => status !== null && status >= 400;
  return lifespans.map((lifespan, i) => {
    const before = lifespans[i - 1];
    const { key, birth: timeMs } = lifespan;
    if (before === undefined || (isError(before) && !isError(lifespan))) return { key, timeMs, kind: "appeared" };
    return { key, timeMs, kind: isError(lifespan) && !isError(before) ? "vanished" : "changed" };
  });
}
