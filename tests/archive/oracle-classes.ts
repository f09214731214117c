/**
 * What each visit is, by docs/lifespans.md, "What a visit is": requests, classes, truncated records; and rule 5 of
 * "Revisits", the silent 304, which means a capture of class `state`.
 */
import { type Capture, field, type Request } from "./oracle-records.ts";
import {
  type Answer,
  answerOf,
  classByAnswer,
  compare,
  findPayloads,
  is304,
  isSilent,
  NO_ANSWER,
  ownAnswer,
  timelineDigest,
} from "./oracle-revisits.ts";

/** From the top of the table to its bottom. */
const CLASSES = [
  "state",
  "confirmation",
  "failed",
  "redirect-to-self",
  "part",
  "truncated",
  "unread",
  "other-method",
  "undated",
] as const;
export type CaptureClass = (typeof CLASSES)[number];

/** A capture with all that other records say of it. */
export interface Finding {
  readonly capture: Capture;
  readonly class: CaptureClass;
  readonly answer: Answer;
  /** Absent where it is not known. */
  readonly payload: Buffer | undefined;
}

/** What the captures that are left found. */
export function findAll(
  captures: readonly Capture[],
  removed: readonly Capture[],
  requests: readonly Request[],
): Finding[] {
  const payloads = findPayloads(captures);
  const first = captures.map((capture) => {
    const answer = answerOf(capture, payloads);
    return { capture, answer, payload: payloads.get(capture), class: classOf(capture, answer, requests) };
  });
  const second = first.map((finding) =>
    isTruncated(finding.capture, first) ? { ...finding, class: lowest([finding.class, "truncated"]) } : finding,
  );
  const gone = removed.map((capture) => removedFinding(capture, requests));
  return second.map((finding) => {
    if (!isSilent(finding.capture)) return finding;
    const state = meantBySilent(finding.capture, [...second, ...gone]);
    return state === undefined ? finding : { ...finding, answer: state.answer, payload: state.payload };
  });
}

function lowest(classes: readonly CaptureClass[]): CaptureClass {
  return CLASSES[Math.max(...classes.map((each) => CLASSES.indexOf(each)))]!;
}

/** The class without a look at the payload. */
function classOf(capture: Capture, answer: Answer, requests: readonly Request[]): CaptureClass {
  const request = requestOf(capture, requests);
  const fitting: CaptureClass[] = [classByAnswer(capture.url, answer)];
  if (is304(capture)) fitting.push(request?.hasCondition === false ? "failed" : "confirmation");
  if (capture.type === "revisit" && capture.profile === "unknown") fitting.push("unread");
  if (request !== undefined && request.method !== "GET") fitting.push("other-method");
  if (capture.timeMs === null) fitting.push("undated");
  return lowest(fitting);
}

/** "Requests": the method, and whether there was a condition. */
function requestOf(capture: Capture, requests: readonly Request[]) {
  const own = requests.filter(
    ({ id, url, concurrentTo }) =>
      url === capture.url &&
      ((id !== null && capture.concurrentTo.includes(id)) ||
        (capture.id !== null && concurrentTo.includes(capture.id))),
  );
  const methods = own.map(({ method }) => method).sort();
  const method = methods.includes("GET") ? "GET" : methods[0];
  if (method === undefined) return undefined;
  return { method, hasCondition: own.some((request) => request.method === method && request.hasCondition) };
}

/** "Truncated records": of several whole states at the nearest moment, any will do. */
function isTruncated({ cutOff, body, key, timeMs }: Capture, findings: readonly Finding[]): boolean {
  if (!cutOff || timeMs === null) return false;
  const whole = findings.filter(
    (each) => each.capture.key === key && each.class === "state" && !each.capture.cutOff && each.payload !== undefined,
  );
  const times = whole.map(({ capture }) => capture.timeMs!);
  const before = Math.max(...times.filter((time) => time <= timeMs));
  const after = Math.min(...times.filter((time) => time >= timeMs));
  return whole.some(
    ({ capture, payload }) =>
      (capture.timeMs === before || capture.timeMs === after) && payload!.subarray(0, body!.length).equals(body!),
  );
}

/** "Removal": by its own header and request; a cut-off one is compared with nothing. Its payload is gone. */
function removedFinding(capture: Capture, requests: readonly Request[]): Finding {
  const answer = ownAnswer(capture) ?? NO_ANSWER;
  return { capture, answer, payload: undefined, class: classOf(capture, answer, requests) };
}

/** Rule 5. Removed captures are among the findings, without a payload. */
function meantBySilent(asking: Capture, findings: readonly Finding[]): Finding | undefined {
  const states = findings.filter(
    (each) =>
      each.capture.key === asking.key &&
      each.class === "state" &&
      each.answer.contentStatus === 200 &&
      asking.timeMs !== null &&
      each.capture.timeMs! <= asking.timeMs,
  );
  const last = lastMoment(states);
  // Which of several is the last one cannot be told if one of them is not known.
  if (last.length > 1 && last.some(({ payload }) => payload === undefined)) return undefined;
  let meant = last.at(-1);
  const [name, differs] = comparedBy(asking, meant?.capture);
  if (differs) {
    const alike = lastMoment(states.filter(({ capture }) => validator(capture, name) === validator(asking, name)));
    meant = alike.some(({ payload }) => payload === undefined) ? undefined : alike.at(-1);
  }
  return meant?.payload === undefined ? undefined : meant;
}

/** The validator that both carry, the ETag first, and whether they differ in it. */
function comparedBy(asking: Capture, state: Capture | undefined): readonly [name: string, differs: boolean] {
  for (const name of ["etag", "last-modified"]) {
    const [one, other] = [validator(asking, name), state && validator(state, name)];
    if (one !== undefined && other !== undefined) return [name, one !== other];
  }
  return ["", false];
}

/** Those of the last moment, in the order of the timeline. */
function lastMoment(states: readonly Finding[]): Finding[] {
  const last = Math.max(...states.map(({ capture }) => capture.timeMs!));
  const order = ({ payload, answer, capture }: Finding) =>
    `${payload === undefined ? "" : timelineDigest(payload, answer)} ${capture.mark}`;
  return states
    .filter(({ capture }) => capture.timeMs === last)
    .sort((one, other) => compare(order(one), order(other)));
}

/** An ETag is the same whether it is weak or not. */
function validator({ http }: Capture, name: string): string | undefined {
  const text = http === undefined ? undefined : field(http.fields, name);
  return name === "etag" ? text?.replace(/^W\//, "") : text;
}
