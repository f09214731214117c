/** Several processes on one port, as built. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { type LogEntry, startFleet } from "../../src/http/index.ts";
import { ask } from "../../src/testing/http-exchange.ts";

const file = fileURLToPath(new URL("fleet-program.mjs", import.meta.url));

async function start({ args = [] as readonly string[], closeTimeoutMs = 10_000 } = {}) {
  const log: LogEntry[] = [];
  const fleet = await startFleet({
    count: 2,
    closeTimeoutMs,
    program: { file, args },
    onLog: (entry) => log.push(entry),
  });
  const pids = async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(`${fleet.url}/`)));
    return new Set(answers.map(({ body }) => body.toString()));
  };
  return { fleet, log, pids, [Symbol.asyncDispose]: () => fleet.close() };
}

it("processes share a port, and count together", async () => {
  await using fixture = await start();
  expect((await fixture.pids()).size).toBe(2);
  for (let i = 0; i < 4; i++) {
    const metrics = (await ask(`${fixture.fleet.url}/metrics`)).body.toString();
    expect(metrics).toContain('holotype_operations_total{kind="pid",outcome="200"} 8\n');
  }
});

it("a process that dies is replaced", async () => {
  await using fixture = await start();
  const before = await fixture.pids();
  await expect(ask(`${fixture.fleet.url}/die`)).rejects.toThrow();
  expect((await fixture.pids()).size).toBe(1);
  await expect.poll(async () => (await fixture.pids()).size, { timeout: 10_000, interval: 200 }).toBe(2);
  expect(await fixture.pids()).not.toEqual(before);
  expect(fixture.log.find(({ event }) => event === "process ended")).toMatchObject({
    level: "error",
    ended: "exit status 7",
  });
});

it("closing finishes what is under way", async () => {
  const fixture = await start();
  const slow = Promise.all([ask(`${fixture.fleet.url}/slow`), ask(`${fixture.fleet.url}/slow`)]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await fixture.fleet.close();
  expect((await slow).map(({ status }) => status)).toEqual([200, 200]);
  await expect(ask(fixture.fleet.url)).rejects.toThrow("ECONNREFUSED");
});

it("closing kills a process that hangs", async () => {
  const fixture = await start({ closeTimeoutMs: 500 });
  const hung = expect(ask(`${fixture.fleet.url}/hang`)).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await fixture.fleet.close();
  await hung;
});

it("a program that does not start is an error", async () => {
  await expect(start({ args: ["fail"] })).rejects.toMatchObject({ code: "HT_LOCKED" });
});
