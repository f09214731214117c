/** Examples with hand-computed answers that pin the oracle to docs/lifespans.md, sentence by sentence. */
import { describe, expect, it, test } from "vitest";
import { captureBytes, requestBytes } from "../../src/testing/capture-text.ts";
import { type OracleCapture, oracle } from "./oracle.ts";
import {
  A,
  ask,
  B,
  C,
  CHUNKS,
  check,
  date,
  E,
  ELSEWHERE,
  get,
  head,
  headless,
  KEY,
  P,
  redirect,
  SECURE,
  sha1,
  sha256,
  spans,
  tag,
  time,
  timelineOrder,
  U,
  unchanged,
  undated,
  V,
  visit,
} from "./oracle-examples.ts";

describe("lifespans", () => {
  const nine = [A, A, B, B, B, B, C, C, C].map((payload, i) => get(i + 1, payload));
  check([
    ["nine visits", nine, "A[1,3)2 x2 B[3,7)6 x4 C[7,)9 x3"],
    ["what comes back begins a new one", [get(1, A), get(2, B), get(3, A)], "A[1,2)1 x1 B[2,3)2 x1 A[3,)3 x1"],
    ["an error is a content", [get(1, A), get(2, A, { status: 404 })], "A[1,2)1 x1 A/404[2,)2 x1"],
    ["a redirect elsewhere is a content", [redirect(1, V), redirect(2, ELSEWHERE)], "E/301[1,2)1 x1 E/301[2,)2 x1"],
    ["a redirect to the same place is the same", [redirect(1, V), redirect(2, V)], "E/301[1,)2 x2"],
    [
      "the Location of other answers is nothing",
      [get(1, A, { http: [`Location: ${V}`] }), get(2, A)],
      "A[1,)2 x2",
      "1 state A, 2 state A",
    ],
    ["the media type does not count", [get(1, A), get(2, A, { mime: "text/html" })], "A[1,)2 x2"],
    ["neither does the digest in the header", [get(1, A, { digest: "wrong" }), get(2, A)], "A[1,)2 x2"],
    ["nor chunks", [get(1, A, CHUNKS), get(2, A)], "A[1,)2 x2"],
    ["a resource has no status", [get(1, A, { type: "resource" }), get(2, A)], "A/-[1,2)1 x1 A[2,)2 x1"],
    ["URLs of one key are one", [get(1, A), get(2, A, { uri: SECURE }), get(3, B)], "A[1,3)2 x2 B[3,)3 x1"],
    ["an undated one has no place in time", [get(1, A), undated(B)], "A[1,)1 x1", "- undated B, 1 state A"],
    [
      "finer times are cut",
      [get(1, A), captureBytes({ uri: U, date: "2020-01-01T00:00:10.000999Z", payload: A, id: "fine" })],
      "A[1,)1 x1",
    ],
    ["times are to the millisecond", [get(1, A), get(1.0001, B)], "A[1,1.0001)1 x1 B[1.0001,)1.0001 x1"],
  ]);
});

describe("several captures of one moment", () => {
  const [X, Y] = timelineOrder(A, B) as [Buffer, Buffer];
  const [x, y] = X === A ? ["A", "B"] : ["B", "A"];
  check([
    ["that found the same count once", [get(1, A), get(1, A, { id: "other" }), get(2, A)], "A[1,)2 x2"],
    ["that found two things", [get(1, Y), get(1, X, { id: "x" })], `${x}[1,1)1 x1 ${y}[1,)1 x1`],
    ["the first goes on from before", [get(0, X), get(1, X), get(1, Y, { id: "y" })], `${x}[0,1)1 x2 ${y}[1,)1 x1`],
    ["the last comes back", [get(0, Y), get(1, X), get(1, Y, { id: "y" })], `${y}[0,1)0 x1 ${x}[1,1)1 x1 ${y}[1,)1 x1`],
  ]);
  test("a slice of the moment shows the last, and each is a change", () => {
    const answers = oracle([[get(1, X), get(1, Y, { id: "y" })]]);
    expect(answers.slice(time(1)).map(({ sha256: sha }) => `sha256:${sha}`)).toEqual([sha256(Y)]);
    expect(answers.changes(time(0), time(1)).map(({ kind }) => kind)).toEqual(["appeared", "changed"]);
    expect(answers.certainty(KEY, time(1))).toBe("observed");
  });
});

describe("one capture", () => {
  const twice = { id: "same" };
  /** With the id and the HTTP header of the response. */
  const like = { ...twice, http: "HTTP/1.1 200 Told\r\nContent-Type: text/plain\r\nContent-Length: 300\r\n\r\n" };
  check([
    ["an exact copy", [get(1, A), get(1, A)], "A[1,)1 x1", "1 state A"],
    ["the same id with another payload", [get(1, A, twice), get(2, B, twice)], "A[1,2)1 x1 B[2,)2 x1"],
    [
      "another id",
      [get(1, A), get(1, A, { id: "other" }), get(1, A, { id: null })],
      "A[1,)1 x1",
      "1 state A, 1 state A, 1 state A",
    ],
    [
      "a revisit in the place of the record",
      [get(1, A, { ...twice, version: "WARC/1.1" }), visit(1, sha1(A), like)],
      "A[1,)1 x1",
      "1 state A",
    ],
    [
      "not if it tells another digest of the same",
      [get(1, A, twice), visit(1, sha256(A), like)],
      "A[1,)1 x1",
      "1 state A, 1 state A",
    ],
    [
      "nor with another HTTP header",
      [get(1, A, twice), visit(1, sha1(A), { ...twice, http: head(200) })],
      "A[1,)1 x1",
      "1 state A, 1 state A",
    ],
    [
      "nor with another URL of the same key",
      [get(1, A, twice), visit(1, sha1(A), { ...like, uri: SECURE })],
      "A[1,)1 x1",
      "1 state A, 1 state A",
    ],
    [
      "nor if only one of them is marked as truncated",
      [get(1, A, { ...twice, lines: ["WARC-Truncated: length"] }), get(1, A, twice)],
      "A[1,)1 x1",
      "1 state A, 1 truncated A cut-off",
    ],
    [
      "a record with a false digest is known by its sha256",
      [get(1, A, { ...twice, digest: "wrong" }), visit(1, sha256(A), like)],
      "A[1,)1 x1",
      "1 state A digest-lies",
    ],
  ]);
});

describe("classes", () => {
  const ranges = (range: string) => ({ status: 206, http: [`Content-Range: ${range}`] });
  const failed = (n: number, status: number) => get(n, B, { status });
  check([
    ["a failed visit changes nothing", [get(1, A), failed(2, 503), get(3, A)], "A[1,)3 x2"],
    [
      "which statuses fail",
      [408, 425, 429, 500, 404, 451].map((status, i) => failed(i, status)),
      "B/404[4,5)4 x1 B/451[5,)5 x1",
      "0 failed B/408, 1 failed B/425, 2 failed B/429, 3 failed B/500, 4 state B/404, 5 state B/451",
    ],
    ["a redirect to itself", [get(1, A), redirect(2, SECURE)], "A[1,)1 x1", "1 state A, 2 redirect-to-self E/301"],
    ["its Location is resolved", [redirect(1, "/?")], "", "1 redirect-to-self E/301"],
    ["a part", [get(1, A), get(2, P, ranges("bytes 0-99/300"))], "A[1,)1 x1", "1 state A, 2 part P/206"],
    ["a range that cannot be had", [get(1, E, { status: 416 })], "", "1 part E/416"],
    ["a 206 of the whole counts as 200", [get(1, A), get(2, A, ranges("bytes 0-299/300"))], "A[1,)2 x2"],
    ["a profile that is not known", [get(1, A), visit(2, sha1(A), { profile: "x" })], "A[1,)1 x1"],
    ["none is one by digest", [get(1, A), visit(2, sha1(A), { profile: null })], "A[1,)2 x2"],
    ["a revisit that failed", [get(1, A), visit(2, sha1(A), { http: head(503) }), get(3, B)], "A[1,3)1 x1 B[3,)3 x1"],
    [
      "the lowest in the table counts",
      [get(1, A, { status: 503 }), ask(1, "POST"), captureBytes({ uri: U, date: "", payload: B, status: "503 Told" })],
      "",
      "- undated B/503, 1 other-method A/503",
    ],
  ]);
});

describe("requests", () => {
  const condition = { http: ['If-None-Match: "x"'] };
  const before = get(1, A);
  check([
    ["POST", [get(1, A), ask(1, "POST")], "", "1 other-method A"],
    [
      "named by the capture",
      [get(1, A, { lines: ["WARC-Concurrent-To: <q>"] }), asked("HEAD")],
      "",
      "1 other-method A",
    ],
    ["of another URI", [get(1, A), ask(1, "POST", { uri: SECURE })], "A[1,)1 x1"],
    ["that nobody names", [get(1, A), ask(1, "POST", { concurrentTo: ["r2"] })], "A[1,)1 x1"],
    ["GET wins", [get(1, A), ask(1, "POST"), ask(1, "GET"), ask(1, "DELETE")], "A[1,)1 x1"],
    ["a 304 without a condition", [before, unchanged(2), ask(2, "GET")], "A[1,)1 x1", "1 state A, 2 failed A"],
    ["a 304 with one", [before, unchanged(2), ask(2, "GET", condition)], "A[1,)2 x2", "1 state A, 2 confirmation A"],
    [
      "a condition in one of two",
      [before, unchanged(2), ask(2, "GET", condition), ask(2, "GET", { id: "two" })],
      "A[1,)2 x2",
    ],
    [
      "a condition in a request of another method",
      [before, unchanged(2), ask(2, "GET"), ask(2, "HEAD", condition)],
      "A[1,)1 x1",
    ],
  ]);
});

function asked(method: string): Buffer {
  return requestBytes({ uri: U, date: date(1), method, id: "q" });
}

describe("truncated records", () => {
  const cut = { lines: ["WARC-Truncated: length"] };
  check([
    ["the beginning of what was before", [get(1, A), get(2, P, cut)], "A[1,)1 x1", "1 state A, 2 truncated P cut-off"],
    ["the beginning of what comes after", [get(1, B), get(2, P, cut), get(3, A)], "B[1,3)1 x1 A[3,)3 x1"],
    ["the beginning of neither", [get(1, B), get(2, P, cut)], "B[1,2)1 x1 P[2,)2 x1", "1 state B, 2 state P cut-off"],
    ["only the nearest count", [get(1, A), get(2, B), get(3, P, cut)], "A[1,2)1 x1 B[2,3)2 x1 P[3,)3 x1"],
    ["with the same moment", [get(1, B), get(2, A), get(2, P, { ...cut, id: "p" })], "B[1,2)1 x1 A[2,)2 x1"],
    [
      "both nearest may be at its own moment",
      [get(1, A), get(2, B), get(2, P, { ...cut, id: "p" })],
      timelineOrder(B, P)[0] === B ? "A[1,2)1 x1 B[2,2)2 x1 P[2,)2 x1" : "A[1,2)1 x1 P[2,2)2 x1 B[2,)2 x1",
    ],
    ["shorter than Content-Length", [get(1, A), get(2, P, { contentLength: 300 })], "A[1,)1 x1"],
    ["a first segment", [get(1, A), get(2, P, { lines: ["WARC-Segment-Number: 1"] })], "A[1,)1 x1"],
    ["one that is cut off is not compared with", [get(1, A, cut), get(2, P, cut)], "A[1,2)1 x1 P[2,)2 x1"],
    ["a revisit is", [get(9, A, { uri: V }), visit(1, sha1(A)), get(2, P, cut)], "A[1,)1 x1"],
    ["a failed visit is not", [get(1, A, { status: 500 }), get(2, P, cut)], "P[2,)2 x1"],
  ]);
});

describe("what is shown of a lifespan", () => {
  test("of the capture that it began with", () => {
    const answers = oracle([[get(2, A), get(1, A, { uri: SECURE, mime: "text/html" })]]);
    expect(answers.lifespans[KEY]).toMatchObject([{ url: SECURE, mime: "text/html", size: 300 }]);
  });

  test("of several at one moment, that with the smallest record mark", () => {
    // The sha256 of "a" begins with ca97, that of "b" with 3e23.
    const answers = oracle([[get(1, A, { id: "b", mime: "text/b" }), get(1, A, { id: "a", mime: "text/a" })]]);
    expect(answers.lifespans[KEY]).toMatchObject([{ mime: "text/b" }]);
  });
});

describe("certainty", () => {
  const day = (payload: Buffer) => [get(2, payload), get(4, payload)];
  const anyAt = (n: number) => (capture: OracleCapture) => capture.timeMs === time(n);
  it.each<[string, Buffer[], string, ((capture: OracleCapture) => boolean)?]>([
    ["before all", day(A), "1 undefined"],
    ["at captures and between", day(A), "2 observed, 3 observed, 4 observed"],
    ["after the last", day(A), "5 presumed"],
    ["before another content", [get(2, A), get(4, B), get(6, A)], "3 presumed, 4 observed, 5 presumed"],
    [
      "a failed visit between",
      [...day(A), get(3, B, { status: 503 })],
      "2 observed, 2.5 presumed, 3 presumed, 4 observed",
    ],
    ["a removed visit between", [...day(A), get(3, B)], "2 observed, 2.5 presumed, 3.5 presumed", anyAt(3)],
    ["a pending revisit between", [...day(A), visit(3, sha1(B))], "2.5 presumed, 3 presumed"],
    ["one that came back to life", [...day(A), visit(3, sha1(A))], "2.5 observed, 3 observed"],
    ["others change nothing", [...day(A), redirect(3, SECURE), get(3, B, { status: 416 })], "2.5 observed, 3 observed"],
    [
      "a failed visit at a capture's own time",
      [...day(A), get(4, B, { status: 503, id: "f" })],
      "3 observed, 4 observed",
    ],
  ])("%s", (_, records, expected, removed) => {
    const answers = oracle([records], removed);
    for (const each of expected.split(", ")) {
      const [n, certainty] = each.split(" ");
      expect(`${n} ${answers.certainty(KEY, time(Number(n)))}`).toBe(`${n} ${certainty}`);
    }
  });
});

describe("removal", () => {
  const x = { http: [tag('"x"')] };
  const anyAt =
    (...times: number[]) =>
    (capture: OracleCapture) =>
      times.map(time).includes(capture.timeMs!);
  it.each<[string, Buffer[], number[], string]>([
    ["joins lifespans", [get(1, A), get(2, B), get(3, A)], [2], "A[1,)3 x2"],
    ["ends them earlier", [get(1, A), get(2, A), get(3, B)], [2], "A[1,3)1 x1 B[3,)3 x1"],
    ["leaves a revisit pending", [get(1, A), visit(2, sha1(A)), get(3, B)], [1], "B[3,)3 x1"],
    ["but not if another has the payload", [get(1, A), visit(2, sha1(A)), get(3, A)], [1], "A[2,)3 x2"],
    ["a silent 304 that means it", [get(1, A), get(2, B), unchanged(3)], [2], "A[1,)1 x1"],
    [
      "a silent 304 that means another by its ETag",
      [get(1, A, x), get(2, B, { http: [tag('"y"')] }), unchanged(3, tag('"x"'))],
      [2],
      "A[1,)3 x2",
    ],
    ["a silent 304 behind a removed failure", [get(1, A), get(2, B, { status: 503 }), unchanged(3)], [2], "A[1,)3 x2"],
    [
      "a silent 304 behind a removed answer to POST",
      [get(1, A), get(2, B), ask(2, "POST"), unchanged(3)],
      [2],
      "A[1,)3 x2",
    ],
    [
      "a silent 304 behind a removed one that was cut off",
      [get(1, A), get(2, P, { contentLength: 300 }), unchanged(3)],
      [2],
      "A[1,)1 x1",
    ],
    ["what was truncated before it", [get(1, A), get(2, P, { contentLength: 300 })], [1], "P[2,)2 x1"],
    [
      "the status of a headless revisit",
      [get(1, A, { status: 404 }), get(2, A), headless(3, sha1(A))],
      [2],
      "A/404[1,)3 x2",
    ],
    [
      "a silent 304 after several, one of them removed",
      [get(1, A), get(2, A), get(2, B, { id: "b" }), unchanged(3)],
      [2],
      "A[1,)1 x1",
    ],
    ["everything", [get(1, A), get(2, A)], [1, 2], ""],
  ])("%s", (_, records, times, expected) => {
    expect(spans(oracle([records], anyAt(...times)))).toBe(expected);
  });
});

describe("changes", () => {
  const error = { status: 404 };
  const answers = oracle([
    [get(1, A), get(2, B), get(3, A, error), get(4, B, error), get(5, B), get(6, B)],
    [get(4, C, { uri: V })],
  ]);
  test("kinds, after the one time and up to the other", () => {
    const kinds = (from: number, to: number) =>
      answers.changes(time(from), time(to)).map(({ key, timeMs, kind }) => `${key} ${timeMs - time(0)} ${kind}`);
    expect(kinds(0, 9)).toEqual([
      "example,a)/ 10000 appeared",
      "example,a)/ 20000 changed",
      "example,a)/ 30000 vanished",
      "example,a)/ 40000 changed",
      "example,b)/ 40000 appeared",
      "example,a)/ 50000 appeared",
    ]);
    expect(kinds(1, 2)).toEqual(["example,a)/ 20000 changed"]);
  });

  test("an error at first sight has appeared", () => {
    const first = oracle([[get(1, A, error)]]);
    expect(first.changes(time(0), time(1))).toEqual([{ key: KEY, timeMs: time(1), kind: "appeared" }]);
  });

  test("a slice with the changes up to a later time is the slice of that time", () => {
    const held = new Map(answers.slice(time(2)).map(({ key, sha256: sha }) => [key, sha]));
    for (const { key, timeMs } of answers.changes(time(2), time(4))) held.set(key, answers.at(key, timeMs)!.sha256);
    expect([...held]).toEqual(answers.slice(time(4)).map(({ key, sha256: sha }) => [key, sha]));
  });
});
