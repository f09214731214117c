/**
 * The paper's DeDupFetchHTTP: fetches a document whose URL may be known, and spares what its headers say has not changed.
 * By conditional requests it is the server's word that nothing has changed, and a capture. By reading the header and no
 * more it is a prediction, and none. A share of the documents is fetched in any case, so that it can be measured how far
 * headers are to be trusted.
 */
import { type Clock, formatDigest, formatIso } from "../base/index.ts";
import {
  Deduplicator,
  HeaderPredictor,
  handledTypes,
  type KnownCapture,
  type KnownContents,
  type NewCapture,
  timeOfDate,
} from "../dedup/index.ts";
import type { HttpClient } from "../http/index.ts";
import { type HttpHead, mediaType } from "../warc/index.ts";
import { AnswerTaker } from "./answer-taker.ts";
import type { WireCapture } from "./capture-records.ts";
import type { CaptureWriter, Ruling } from "./capture-writer.ts";
import { type FetchSettings, isAudited } from "./fetch-settings.ts";
import { knownEntry } from "./learned-entry.ts";
import { redirectOf } from "./redirect.ts";
import type { Assignment } from "./retrieval.ts";
import { type Fetched, headersOf, judged, predicted, predictedRetrieval, unasked, unchanged } from "./rulings.ts";
import { conditionFor, isEarlier, isReferable } from "./validators.ts";
import type { SpoolPool } from "./wire-spool.ts";

export interface ConditionalFetcherParts {
  readonly client: HttpClient;
  /** Who knows what there is, this crawl's own captures among them. */
  readonly known: KnownContents;
  readonly writer: CaptureWriter;
  readonly spools: SpoolPool;
  readonly settings: FetchSettings;
  readonly clock: Clock;
  /** Whether a URL was captured before and is fetched again, since nothing was told of it. */
  readonly isAgain?: ((uri: string) => boolean) | undefined;
}

/** What is known of a document before it is fetched. */
type Before = Omit<Fetched, "answer" | "capture">;

export class ConditionalFetcher {
  private readonly parts: ConditionalFetcherParts;
  private readonly deduplicator: Deduplicator;
  private readonly predictor: HeaderPredictor;
  private readonly isHandled: (mime: string | undefined) => boolean;

  constructor(parts: ConditionalFetcherParts) {
    const { known, settings } = parts;
    this.parts = parts;
    this.predictor = new HeaderPredictor(settings.scheme);
    this.isHandled = handledTypes(settings.matching.mimeFilter);
    const { matching } = settings;
    this.deduplicator = new Deduplicator({ index: known, analysis: "none", revisits: true, proves: true, ...matching });
  }

  /**
   * Fetches one document and hands what became of it to the writer. Returns where a redirect leads that is to be followed.
   * Whatever server and network do is an outcome; rejects where what came cannot be written, and with HT_INTERRUPTED where
   * `signal` was aborted.
   */
  async fetch(assignment: Assignment, signal?: AbortSignal): Promise<Assignment | undefined> {
    const before = await this.look(assignment);
    const { client, spools, settings, writer } = this.parts;
    const spool = spools.take();
    try {
      const taker = new AnswerTaker(spool, (head) => (this.sparesBody(before, head) ? "abort" : undefined));
      const headers = [...settings.headers, ...(before.condition?.headers ?? [])];
      const answer = await client.exchange({ url: assignment.uri, headers }, taker, { signal });
      if (answer.kind === "failure") {
        const { startMs, endMs, status, code } = answer;
        const durationMs = endMs - startMs;
        await writer.note({ ...assignment, startMs, durationMs, status, outcome: "failed", failure: code });
        return undefined;
      }
      const capture = taker.finish(answer);
      await this.take({ ...before, answer, capture });
      return redirectOf(assignment, capture.head, settings.redirectsMax)?.target;
    } finally {
      spools.give(spool);
    }
  }

  private async look(assignment: Assignment): Promise<Before> {
    const { known, settings } = this.parts;
    const { uri } = assignment;
    const asks = settings.deduplicates && known.answers.has("url");
    const found = asks ? known.find([{ by: "url", uri }]) : [];
    const [state] = found instanceof Promise ? await found : found;
    const isAgain = this.parts.isAgain?.(uri) === true;
    const before = { assignment, state, isAgain, isAudited: isAudited(uri, settings) };
    const unconditional = { ...before, condition: undefined, certainty: undefined };
    if (settings.by !== "conditional" || before.isAudited || state === undefined) return unconditional;
    const condition = this.mayRefer(state) ? conditionFor(settings.scheme, state) : undefined;
    if (condition === undefined) return unconditional;
    if (!(await this.hasHeaderOfOriginal(state))) return unconditional;
    // A 304 leaves nothing to store, so what it will refer to has to be there.
    const certainty = await known.prove(state);
    const isRefused = certainty === undefined || (certainty === "claimed" && settings.refusesClaims);
    return isRefused ? unconditional : { ...before, condition, certainty };
  }

  /** Whether a record that is written now may say that the document is what it was in this capture. */
  private mayRefer(state: KnownCapture): boolean {
    return isReferable(state) && isEarlier(state, this.parts.clock.now()) && this.isHandled(state.mime);
  }

  /**
   * A revisit by 304 has the status and the header of the record that it refers to. Where that is of another URL, it must be
   * a document of the same type, and what is known of that URL must be that very record.
   */
  private async hasHeaderOfOriginal(state: KnownCapture): Promise<boolean> {
    const { original, uri, mime } = state;
    if (original === undefined || original.uri === uri) return original !== undefined;
    const [other] = await this.parts.known.find([{ by: "url", uri: original.uri }]);
    const isThatRecord = other?.original?.uri === original.uri && isSameSecond(other.original.date, original.date);
    return isThatRecord && (other.status ?? 200) === 200 && other.mime === mime;
  }

  /** The scheme of the paper: what the header says decides whether the body is read. */
  private sparesBody({ state, isAudited: isChosen }: Before, head: HttpHead | undefined): boolean {
    const { by, refusesClaims } = this.parts.settings;
    if (by !== "abort" || isChosen || head?.status !== 200 || state === undefined || !this.mayRefer(state))
      return false;
    if (refusesClaims && state.certainty === "claimed") return false;
    return this.predictor.predict(headersOf(head), state) === "non-change";
  }

  private async take(fetched: Fetched): Promise<void> {
    const { writer, settings } = this.parts;
    const { answer, capture, condition, state } = fetched;
    if (answer.end === "aborted") {
      if (settings.writePredicted) await writer.append(capture, () => predicted(fetched, settings));
      else await writer.note(predictedRetrieval(fetched, settings), knownEntry(state!));
    } else if (capture.head?.status === 304) {
      // One that was cut off may have been about to say something else.
      const rule = condition === undefined || capture.truncated !== undefined ? unasked : unchanged;
      await writer.append(capture, () => rule(fetched, settings));
    } else await writer.append(capture, () => this.decide(fetched));
  }

  private async decide(fetched: Fetched): Promise<Ruling> {
    const { capture } = fetched;
    const { settings } = this.parts;
    if (!settings.deduplicates) return judged(fetched, { kind: "kept", reason: "disabled" }, settings);
    // Without a header there is nothing that a revisit could keep of the answer.
    if (capture.head === undefined) return judged(fetched, { kind: "new" }, settings);
    const verdicts = this.deduplicator.decide([candidateOf(capture)]);
    const [verdict] = verdicts instanceof Promise ? await verdicts : verdicts;
    return judged(fetched, verdict!, settings);
  }
}

function isSameSecond(one: string, other: string): boolean {
  const [ms, otherMs] = [timeOfDate(one), timeOfDate(other)];
  return ms !== undefined && otherMs !== undefined && Math.floor(ms / 1000) === Math.floor(otherMs / 1000);
}

function candidateOf(capture: WireCapture): NewCapture {
  const { uri, timeMs, head, framing, payloadSize, truncated, answer } = capture;
  return {
    uri,
    date: formatIso(timeMs),
    mime: mediaType(head?.headers.get("content-type")),
    framing,
    payloadSize,
    length: undefined,
    truncated: truncated !== undefined,
    empty: payloadSize === 0,
    digests: capture.payloadDigests.map(formatDigest),
    status: head?.status,
    responseSize: answer.size,
  };
}
