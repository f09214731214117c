/**
 * A client of the crawl benchmark, as a process of its own: fetches documents eight at a time, hashes each body and keeps
 * its raw bytes. `crawl-client-run.js ours|node URL COUNT`.
 */
import { createHash } from "node:crypto";
import { Agent, get } from "node:http";

const CONCURRENCY = 8;
/** No document is larger. */
const SPOOL_SIZE = 1 << 18;

/** What was got of one document; its raw bytes are gone with the next one of the same worker. */
interface Got {
  readonly raw: readonly Uint8Array[];
  readonly digest: string;
}

/** Our client reads into one buffer per connection, so what is kept is copied, into one buffer per worker. */
async function createOurs(): Promise<() => (url: string) => Promise<Got>> {
  // The other one does without.
  const { AddressGuard, HttpClient } = await import("holotype/http");
  const client = new HttpClient({ guard: new AddressGuard({ allow: ["127.0.0.0/8"] }) });
  return () => {
    const spool = Buffer.allocUnsafeSlow(SPOOL_SIZE);
    return async (url) => {
      const hash = createHash("sha1");
      let size = 0;
      const answer = await client.exchange(
        { url },
        {
          raw: (bytes) => {
            spool.set(bytes, size);
            size += bytes.length;
          },
          entity: (bytes) => void hash.update(bytes),
        },
      );
      if (answer.kind !== "answer" || answer.end !== "complete") throw new Error(`${url}: not answered`);
      return { raw: [spool.subarray(0, size)], digest: hash.digest("hex") };
    };
  };
}

/** The raw bytes are taken from the socket before `node:http` gets them. */
function createNode(): () => (url: string) => Promise<Got> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY, noDelay: true });
  return () => (url) =>
    new Promise((resolve, reject) => {
      const raw: Buffer[] = [];
      const hash = createHash("sha1");
      const request = get(url, { agent }, (response) => {
        response.on("data", (bytes: Buffer) => void hash.update(bytes));
        response.on("end", () => resolve({ raw, digest: hash.digest("hex") }));
        response.on("error", reject);
      });
      request.on("error", reject);
      request.on("socket", (socket) => {
        const keep = (bytes: Buffer) => void raw.push(bytes);
        socket.prependListener("data", keep);
        request.once("close", () => socket.off("data", keep));
      });
    });
}

const [who, url, count] = process.argv.slice(2);
const startWorker = who === "ours" ? await createOurs() : createNode();
let next = 0;
let size = 0;
await Promise.all(
  Array.from({ length: CONCURRENCY }, async () => {
    const fetchOne = startWorker();
    while (next < Number(count)) {
      const { raw, digest } = await fetchOne(`${url}/bench/${next++}`);
      size += raw.reduce((sum, { length }) => sum + length, digest.length);
    }
  }),
);
// A body each of 26 KB.
if (size < Number(count) * 26_000) throw new Error(`only ${size} bytes came`);
process.exit(0);
