/**
 * A server for one state of the sample site, on the loopback address only. It answers with exactly the headers of
 * `resourcesOf`, and adds none of its own.
 *
 * To look at a state: `node scripts/sample-site/server.mjs 2013 8080`.
 */
import { createServer } from "node:http";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";
import { MISSING_PATH, resourcesOf, STATES } from "./site.mjs";

const CHUNK_SIZE = 1024;

const VALIDATORS = new Set(["ETag", "Last-Modified"]);

/** Whether the client has this version already: by its ETag, or else by its date. */
function isUnchanged({ "if-none-match": tag, "if-modified-since": date }, headers) {
  if (tag !== undefined) return tag === headers.get("ETag");
  const modified = headers.get("Last-Modified");
  return date !== undefined && modified !== undefined && Date.parse(modified) <= Date.parse(date);
}

/** Resolves to the port and a function that stops the server. */
export async function serveState(state, port = 0) {
  const resources = new Map(resourcesOf(state).map((resource) => [resource.path, resource]));
  const server = createServer((request, response) => {
    const found = resources.get(request.url) ?? resources.get(MISSING_PATH);
    response.sendDate = false;
    response.removeHeader("Connection");
    response.removeHeader("Keep-Alive");
    if (found.status === 200 && isUnchanged(request.headers, new Map(found.headers))) {
      response.writeHead(304, found.headers.filter(([name]) => VALIDATORS.has(name)).flat());
      response.end();
      return;
    }
    response.writeHead(found.status, found.headers.flat());
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    if (found.framing === "chunked") {
      for (let at = 0; at < found.body.length; at += CHUNK_SIZE) {
        response.write(found.body.subarray(at, at + CHUNK_SIZE));
      }
      response.end();
    } else {
      response.end(found.body);
    }
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    port: server.address().port,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href) {
  const state = STATES.find(({ name }) => name === argv[2]);
  if (state === undefined) throw new Error(`which state? One of ${STATES.map(({ name }) => name).join(", ")}`);
  const { port } = await serveState(state, Number(argv[3] ?? 0));
  console.log(`http://127.0.0.1:${port}/`);
}
