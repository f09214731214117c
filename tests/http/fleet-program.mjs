// A program that a fleet starts: it serves its own process id, and dies or fails to start where it is asked to.
import { fleetMember, serveHttp } from "../../dist/http/index.js";

const fleet = fleetMember();
if (process.argv[2] === "fail") process.exit(21);
const server = await serveHttp(
  async (request) => {
    request.route = "pid";
    if (request.target === "/die") process.exit(7);
    if (request.target === "/hang") for (;;);
    if (request.target === "/slow") await new Promise((resolve) => setTimeout(resolve, 300));
    return { status: 200, headers: [["Connection", "close"]], body: String(process.pid) };
  },
  { fleet },
);
await fleet.closing;
await server.close();
