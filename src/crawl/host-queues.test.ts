import { describe, expect, it } from "vitest";
import { HostQueues } from "./host-queues.ts";

/** Takes everything with so many takers; each item takes one turn of the event loop, or as long as it says. */
async function takeAll(queues: HostQueues<string>, takers: number, onTake: (item: string) => void | Promise<void>) {
  const take = async () => {
    for (let turn = await queues.next(); turn !== undefined; turn = await queues.next()) {
      await onTake(turn.item);
      await new Promise((resolve) => setImmediate(resolve));
      turn.end();
    }
  };
  await Promise.all(Array.from({ length: takers }, take));
}

describe("the queues of hosts", () => {
  it("give each host one thing at a time, in order, and all hosts their turn", async () => {
    const queues = new HostQueues<string>(0);
    for (let i = 0; i < 3000; i++) queues.add(`host${i % 3}`, `${i % 3} ${i}`);
    const taken: string[] = [];
    const busy = new Set<string>();
    await takeAll(queues, 8, async (item) => {
      const host = item.split(" ")[0]!;
      expect(busy.has(host)).toBe(false);
      busy.add(host);
      taken.push(item);
      await new Promise((resolve) => setImmediate(resolve));
      busy.delete(host);
    });
    expect(taken).toHaveLength(3000);
    for (const host of ["0", "1", "2"]) {
      const own = taken.filter((item) => item.startsWith(`${host} `)).map((item) => Number(item.split(" ")[1]));
      expect(own).toEqual([...own].sort((one, other) => one - other));
    }
    // None of them waits until another is through.
    expect(new Set(taken.slice(0, 30).map((item) => item.split(" ")[0])).size).toBe(3);
  });

  it("let a host rest between two things, but not behind the last", async () => {
    const queues = new HostQueues<string>(60);
    for (const item of ["a 1", "a 2", "a 3", "b 1"]) queues.add(item.slice(0, 1), item);
    const times = new Map<string, number>();
    const start = performance.now();
    await takeAll(queues, 4, (item) => void times.set(item, performance.now() - start));
    const tookMs = performance.now() - start;
    expect(times.get("b 1")).toBeLessThan(50);
    expect(times.get("a 2")! - times.get("a 1")!).toBeGreaterThanOrEqual(59);
    expect(times.get("a 3")! - times.get("a 2")!).toBeGreaterThanOrEqual(59);
    expect(tookMs - times.get("a 3")!).toBeLessThan(50);
  });

  it("wait for what is under way, which may bring more", async () => {
    const queues = new HostQueues<string>(0);
    queues.add("a", "first");
    const taken: string[] = [];
    await takeAll(queues, 3, (item) => {
      taken.push(item);
      if (item === "first") {
        queues.add("b", "second");
        queues.add("a", "third");
      }
    });
    expect(taken.sort()).toEqual(["first", "second", "third"]);
  });

  it("give nothing more once they are closed, not even to those that wait", async () => {
    const queues = new HostQueues<string>(10_000);
    queues.add("a", "one");
    queues.add("a", "two");
    const turn = await queues.next();
    turn!.end();
    const late = queues.next();
    queues.close();
    expect(await late).toBeUndefined();
    expect(await queues.next()).toBeUndefined();
  });
});
