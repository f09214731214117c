/**
 * The DeDuplicator of the paper as a class: is a capture the duplicate of one that is known, and were its headers right
 * about that? It decides by the same rules as the archive and the stages of post-crawl deduplication, and counts what it
 * decides. It stores nothing and learns nothing: whoever writes captures tells the index, and captures of one batch do
 * not know each other.
 */
import { digestOf, formatDigest, formatIso } from "../base/index.ts";
import { hostOf, urlKey } from "../url/index.ts";
import { type Candidate, type KeptReason, whyNotDuplicate } from "./candidate.ts";
import {
  type DeduplicatorLogLine,
  type DeduplicatorSettings,
  handledTypes,
  LOG_LEVELS,
  requireAnswers,
  schemesOf,
} from "./deduplicator-settings.ts";
import { HeaderAnalysis } from "./header-analysis.ts";
import type { HeaderValues } from "./header-predictor.ts";
import type { HeaderTally } from "./header-tally.ts";
import { type Certainty, type KnownCapture, type KnownQuestion, shareDigest } from "./known-contents.ts";
import { type HitKind, hitKind, Rules } from "./rules.ts";
import { DuplicateTally } from "./tally.ts";

/** A capture that was just made, or that a log or a file tells of. */
export interface NewCapture extends Candidate {
  /** Of its payload, in our form, one per algorithm. */
  readonly digests: readonly string[];
  readonly status: number | undefined;
  /** Absent where the headers of the answer are not known, as in a crawl.log. */
  readonly headers?: HeaderValues | undefined;
  /** Bytes of the whole answer, its header included. */
  readonly responseSize?: number | undefined;
}

/** Why a capture is not looked at. */
export type ExemptReason = "disabled" | "dns" | "robots" | "status" | "empty" | "no-digest" | "mime";

/** Why a capture is stored though its content is known. */
export type HeldReason = KeptReason | "mirror" | "out-of-reach" | "size" | "framing" | "no-original" | "disproven";

export type Verdict =
  | { readonly kind: "new" }
  | {
      readonly kind: "duplicate";
      readonly original: KnownCapture;
      readonly hit: HitKind;
      readonly certainty: Certainty;
      /** As the settings have it. */
      readonly origin?: string | undefined;
    }
  /** `original` is the capture whose content it has; absent for one that was not looked at. */
  | {
      readonly kind: "kept";
      readonly reason: HeldReason | ExemptReason;
      readonly original?: KnownCapture | undefined;
      readonly hit?: HitKind | undefined;
    };

/** A capture on its way to a verdict. */
interface Case {
  readonly capture: NewCapture;
  readonly uri: string;
  /** The newest capture of exactly its URL. */
  state?: KnownCapture | undefined;
  /** The capture that has its content. */
  found?: { readonly known: KnownCapture; readonly hit: HitKind } | undefined;
  verdict?: Verdict | undefined;
}

type MaybeLater<T> = T | Promise<T>;

/** Goes on at once where the value is there. */
function onward<T, R>(value: MaybeLater<T>, step: (value: T) => MaybeLater<R>): MaybeLater<R> {
  return value instanceof Promise ? value.then(step) : step(value);
}

const NEW: Verdict = { kind: "new" };
/** Of nothing, and of nothing in chunks, which is what wget takes the digest of. */
const EMPTY: ReadonlySet<string> = new Set(
  ["", "0\r\n\r\n"].flatMap((body) =>
    (["md5", "sha1", "sha256", "sha512"] as const).map((name) => formatDigest(digestOf(name, Buffer.from(body)))),
  ),
);

export class Deduplicator {
  readonly duplicates: DuplicateTally;
  /** Captures that were not handled, by reason. */
  readonly exempt = new Map<ExemptReason, number>();
  /** Captures that are stored though their content is known, by reason. */
  readonly kept = new Map<HeldReason, number>();
  private readonly analysis: HeaderAnalysis;
  private readonly settings: DeduplicatorSettings;
  private readonly isHandledType: (mime: string | undefined) => boolean;
  private readonly rules: Rules;

  constructor(settings: DeduplicatorSettings) {
    requireAnswers(settings);
    this.settings = settings;
    this.isHandledType = handledTypes(settings.mimeFilter);
    this.rules = new Rules(settings.policy ?? {});
    const hosts = settings.statsPerHost === true;
    this.duplicates = new DuplicateTally({ hosts });
    this.analysis = new HeaderAnalysis(schemesOf(settings.analysis), settings.dateReference ?? "stored", hosts);
  }

  /** How right headers were. */
  get headers(): HeaderTally {
    return this.analysis.tally;
  }

  /** Known documents that could not be analysed. */
  get unanalysed(): HeaderAnalysis["unanalysed"] {
    return this.analysis.unanalysed;
  }

  /** A verdict for each capture, in order; at once where the index answers at once. */
  decide(batch: readonly NewCapture[]): MaybeLater<readonly Verdict[]> {
    const verdicts = new Array<Verdict>(batch.length);
    const cases: Case[] = [];
    const places: number[] = [];
    for (const [i, capture] of batch.entries()) {
      const reason = this.whyExempt(capture);
      if (reason === undefined) {
        cases.push({ capture, uri: capture.uri ?? "" });
        places.push(i);
      } else {
        verdicts[i] = { kind: "kept", reason };
        this.exempt.set(reason, (this.exempt.get(reason) ?? 0) + 1);
      }
    }
    return onward(this.look(cases), () =>
      onward(this.judgeAll(cases), () => {
        for (const [i, each] of cases.entries()) {
          verdicts[places[i]!] = each.verdict!;
          this.count(each);
        }
        return verdicts;
      }),
    );
  }

  private whyExempt(capture: NewCapture): ExemptReason | undefined {
    const { enabled, errors } = this.settings;
    const { uri, status, mime, payloadSize, digests } = capture;
    if (enabled === false) return "disabled";
    if (uri?.startsWith("dns:") === true) return "dns";
    if (uri !== undefined && isRobots(uri)) return "robots";
    // What a 304 carries is not what its URL held.
    if (status !== undefined && (status < 200 || status === 304 || (status >= 400 && errors !== true))) return "status";
    if (capture.empty === true || payloadSize === 0 || digests.some((digest) => EMPTY.has(digest))) return "empty";
    if (digests.length === 0) return "no-digest";
    return this.isHandledType(mime) ? undefined : "mime";
  }

  private look(cases: readonly Case[]): MaybeLater<unknown> {
    const { matching = "url", tryEquivalent, mirrors, index } = this.settings;
    const byDigest = () => this.ask(cases, (each) => (each.found === undefined ? digestQuestion(each) : undefined));
    if (matching === "digest") {
      const analyses = this.analysis.isWanted && index.answers.has("url");
      return onward(byDigest(), () => (analyses ? this.ask(cases, urlQuestion) : undefined));
    }
    return onward(this.ask(cases, urlQuestion), () =>
      onward(
        tryEquivalent === true
          ? this.ask(cases, (each) => (each.found === undefined ? equivalentQuestion(each) : undefined))
          : undefined,
        () => (mirrors === "duplicates" && index.answers.has("digest") ? byDigest() : undefined),
      ),
    );
  }

  private ask(cases: readonly Case[], question: (each: Case) => KnownQuestion | undefined): MaybeLater<unknown> {
    const asked: Case[] = [];
    const questions: KnownQuestion[] = [];
    for (const each of cases) {
      const own = question(each);
      if (own === undefined) continue;
      asked.push(each);
      questions.push(own);
    }
    if (questions.length === 0) return undefined;
    return onward(this.settings.index.find(questions), (answers) => {
      for (const [i, each] of asked.entries()) this.take(each, questions[i]!.by, answers[i]);
    });
  }

  private take(each: Case, by: KnownQuestion["by"], known: KnownCapture | undefined): void {
    if (known === undefined) return;
    if (by === "url") each.state = known;
    if (each.found !== undefined || !shareDigest(known.digests, each.capture.digests)) return;
    // By digest the URL decides what it is; a lookup by URL and digest alike has to come to the same.
    if (by === "url" && this.settings.matching === "digest") return;
    each.found = { known, hit: by === "url" ? "exact" : this.hitOf(known, each.capture) };
  }

  /** Other than an archive, which files captures by key, an index has the very same URL or an equivalent one. */
  private hitOf(known: KnownCapture, capture: NewCapture): HitKind {
    if (known.uri === capture.uri) return "exact";
    if (this.settings.tryEquivalent !== true) return "elsewhere";
    return hitKind({ uri: known.uri, date: undefined }, capture) === "elsewhere" ? "elsewhere" : "equivalent";
  }

  private judgeAll(cases: readonly Case[]): MaybeLater<unknown> {
    const later: Promise<void>[] = [];
    for (const each of cases) {
      each.verdict = this.judge(each);
      const { verdict } = each;
      if (this.settings.proves !== true || verdict.kind !== "duplicate" || verdict.certainty === "proven") continue;
      const proof = this.settings.index.prove(verdict.original);
      const settle = (certainty: Certainty | undefined) => {
        const { original, hit } = verdict;
        each.verdict =
          certainty === undefined ? { kind: "kept", reason: "disproven", original, hit } : { ...verdict, certainty };
      };
      if (proof instanceof Promise) later.push(proof.then(settle));
      else settle(proof);
    }
    return later.length === 0 ? undefined : Promise.all(later);
  }

  private judge({ capture, found }: Case): Verdict {
    if (found === undefined) return NEW;
    const { known, hit } = found;
    const reason = this.whyKept(capture, known, hit);
    if (reason !== undefined) return { kind: "kept", reason, original: known, hit };
    const { originHandling = "index", origin } = this.settings;
    return {
      kind: "duplicate",
      original: known,
      hit,
      certainty: known.certainty,
      origin: originHandling === "none" ? undefined : originHandling === "index" ? known.origin : origin,
    };
  }

  private whyKept(capture: NewCapture, known: KnownCapture, hit: HitKind): HeldReason | undefined {
    const { mirrors, revisits } = this.settings;
    if (hit === "elsewhere" && mirrors !== "duplicates") return "mirror";
    const flaw = whyNotDuplicate(capture);
    if (flaw !== undefined) return flaw;
    const { uri, date } = known.original ?? { uri: known.uri, date: formatIso(known.timeMs) };
    // What a stranger claims to have must be older; what we have ourselves need not be.
    const original = { uri, date, known: known.certainty === "claimed" };
    if (!this.rules.isInReach(original, capture)) return "out-of-reach";
    const reason = this.rules.whyKept(original, capture);
    if (reason !== undefined) return reason;
    // A line of text may count the header too, so only sizes that were measured tell payloads apart.
    const sizes = known.certainty === "claimed" ? undefined : known.payloadSize;
    if (sizes !== undefined && capture.payloadSize !== undefined && sizes !== capture.payloadSize) return "size";
    if (revisits !== true) return undefined;
    if (known.original === undefined) return "no-original";
    return (capture.framing ?? "plain") === (known.framing ?? "plain") ? undefined : "framing";
  }

  private count(each: Case): void {
    const { capture, found } = each;
    const verdict = each.verdict!;
    const host = this.settings.statsPerHost === true ? hostOf(urlKey(each.uri, { stripWww: false })) : undefined;
    const isKept = verdict.kind === "kept";
    if (isKept) {
      const reason = verdict.reason as HeldReason;
      this.kept.set(reason, (this.kept.get(reason) ?? 0) + 1);
    }
    this.duplicates.add({
      host,
      mime: capture.mime,
      bytes: capture.payloadSize ?? 0,
      responseBytes: capture.responseSize,
      hit: found?.hit,
      kept: isKept,
    });
    if (verdict.kind === "duplicate") this.log("info", each, `duplicate (${verdict.hit}) of ${verdict.original.uri}`);
    else if (isKept) this.log("debug", each, `kept: ${verdict.reason}`);
    else this.log("debug", each, "new");
    for (const scheme of this.analysis.take(capture, each.state, host)) {
      this.log("warning", each, `changed, and its headers (${scheme}) deny it`);
    }
  }

  private log(level: DeduplicatorLogLine["level"], { uri }: Case, message: string): void {
    const { logLevel = "off", onLog } = this.settings;
    if (onLog === undefined || LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf(logLevel)) return;
    onLog({ level, uri, message });
  }
}

function isRobots(uri: string): boolean {
  if (!uri.endsWith("/robots.txt")) return false;
  const host = uri.indexOf("://") + 3;
  return host >= 3 && uri.indexOf("/", host) === uri.length - "/robots.txt".length;
}

function urlQuestion({ uri }: Case): KnownQuestion {
  return { by: "url", uri };
}

function equivalentQuestion({ uri, capture }: Case): KnownQuestion {
  return { by: "equivalent", uri, digests: capture.digests };
}

function digestQuestion({ uri, capture }: Case): KnownQuestion {
  const framing = capture.framing === "plain" || capture.framing === "chunked" ? capture.framing : undefined;
  return { by: "digest", digests: capture.digests, uri, framing };
}
