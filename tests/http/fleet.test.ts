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
  /** Which process takes a connection is up to the kernel: asks until both have answered. */
  const both = async () => {
    const seen = new Set<string>();
    let count = 0;
    for (; seen.size < 2 && count < 800; count += 8) for (const pid of await pids()) seen.add(pid);
    expect(seen.size).toBe(2);
    return { seen, count };
  };
  return { fleet, log, pids, both, [Symbol.asyncDispose]: () => fleet.close() };
}

it("processes share a port, and count together", async () => {
  await using fixture = await start();
  const { count } = await fixture.both();
  for (let i = 0; i < 4; i++) {
    const metrics = (await ask(`${fixture.fleet.url}/metrics`)).body.toString();
    expect(metrics).toContain(`holotype_operations_total{kind="pid",outcome="200"} ${count}\n`);
  }
});

it("a process that dies is replaced", async () => {
  await using fixture = await start();
  const { seen } = await fixture.both();
  const dying = expect(ask(`${fixture.fleet.url}/die`)).rejects.toThrow();
  // Whoever comes meanwhile is answered, or cut off with the process that took the connection; nobody waits for ever.
  await Promise.allSettled(Array.from({ length: 8 }, () => ask(`${fixture.fleet.url}/`)));
  await dying;
  const others = async () => [...(await fixture.pids())].filter((pid) => !seen.has(pid)).length;
  await expect.poll(others, { timeout: 10_000, interval: 100 }).toBe(1);
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
