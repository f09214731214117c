/** The same for the section "Revisits": the five rules, and the status of a revisit. */
import { describe, expect, test } from "vitest";
import { digestOf } from "../../src/base/index.ts";
import { captureBytes } from "../../src/testing/capture-text.ts";
import { oracle } from "./oracle.ts";
import {
  A,
  B,
  C,
  CHUNKS,
  check,
  confirm,
  date,
  E,
  ELSEWHERE,
  EMPTY_SHA1,
  get,
  head,
  headless,
  KEY,
  modified,
  P,
  redirect,
  sha1,
  sha256,
  storedA,
  tag,
  timelineOrder,
  U,
  unchanged,
  undated,
  V,
  visit,
  WRONG,
} from "./oracle-examples.ts";

const md5 = (bytes: Buffer) => `md5:${digestOf("md5", bytes).hex}`;

describe("what a revisit refers to", () => {
  const at = (uri: string, n: number) => ({ refersTo: { uri, date: date(n) } });
  const by = (id: string) => ({ refersTo: { id } });
  const there = get(9, A, { uri: V });
  const alike = { id: "x", uri: V };
  check([
    ["1: the digest of nothing", [get(1, A), visit(2, EMPTY_SHA1, by("r1"))], "A[1,2)1 x1 E[2,)2 x1"],
    ["1: a 304 with it is as without", [get(1, A), confirm(2, EMPTY_SHA1)], "A[1,)2 x2"],
    [
      "1: and may name another",
      [get(1, A), get(2, B), confirm(3, EMPTY_SHA1, by("r1"))],
      "A[1,2)1 x1 B[2,3)2 x1 A[3,)3 x1",
    ],
    ["2: sha1, of whatever URL and time", [visit(1, sha1(A)), there], "A[1,)1 x1"],
    ["2: sha256", [visit(1, sha256(A)), there], "A[1,)1 x1"],
    ["2: before what it names", [get(1, A), get(2, B), visit(3, sha1(A), by("r2"))], "A[1,2)1 x1 B[2,3)2 x1 A[3,)3 x1"],
    [
      "2: of the stored body, told",
      [get(9, A, { uri: V, ...CHUNKS, digest: "stored" }), visit(1, sha1(storedA()))],
      "A[1,)1 x1",
    ],
    [
      "2: of the stored body, not told",
      [get(9, A, { uri: V, ...CHUNKS }), visit(1, sha1(storedA()))],
      "",
      "1 state ? pending",
    ],
    [
      "2: a false one leads nowhere",
      [get(9, A, { uri: V, digest: "wrong" }), visit(1, WRONG)],
      "",
      "1 state ? pending",
    ],
    ["2: of an undated one", [undated(A), visit(1, sha1(A))], "A[1,)1 x1"],
    [
      "2: two payloads have it, and it names none",
      [get(8, storedA(), { uri: V }), get(9, A, { uri: V, ...CHUNKS, digest: "stored" }), visit(1, sha1(storedA()))],
      "",
    ],
    [
      "2: two payloads have it, and it names one",
      [
        get(8, storedA(), { uri: V }),
        get(9, A, { uri: V, ...CHUNKS, digest: "stored" }),
        visit(1, sha1(storedA()), by("r9")),
      ],
      "A[1,)1 x1",
    ],
    [
      "2: two payloads have it, and it names a third that claims it",
      [
        get(7, B, { uri: V, digestText: sha1(storedA()) }),
        get(8, storedA(), { uri: V }),
        get(9, A, { uri: V, ...CHUNKS, digest: "stored" }),
        visit(1, sha1(storedA()), by("r7")),
      ],
      "",
    ],
    ["2: md5, told by nobody", [there, visit(1, md5(A))], "", "1 state ? pending"],
    ["2: md5, told by the capture", [get(9, A, { uri: V, digestText: md5(A) }), visit(1, md5(A))], "A[1,)1 x1"],
    ["3: md5, told by nobody", [there, visit(1, md5(A), by("r9"))], "A[1,)1 x1"],
    ["3: by id", [there, visit(1, undefined, by("r9"))], "A[1,)1 x1"],
    ["3: with a digest that does not fit", [there, visit(1, sha1(B), by("r9"))], "", "1 state ? pending"],
    [
      "3: that of the stored body",
      [get(9, A, { uri: V, ...CHUNKS }), visit(1, sha1(storedA()), by("r9"))],
      "A[1,)1 x1",
    ],
    [
      "3: the false one in its header",
      [get(9, A, { uri: V, digest: "wrong" }), visit(1, WRONG, by("r9"))],
      "A[1,)1 x1",
    ],
    ["3: two with the id", [get(8, A, alike), get(9, B, alike), visit(1, undefined, by("x"))], ""],
    [
      "3: two with the id, one of URI and second",
      [get(8, A, alike), get(9, B, alike), visit(1, undefined, { refersTo: { id: "x", uri: V, date: date(9) } })],
      "B[1,)1 x1",
    ],
    ["4: by URI and date", [there, visit(1, undefined, at(V, 9))], "A[1,)1 x1"],
    [
      "4: where the id leads nowhere",
      [there, visit(1, undefined, { refersTo: { id: "z", ...at(V, 9).refersTo } })],
      "A[1,)1 x1",
    ],
    ["4: not by a URI alone", [there, visit(1, undefined, { refersTo: { uri: V } })], ""],
    ["4: a digest that does not fit", [there, visit(1, sha1(B), at(V, 9))], ""],
    [
      "4: the exact URI in that second before an equal key at the moment",
      [get(9, A, { uri: "https://b.example/" }), get(9.05, B, { uri: V }), visit(1, undefined, at(V, 9))],
      "B[1,)1 x1",
    ],
    [
      "4: the exact moment before the second",
      [get(9, A, { uri: V }), get(9.05, B, { uri: V }), visit(1, undefined, at(V, 9.05))],
      "B[1,)1 x1",
    ],
    [
      "4: an equal key in that second",
      [get(9.05, B, { uri: V }), visit(1, undefined, at("https://b.example/", 9))],
      "B[1,)1 x1",
    ],
    ["4: different payloads", [there, get(9, B, { uri: V, id: "b" }), visit(1, undefined, at(V, 9))], ""],
    ["a revisit that leads to one by 2", [there, visit(5, sha1(A)), visit(1, undefined, by("v5"))], "A[1,)5 x2"],
    [
      "one that leads to one by 3, if it is earlier",
      [there, visit(1, undefined, by("r9")), visit(5, undefined, by("v1"))],
      "A[1,)5 x2",
    ],
    [
      "not if it is later",
      [there, visit(5, undefined, by("r9")), visit(1, undefined, by("v5"))],
      "A[5,)5 x1",
      "1 state ? pending, 5 state A",
    ],
    ["nobody is its own original", [visit(1, undefined, by("v1"))], "", "1 state ? pending"],
    ["a 304 response is nobody's", [get(1, A), unchanged(2), visit(3, undefined, by("r2"))], "A[1,)2 x2"],
    ["a silent 304 is nobody's", [get(1, A), confirm(2), visit(3, undefined, by("v2"))], "A[1,)2 x2"],
    [
      "a 304 that tells its original is one",
      [get(1, A), confirm(2, undefined, by("r1")), visit(3, undefined, by("v2"))],
      "A[1,)3 x3",
    ],
  ]);
});

describe("a silent 304", () => {
  const x = { http: [tag('"x"')] };
  const y = { http: [tag('"y"')] };
  check([
    ["means the last state", [get(1, A), get(2, B), unchanged(3), get(4, A)], "A[1,2)1 x1 B[2,4)3 x2 A[4,)4 x1"],
    ["at its own moment too", [get(1, A), get(2, B), unchanged(2)], "A[1,2)1 x1 B[2,)2 x1"],
    ["of status 200", [get(1, A), get(2, B, { status: 404 }), confirm(3)], "A[1,2)1 x1 B/404[2,3)2 x1 A[3,)3 x1"],
    ["not a later one", [unchanged(1), get(2, A)], "A[2,)2 x1", "1 confirmation ?/- pending, 2 state A"],
    ["not one of another URL", [get(1, A, { uri: V }), unchanged(2)], ""],
    ["not a truncated one", [get(1, A), get(2, P, { contentLength: 300 }), unchanged(3)], "A[1,)3 x2"],
    ["nothing, where that is pending", [get(1, A), visit(2, sha1(B)), unchanged(3)], "A[1,)1 x1"],
    [
      "the last with its ETag",
      [get(1, A, x), get(2, B, y), unchanged(3, tag('W/"x"'))],
      "A[1,2)1 x1 B[2,3)2 x1 A[3,)3 x1",
    ],
    ["none where no state has its ETag", [get(1, A, x), unchanged(2, tag('"z"'))], "A[1,)1 x1"],
    ["the last, where that has no ETag", [get(1, A, x), get(2, B), unchanged(3, tag('"x"'))], "A[1,2)1 x1 B[2,)3 x2"],
    [
      "the last with its Last-Modified",
      [get(1, A, { http: [modified(1)] }), get(2, B, { http: [modified(2)] }), unchanged(3, modified(1))],
      "A[1,2)1 x1 B[2,3)2 x1 A[3,)3 x1",
    ],
    [
      "which does not count beside equal ETags",
      [get(1, A, { http: [tag('"x"'), modified(1)] }), unchanged(2, tag('"x"'), modified(2))],
      "A[1,)2 x2",
    ],
    [
      "the last of several in the order of the timeline",
      [get(1, A), get(1, B, { id: "b" }), unchanged(2)],
      timelineOrder(A, B)[0] === A ? "A[1,1)1 x1 B[1,)2 x2" : "B[1,1)1 x1 A[1,)2 x2",
    ],
    [
      "is every response, whatever it refers to",
      [get(1, A), get(2, B), get(3, E, { status: 304, lines: ["WARC-Refers-To: <r1>"] }), get(4, C, { status: 304 })],
      "A[1,2)1 x1 B[2,)4 x3",
    ],
    [
      "is no revisit that tells URI and date, even in vain",
      [get(1, A), confirm(2, undefined, { refersTo: { uri: V, date: date(1) } })],
      "A[1,)1 x1",
    ],
    ["is one that tells a URI alone", [get(1, A), confirm(2, undefined, { refersTo: { uri: V } })], "A[1,)2 x2"],
    [
      "none of several with its ETag, if one is pending",
      [get(1, A, x), visit(1, sha1(C), { http: head(200, tag('"x"')) }), get(2, B, y), unchanged(3, tag('"x"'))],
      "A[1,2)1 x1 B[2,)2 x1",
    ],
    [
      "an undated one confirms nothing",
      [get(1, A), captureBytes({ uri: U, date: "", payload: E, status: "304 Told" })],
      "A[1,)1 x1",
      "- undated ?/- pending, 1 state A",
    ],
    ["none of several, if one is pending", [get(1, A), visit(1, sha1(B)), unchanged(2)], "A[1,)1 x1"],
  ]);
});

describe("status and location of a revisit", () => {
  const by = (id: string) => ({ refersTo: { id } });
  const gone = (n: number, uri = U) => get(n, A, { uri, status: 404 });
  check([
    ["its own", [get(1, A), visit(2, sha1(A), { http: head(404) })], "A[1,2)1 x1 A/404[2,)2 x1"],
    [
      "that of the one it names",
      [get(1, A), gone(2), headless(3, sha1(A), by("r1"))],
      "A[1,2)1 x1 A/404[2,3)2 x1 A[3,)3 x1",
    ],
    [
      "else of the last of its URL",
      [get(1, A), gone(2), headless(3, sha1(A)), get(4, A)],
      "A[1,2)1 x1 A/404[2,4)3 x2 A[4,)4 x1",
    ],
    [
      "by URI and date too",
      [get(1, A), gone(2), headless(3, sha1(A), { refersTo: { uri: U, date: date(1) } })],
      "A[1,2)1 x1 A/404[2,3)2 x1 A[3,)3 x1",
    ],
    [
      "not of an unread one",
      [get(1, A), visit(2, sha1(A), { http: head(404), profile: "x" }), headless(3, sha1(A))],
      "A[1,)3 x2",
    ],
    ["not of a later one", [get(1, A), headless(2, sha1(A)), gone(3)], "A[1,3)2 x2 A/404[3,)3 x1"],
    [
      "a 304 has none of its own, whatever its header says",
      [gone(1), confirm(2, sha1(A), { http: head(200) })],
      "A/404[1,)2 x2",
    ],
    [
      "a confirmation of a failed visit is one",
      [get(1, B), get(2, A, { status: 503 }), confirm(3, sha1(A))],
      "B[1,)1 x1",
      "1 state B, 2 failed A/503, 3 failed A/503",
    ],
    ["not of a failed one", [get(1, A), get(2, A, { status: 500 }), headless(3, sha1(A))], "A[1,)3 x2"],
    [
      "else of the earliest of all",
      [gone(8, V), get(9, A, { uri: "http://z.example/" }), headless(1, sha1(A))],
      "A/404[1,)1 x1",
    ],
    ["but not of an empty one", [get(8, E, { uri: V }), headless(1, EMPTY_SHA1)], "E/-[1,)1 x1"],
    ["nor of an undated one", [undated(A), headless(1, sha1(A))], "A/-[1,)1 x1"],
    ["of a 304 with a digest", [gone(1), get(2, B), confirm(3, sha1(A))], "A/404[1,2)1 x1 B[2,3)2 x1 A/404[3,)3 x1"],
    [
      "its location",
      [redirect(1, V), redirect(2, ELSEWHERE), headless(3, EMPTY_SHA1, by("r1"))],
      "E/301[1,2)1 x1 E/301[2,3)2 x1 E/301[3,)3 x1",
    ],
  ]);
  test("its media type", () => {
    const answers = oracle([[get(1, A, { mime: "image/png" }), headless(2, sha1(A)), visit(3, sha1(A)), confirm(4)]]);
    expect(answers.captures[KEY]!.map(({ mime }) => mime)).toEqual([
      "image/png",
      "image/png",
      "text/plain",
      "text/plain",
    ]);
  });
});
