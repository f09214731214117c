import { describe, expect, it } from "vitest";
import { recordedAnswer } from "../testing/recorded-answer.ts";
import type { HttpHead } from "../warc/index.ts";
import { MessageFramer } from "./index.ts";

interface Framed {
  readonly framer: MessageFramer;
  readonly raw: string;
  readonly entity: string;
  readonly used: number;
}

function frame(text: string, method = "GET", verdict?: "abort"): Framed {
  const heads: (HttpHead | undefined)[] = [];
  let raw = "";
  let entity = "";
  const framer = new MessageFramer({
    method,
    sink: {
      head: (head) => {
        expect(raw + entity).toBe("");
        heads.push(head);
        return verdict;
      },
      raw: (bytes) => {
        raw += Buffer.from(bytes).toString("latin1");
      },
      entity: (bytes) => {
        entity += Buffer.from(bytes).toString("latin1");
      },
    },
  });
  const used = framer.push(Buffer.from(text, "latin1"));
  framer.finish("closed");
  expect(heads).toEqual(framer.end === undefined ? [] : [framer.head]);
  expect(recordedAnswer(Buffer.from(raw, "latin1")).payload.toString("latin1")).toBe(entity);
  return { framer, raw, entity, used };
}

const OK = "HTTP/1.1 200 OK\r\n";

describe("the end of an answer", () => {
  it.each<[name: string, answer: string, entity: string, end: string, ...flaws: string[]]>([
    ["is that of its length", `${OK}Content-Length: 2\r\n\r\nab`, "ab", "complete"],
    ["is its header for no length", `${OK}Content-Length: 0\r\n\r\n`, "", "complete"],
    ["is the last chunk", `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`, "ab", "complete"],
    ["is the close", `${OK}X: y\r\n\r\nab`, "ab", "complete"],
    [
      "is the close for a length that is given twice",
      `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
      "ab",
      "complete",
      "length-conflict",
    ],
    [
      "is that of the last of equal lengths",
      `${OK}Content-Length: 2\r\nContent-Length: 02\r\n\r\nab`,
      "ab",
      "complete",
      "length-list",
    ],
    [
      "is the close for another transfer coding",
      `${OK}Transfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nab`,
      "ab",
      "complete",
      "length-and-chunked",
      "transfer-coding",
    ],
    [
      "is that of the length beside `identity`",
      `${OK}Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nab`,
      "ab",
      "complete",
    ],
    [
      "is the last chunk where one of two fields says so",
      `${OK}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`,
      "ab",
      "complete",
      "transfer-coding",
    ],
    ["is missing in a short body", `${OK}Content-Length: 3\r\n\r\nab`, "ab", "disconnect", "body-cut"],
    ["is missing in a header", `${OK}Content-Le`, "", "disconnect", "head-cut"],
    ["is missing where chunks never begin", `${OK}Transfer-Encoding: chunked\r\n\r\n`, "", "disconnect", "chunk-cut"],
    [
      "may lack the blank line after the last chunk",
      `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n`,
      "ab",
      "complete",
      "trailer-cut",
    ],
    [
      "is the close after a broken chunk",
      `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\nmore`,
      "ab",
      "complete",
      "chunk-broken",
    ],
    ["is the close for text", "The quick brown fox\r\n\r\njumps", "jumps", "complete", "not-http"],
    ["is the close for text without a blank line", "The quick brown fox", "", "complete", "not-http"],
    ["is the close for bytes", "\x89PNG", "\x89PNG", "complete", "no-head"],
    ["is the close after blank lines", `\r\n${OK}X: y\r\n\r\nab`, `\r\n${OK}X: y\r\n\r\nab`, "complete", "no-head"],
  ])("%s", (_, answer, entity, end, ...flaws) => {
    const framed = frame(answer);
    expect(framed).toMatchObject({ raw: answer, entity, framer: { end, flaws } });
  });

  it("leaves what follows it alone", () => {
    const first = `${OK}Content-Length: 2\r\n\r\nab`;
    const chunked = `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nA: b\r\n\r\n`;
    for (const answer of [first, chunked]) {
      expect(frame(answer + first)).toMatchObject({ raw: answer, entity: "ab", used: answer.length });
    }
  });

  it("is the header for HEAD, 204 and 304, whatever it says", () => {
    const fields = "Transfer-Encoding: chunked\r\n\r\n";
    for (const [start, method] of [
      ["200 OK", "HEAD"],
      ["204 No", "GET"],
      ["304 No", "GET"],
    ] as const) {
      const answer = `HTTP/1.1 ${start}\r\n${fields}`;
      expect(frame(`${answer}2\r\nab\r\n0\r\n\r\n`, method)).toMatchObject({ raw: answer, entity: "" });
    }
  });
});

describe("interim answers", () => {
  it("are no part of the answer", () => {
    const answer = `${OK}Content-Length: 2\r\n\r\nab`;
    const framed = frame(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\n${answer}`);
    expect(framed).toMatchObject({ raw: answer, entity: "ab", framer: { interimCount: 2, flaws: [] } });
  });

  it("that nothing follows are no answer", () => {
    expect(frame("HTTP/1.1 100 Continue\r\n\r\n")).toMatchObject({
      raw: "",
      framer: { end: undefined, interimCount: 1 },
    });
  });

  it("are not those that switch protocols", () => {
    const answer = "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n";
    expect(frame(`${answer}\x81\x05hello`)).toMatchObject({ raw: answer, framer: { flaws: ["switched-unasked"] } });
  });
});

describe("a sink", () => {
  it("may want the header alone", () => {
    const head = `${OK}Content-Length: 2\r\n\r\n`;
    const framed = frame(`${head}ab`, "GET", "abort");
    expect(framed).toMatchObject({ raw: head, entity: "", used: head.length });
    expect(framed.framer).toMatchObject({ end: "aborted", keepsConnection: false, flaws: [] });
  });

  it("loses nothing by wanting the header of an answer that is nothing else", () => {
    const framed = frame('HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n', "GET", "abort");
    expect(framed.framer).toMatchObject({ end: "complete", keepsConnection: true });
  });
});

describe("a connection", () => {
  it.each<[kept: boolean, answer: string]>([
    [true, `${OK}Content-Length: 0\r\n\r\n`],
    [true, `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    [true, "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n"],
    [true, "HTTP/1.1 204 No\r\nX: y\r\n\r\n"],
    [false, "HTTP/1.1 204 No\r\nContent-Length: 6\r\n\r\n"],
    [false, "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"],
    [false, `${OK}Connection: close\r\nContent-Length: 0\r\n\r\n`],
    [false, `${OK}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n`],
    [false, "HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n"],
    [false, "ICY 200 OK\r\nContent-Length: 0\r\n\r\n"],
    [false, `${OK}X: y\r\n\r\n`],
    [false, `${OK}Content-Length: 5\r\n\r\nab`],
  ])("is kept (%s) after %j", (kept, answer) => {
    expect(frame(answer).framer.keepsConnection).toBe(kept);
  });
});
