/** A bulk store that went well is logged as done, though its client goes away right after the last answer. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { holotypeAlone, temporaryFolder } from "../cli/holotype.ts";
import { serveFolder } from "./server-process.ts";

it("store put ends its stream", async () => {
  const folder = temporaryFolder();
  const [volume, contents, connector] = ["volume", "contents", "c.xml"].map((name) => join(folder, name));
  mkdirSync(contents!);
  const files = Array.from({ length: 50 }, (_, i) => join(contents!, `${i}`));
  for (const [i, file] of files.entries()) writeFileSync(file, `specimen ${i}`);
  expect(holotypeAlone(["volume", "create", volume!]).exit).toBe(0);
  const server = await serveFolder(volume!, "--log-requests");
  const port = new URL(server.url).port;
  writeFileSync(connector!, `<instance name="x"><volume name="a" host="127.0.0.1" port="${port}"/></instance>`);
  expect(holotypeAlone(["store", "put", "--instance", connector!, ...files])).toMatchObject({ exit: 0 });
  const stores = () =>
    server
      .log()
      .split("\n")
      .filter((line) => line.includes('"kind":"store"'))
      .map((line) => (JSON.parse(line) as { outcome: string }).outcome);
  await expect.poll(() => stores().length).toBe(1);
  server.process.kill("SIGTERM");
  await server.ended;
  expect(stores()).toEqual(["done"]);
});
