/** CDX servers of every kind, friendly and hostile, on the loopback address. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { createGzip, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { ArchiveError } from "../base/index.ts";
import type { KnownQuestion } from "../dedup/index.ts";
import { CdxServerContents, type CdxServerOptions } from "./cdx-server.ts";

const URI = "http://site.test/img.png";
const DIGEST = "3APZ7HWIXWGYFNBNLJ3UXWWHOJF3BZL3";
const OTHER = "J5YN7EVO2BOL7JAZCRK73IBG5HPWLRTQ";
const QUESTION: KnownQuestion = { by: "url", uri: URI };
const PUBLIC = `test,site)/img.png 20261117221531 ${URI} image/png 200 ${DIGEST} 3683`;

const servers: (Server | TcpServer)[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
  }
});

async function listen(server: Server | TcpServer): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/index`;
}

type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void;

/** A server, and one who asks it; pauses are noted, and take no time. */
async function ask(handler: Handler, options: Partial<CdxServerOptions> = {}) {
  const urls: string[] = [];
  const url = await listen(
    createServer((request, response) => {
      urls.push(request.url!);
      handler(request, response, urls.length);
    }),
  );
  const pauses: number[] = [];
  const refusals: ArchiveError[] = [];
  const pause = (ms: number) => {
    pauses.push(ms);
    return Promise.resolve();
  };
  const onRefusal = (error: ArchiveError) => void refusals.push(error);
  const contents = new CdxServerContents({ url, pause, onRefusal, ...options });
  return { contents, urls, pauses, refusals };
}

function answering(text: string): Handler {
  return (_, response) => void response.end(text);
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    return (error as ArchiveError).code;
  }
}

describe("a CDX server is asked", () => {
  it("as its kind wants it", async () => {
    for (const [dialect, limit] of [
      ["wayback", "limit=-5&filter=%21mimetype%3Awarc%2Frevisit"],
      ["outbackcdx", "sort=reverse&limit=5&filter=%21mimetype%3Awarc%2Frevisit"],
      ["pywb", "sort=reverse&limit=5&filter=%21%3Dmime%3Awarc%2Frevisit&output=json"],
    ] as const) {
      const { contents, urls } = await ask(answering(""), { dialect });
      expect(await contents.find([{ by: "url", uri: "http://a.test/?q=a b&c=*" }])).toEqual([undefined]);
      expect(urls).toEqual([`/index?url=http%3A%2F%2Fa.test%2F%3Fq%3Da+b%26c%3D*&matchType=exact&${limit}`]);
    }
  });

  it("for what it knows, and for nothing else", async () => {
    const { contents, urls } = await ask(answering(PUBLIC));
    expect([...contents.answers]).toEqual(["url"]);
    const unanswered: KnownQuestion[] = [
      { by: "digest", digests: [`sha1:${DIGEST}`], uri: URI },
      { by: "equivalent", digests: [`sha1:${DIGEST}`], uri: URI },
      { by: "url", uri: `http://a.test/${"x".repeat(9000)}` },
    ];
    expect(await contents.find(unanswered)).toEqual([undefined, undefined, undefined]);
    expect(urls).toEqual([]);
    expect(await contents.find([])).toEqual([]);
  });

  it("with headers that its operator wants", async () => {
    const token = (request: IncomingMessage, response: ServerResponse) => {
      response.statusCode = request.headers.authorization === "Bearer s" ? 200 : 401;
      response.end(PUBLIC);
    };
    const friend = await ask(token, { headers: { authorization: "Bearer s" } });
    expect((await friend.contents.find([QUESTION]))[0]?.uri).toBe(URI);
    const stranger = await ask(token);
    expect(await codeOf(stranger.contents.find([QUESTION]))).toBe("HT_FORBIDDEN");
    for (const url of ["ftp://a.test/", "http://user:secret@a.test/", "nothing"])
      expect(() => new CdxServerContents({ url })).toThrow(/not the URL of a server/);
  });
});

describe("the answer of a CDX server", () => {
  const revisit = `test,site)/img.png 20261118000000 ${URI} warc/revisit - ${OTHER} 400`;
  const json = { urlkey: "test,site)/img.png", timestamp: "20261117221531", mime: "image/png", status: "200" };
  const forms: Readonly<Record<string, string>> = {
    "the public CDX server": `${PUBLIC}\n${revisit}\n`,
    "one with CRLF": `${PUBLIC}\r\n`,
    OutbackCDX: `test,site)/img.png 20261117221531 ${URI} image/png 200 ${DIGEST} - - 3683 12 a.warc.gz\n`,
    "a server with a header line": ` CDX N b a m s k S\n${revisit}\n${PUBLIC}\n`,
    "pywb, CDXJ": `test,site)/img.png 20261117221531 ${JSON.stringify({ url: URI, digest: `sha1:${DIGEST}`, mime: "image/png", status: "200" })}\n`,
    "pywb, JSON": `${JSON.stringify({ ...json, url: URI, digest: DIGEST })}\n${JSON.stringify({ ...json, url: URI, mime: "warc/revisit", timestamp: "20270101000000", digest: OTHER })}\n`,
    "Wayback, JSON": JSON.stringify([
      ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"],
      ["test,site)/img.png", "20261117221531", URI, "image/png", "200", DIGEST, "3683"],
    ]),
    "OutbackCDX, JSON": JSON.stringify([
      ["test,site)/img.png", 20261117221531, URI, "image/png", 200, DIGEST, 3683, 12, "a.warc.gz"],
    ]),
  };

  it.each(Object.keys(forms))("is read: %s", async (name) => {
    const { contents } = await ask(answering(forms[name]!));
    const [known] = await contents.find([QUESTION]);
    expect(known).toEqual({
      uri: URI,
      timeMs: Date.UTC(2026, 10, 17, 22, 15, 31),
      digests: [`sha1:${DIGEST}`],
      status: 200,
      mime: "image/png",
      original: { uri: URI, date: "2026-11-17T22:15:31Z" },
      certainty: "claimed",
    });
    expect(contents.prove(known!)).toBe("claimed");
  });

  it("is the newest state of the URL, however it is sorted and spelled", async () => {
    const line = (time: string, uri: string, status: string, digest: string) =>
      `k ${time} ${uri} text/html ${status} ${digest} 1`;
    const lines = [
      line("20200101000000", URI, "200", OTHER),
      line("20210101000000", "https://www.site.test/img.png", "200", DIGEST),
      line("20190101000000", URI, "200", OTHER),
      line("20220101000000", URI, "503", OTHER),
      line("20230101000000", URI, "206", OTHER),
      line("20240101000000", "http://site.test/other.png", "200", OTHER),
      line("20250101000000", URI, "200", "-"),
      line("20260101000000", URI, "200", "nonsense"),
    ];
    const { contents } = await ask(answering(lines.join("\n")));
    const [known] = await contents.find([QUESTION]);
    expect(known?.digests).toEqual([`sha1:${DIGEST}`]);
    expect(known?.original).toEqual({ uri: "https://www.site.test/img.png", date: "2021-01-01T00:00:00Z" });
  });

  it("may be compressed", async () => {
    const { contents } = await ask((_, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync(PUBLIC));
    });
    expect((await contents.find([QUESTION]))[0]?.uri).toBe(URI);
  });

  it("is nothing where there is no line, and 404 for those who say so", async () => {
    for (const text of ["", "\n\n", "<html>Not here</html>", "[]", "[[1", "{", "null", '{"timestamp": {}}', revisit]) {
      const { contents } = await ask(answering(text));
      expect(await contents.find([QUESTION])).toEqual([undefined]);
    }
    const missing: Handler = (_, response) => {
      response.statusCode = 404;
      response.end('{"message": "No Captures"}');
    };
    const pywb = await ask(missing, { dialect: "pywb" });
    expect(await pywb.contents.find([QUESTION])).toEqual([undefined]);
    const wrong = await ask(missing);
    expect(await codeOf(wrong.contents.find([QUESTION]))).toBe("HT_PEER_UNAVAILABLE");
  });

  it("comes by digest from a server for that", async () => {
    const records: Handler = (request, response) => {
      const isKnown = request.url!.startsWith(`/api/records/${DIGEST}?`);
      response.statusCode = isKnown ? 200 : 404;
      response.end(isKnown ? JSON.stringify({ id: DIGEST, uri: URI, date: 20261117221531 }) : "");
    };
    const server = await listen(createServer((request, response) => records(request, response, 0)));
    const recordsUrl = server.replace("/index", "/api/records/");
    const contents = new CdxServerContents({ url: server, recordsUrl });
    expect([...contents.answers]).toEqual(["url", "digest"]);
    const uri = "http://elsewhere.test/?a=b&c";
    const [known, unknown] = await contents.find([
      { by: "digest", digests: [`sha256:${"0".repeat(64)}`, `sha1:${DIGEST}`], uri },
      { by: "digest", digests: [`sha1:${OTHER}`], uri },
    ]);
    expect([known?.uri, known?.digests, known?.certainty]).toEqual([URI, [`sha1:${DIGEST}`], "claimed"]);
    expect(known?.original?.date).toBe("2026-11-17T22:15:31Z");
    expect(unknown).toBeUndefined();
  });

  it("by digest counts only if it is of that digest", async () => {
    for (const answer of [{ id: OTHER, uri: URI, date: 20261117221531 }, { id: DIGEST, uri: 7, date: 1 }, [], "x"]) {
      const url = await listen(createServer((_, response) => void response.end(JSON.stringify(answer))));
      const other = new CdxServerContents({ url, recordsUrl: url });
      expect(await other.find([{ by: "digest", digests: [`sha1:${DIGEST}`], uri: URI }])).toEqual([undefined]);
    }
  });
});

describe("a CDX server that fails", () => {
  it("is asked again, later each time", async () => {
    for (const status of [500, 502, 503, 429, 408]) {
      const { contents, urls, pauses } = await ask((_, response, count) => {
        response.statusCode = count < 4 ? status : 200;
        response.end(count < 4 ? "busy" : PUBLIC);
      });
      expect((await contents.find([QUESTION]))[0]?.uri).toBe(URI);
      expect([urls.length, pauses]).toEqual([4, [500, 1000, 2000]]);
    }
  });

  it("says how long to wait, within reason", async () => {
    const { contents, pauses } = await ask((_, response, count) => {
      if (count < 4) response.writeHead(429, { "retry-after": ["7", "999999", "soon"][count - 1]! });
      response.end(PUBLIC);
    });
    await contents.find([QUESTION]);
    expect(pauses).toEqual([7000, 60_000, 2000]);
  });

  it("is given up after some tries, whatever else was asked", async () => {
    for (const [status, code] of [
      [500, "HT_PEER_UNAVAILABLE"],
      [503, "HT_BUSY"],
      [429, "HT_BUSY"],
    ] as const) {
      const { contents, urls } = await ask((_, response) => void response.writeHead(status).end(), {
        requestCountMax: 1,
      });
      const questions = Array.from({ length: 20 }, (_, i): KnownQuestion => ({ by: "url", uri: `${URI}?${i}` }));
      expect(await codeOf(contents.find(questions))).toBe(code);
      expect(urls).toHaveLength(4);
    }
  });

  it("makes nobody wait for the pauses of others", async () => {
    const pause = (_: number, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
    const { contents } = await ask(
      (request, response) => void response.writeHead(request.url!.includes("wrong") ? 405 : 500).end(),
      { pause },
    );
    const questions = [QUESTION, QUESTION, { by: "url", uri: "http://wrong/" }] as const;
    expect(await codeOf(contents.find(questions))).toBe("HT_PEER_UNAVAILABLE");
  });

  it("loses the connection, or is not there", async () => {
    const lost = await ask((_, response, count) => {
      if (count === 1) response.destroy();
      else if (count === 2) {
        response.writeHead(200, { "content-length": "500" });
        response.write(PUBLIC, () => response.destroy());
      } else response.end(PUBLIC);
    });
    expect((await lost.contents.find([QUESTION]))[0]?.uri).toBe(URI);
    expect(lost.urls).toHaveLength(3);
    const pause = () => Promise.resolve();
    const nobody = new CdxServerContents({ url: "http://127.0.0.1:1/cdx?key=secret", pause });
    const failure = await nobody.find([QUESTION]).catch((error: ArchiveError) => error);
    expect(failure).toMatchObject({ code: "HT_PEER_UNAVAILABLE", place: { file: "http://127.0.0.1:1/cdx" } });
    expect((failure as ArchiveError).message).not.toContain("secret");
  });

  it("never answers, or never ends", async () => {
    const options = { timeoutMs: 60, tries: 2 };
    const silent = await ask(() => {}, options);
    expect(await codeOf(silent.contents.find([QUESTION]))).toBe("HT_PEER_UNAVAILABLE");
    expect(silent.urls).toHaveLength(2);
    const slow = await ask((_, response) => {
      const timer = setInterval(() => response.write("x"), 10);
      response.on("close", () => clearInterval(timer));
    }, options);
    const failure = await slow.contents.find([QUESTION]).catch((error: ArchiveError) => error);
    expect((failure as ArchiveError).message).toContain("timed out after 0.06 s");
  });

  it("speaks no HTTP", async () => {
    const url = await listen(createTcpServer((socket) => void socket.on("error", () => {}).end("220 ready\r\n")));
    const contents = new CdxServerContents({ url, tries: 1 });
    expect(await codeOf(contents.find([QUESTION]))).toBe("HT_PEER_UNAVAILABLE");
  });

  it("sends us elsewhere: nobody follows", async () => {
    const { contents, urls } = await ask((_, response) => void response.writeHead(302, { location: "/secret" }).end());
    expect(await codeOf(contents.find([QUESTION]))).toBe("HT_PEER_UNAVAILABLE");
    expect(urls).toHaveLength(1);
  });
});

describe("a hostile answer", () => {
  /** Sends pieces for as long as somebody reads, and counts the bytes. */
  function endless(piece: Buffer) {
    const sent = { bytes: 0, closed: 0 };
    const handler: Handler = (_, response) => {
      const push = () => {
        while (!response.destroyed && response.write(piece)) sent.bytes += piece.length;
        sent.bytes += piece.length;
      };
      response.on("drain", push).on("close", () => sent.closed++);
      push();
    };
    return { sent, handler };
  }

  it("without an end is cut off, and the next question is answered", async () => {
    const { sent, handler } = endless(Buffer.from(`${PUBLIC}\n`.repeat(1000)));
    const { contents, urls, refusals } = await ask((request, response, count) => {
      if (count === 1) handler(request, response, count);
      else response.end(PUBLIC);
    });
    expect(await contents.find([QUESTION])).toEqual([undefined]);
    expect(refusals.map(({ code }) => code)).toEqual(["HT_TOO_LARGE"]);
    expect((await contents.find([QUESTION]))[0]?.uri).toBe(URI);
    await expect.poll(() => sent.closed).toBe(1);
    expect(sent.bytes).toBeLessThan(64 << 20);
    expect(urls).toHaveLength(2);
  });

  it("without an end that says it is busy is not read", async () => {
    const { sent, handler } = endless(Buffer.alloc(1000));
    const { contents, urls } = await ask((request, response, count) => {
      if (count === 1) response.statusCode = 503;
      if (count === 1) handler(request, response, count);
      else response.end(PUBLIC);
    });
    expect((await contents.find([QUESTION]))[0]?.uri).toBe(URI);
    await expect.poll(() => sent.closed).toBe(1);
    expect(urls).toHaveLength(2);
  });

  it("that inflates to more than it may be is cut off", async () => {
    const zeros = Buffer.alloc(1 << 20);
    const { contents, refusals } = await ask((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      const bomb = createGzip();
      const feed = () => {
        while (!response.destroyed && bomb.write(zeros));
      };
      bomb.on("drain", feed).pipe(response);
      feed();
    });
    expect(await contents.find([QUESTION])).toEqual([undefined]);
    expect(refusals.map(({ code }) => code)).toEqual(["HT_TOO_LARGE"]);
  });

  it("with lines that are none is read without them", async () => {
    const lines = [
      "x".repeat(500_000),
      `{"timestamp": "20261117221531", "url": ${"[".repeat(50_000)}`,
      `k 20261117221531 {"url": "${"y".repeat(100_000)}"}`,
      "\0\ufffd {}",
      `__proto__ 20261117221531 {"__proto__": 1, "url": "${URI}", "digest": {}}`,
      "k 99999999999999 http://site.test/img.png text/html 200 - -",
      PUBLIC,
    ];
    const { contents } = await ask(answering(lines.join("\n")));
    expect((await contents.find([QUESTION]))[0]?.digests).toEqual([`sha1:${DIGEST}`]);
    const nested = await ask(answering("[".repeat(1_000_000)));
    expect(await nested.contents.find([QUESTION])).toEqual([undefined]);
  });

  it("to one question leaves the others alone", async () => {
    const { contents, refusals } = await ask((request, response) => {
      if (request.url!.includes("bad")) response.writeHead(400).end("bad URL");
      else response.end(PUBLIC);
    });
    const answers = await contents.find([QUESTION, { by: "url", uri: "http://bad/" }, QUESTION]);
    expect(answers.map((known) => known?.uri)).toEqual([URI, undefined, URI]);
    expect(refusals.map(({ code }) => code)).toEqual(["HT_USAGE"]);
  });
});

it("asks several at a time, and never more than it may", async () => {
  let [now, most] = [0, 0];
  const { contents, urls } = await ask(
    (request, response) => {
      most = Math.max(most, ++now);
      setTimeout(() => {
        now--;
        const uri = new URL(request.url!, "http://x/").searchParams.get("url")!;
        response.end(`k 20261117221531 ${uri} text/html 200 ${DIGEST} 1`);
      }, 5);
    },
    { requestCountMax: 3 },
  );
  const questions = Array.from({ length: 30 }, (_, i): KnownQuestion => ({ by: "url", uri: `http://a.test/${i}` }));
  const batches = await Promise.all([contents.find(questions.slice(0, 20)), contents.find(questions.slice(20))]);
  expect(batches.flat().map((known) => known?.uri)).toEqual(questions.map(({ uri }) => uri));
  expect([most, urls.length]).toEqual([3, 30]);
});
