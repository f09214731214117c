/** A server for the store's benchmark, as a process of its own: `store-server.js ours|yardstick FOLDER`. */
import { mkdirSync } from "node:fs";
import { nodeDisk } from "holotype/disk";
import { Codecs, createVolume, openVolume } from "holotype/store";
import { serveVolume } from "holotype/volumed";
import { serveYardstick } from "./store-yardstick.ts";

// A run that was killed leaves no server behind.
process.on("disconnect", () => process.exit(1));
const [kind, folder] = process.argv.slice(2);
if (kind === "yardstick") {
  mkdirSync(folder!, { recursive: true });
  process.send!({ url: `http://127.0.0.1:${await serveYardstick(folder!)}` });
} else {
  createVolume(nodeDisk, folder!);
  const volume = await openVolume(nodeDisk, folder!, { codecs: await Codecs.load() });
  const server = await serveVolume(volume);
  process.send!({ url: server.url });
  process.on("message", () => void server[Symbol.asyncDispose]().then(() => process.exit(0)));
}
