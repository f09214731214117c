/** What a 304 may stand for: never for a record with another status or type, and never on the word of half a header. */
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fetchInto, recordsIn, tickingClock } from "../testing/fetched.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";

const BODY = "the same body, whatever the status says\n".repeat(20);
const LATER_MS = Date.UTC(2026, 8, 1);

const answer = (status: string, headers: string, body: string) =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\nConnection: close\r\n${headers}\r\n${body}`;
const unchanged = (tag: string) => `HTTP/1.1 304 Not Modified\r\nETag: ${tag}\r\nConnection: close\r\n\r\n`;

/** What each path answers; `isAsked` says whether a condition came with the request. */
const ANSWERS: Readonly<Record<string, (isAsked: boolean) => string>> = {
  "/gone": () => answer("404 Not Found", "", BODY),
  "/page": (isAsked) => (isAsked ? unchanged('"p"') : answer("200 OK", 'ETag: "p"\r\n', BODY)),
  "/star": (isAsked) => (isAsked ? unchanged("*") : answer("200 OK", "ETag: *\r\n", `star ${BODY}`)),
  "/cut": (isAsked) =>
    isAsked ? 'HTTP/1.1 304 Not Modified\r\nETag: "k' : answer("200 OK", 'ETag: "k"\r\n', `cut ${BODY}`),
};

let server: Server;
let origin = "";
beforeAll(async () => {
  server = createServer((socket) => {
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if (!text.includes("\r\n\r\n")) return;
      socket.end(ANSWERS[text.split(" ")[1]!]!(/^if-none-match:/im.test(text)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
});
afterAll(() => void server.close());

async function fetchTwice(...paths: readonly string[]) {
  const disk = new ForgetfulDisk();
  const urls = paths.map((path) => `${origin}${path}`);
  await fetchInto(disk, "/first", urls);
  const { retrievals } = await fetchInto(disk, "/second", urls, { clock: tickingClock(LATER_MS), against: ["/first"] });
  return { retrievals, records: recordsIn(disk, "/second") };
}

it("is not asked for where the payload lies in a record with another status", async () => {
  const { retrievals } = await fetchTwice("/gone", "/page");
  const page = retrievals.find(({ uri }) => uri.endsWith("/page"))!;
  expect(page.outcome).toBe("duplicate");
  expect(page.asked).toBeUndefined();
});

it("is not asked for by a tag that fits every content", async () => {
  const { retrievals } = await fetchTwice("/star");
  expect(retrievals).toMatchObject([{ outcome: "duplicate", asked: undefined }]);
});

it("is kept as it is where its header was cut off", async () => {
  const { retrievals, records } = await fetchTwice("/cut");
  expect(retrievals).toMatchObject([{ outcome: "unasked" }]);
  expect(records.filter(({ type }) => type === "revisit")).toEqual([]);
});
