/** Four volumes of which one is sick, and clients that go on: with time that passes only when everybody waits. */
import { describe, expect, it, vi } from "vitest";
import { ArchiveError } from "../../base/index.ts";
import { createDice } from "../../testing/dice.ts";
import { allOf, InstanceFixture, textAt } from "../../testing/instance-fixture.ts";
import { MemoryVolume } from "../../testing/memory-volume.ts";
import { VirtualTime } from "../../testing/virtual-time.ts";
import { Codecs } from "../codec.ts";
import { type ContentKey, formatContentKey } from "../content-key.ts";
import { AMONG_OTHERS, LATE_TRIES } from "../remote/deadlines.ts";
import type { Volume } from "../volume.ts";
import { Instance } from "./instance.ts";
import type { MemberSpec } from "./member.ts";
import { PLACEMENTS } from "./placement.ts";

const codecs = await Codecs.load();
const CALL_MS = 100;
/** `hung`: takes connections and says nothing; `cut`: takes none; `stopped`: refuses them. */
type Sickness = "hung" | "cut" | "stopped";
const WAIT_MS: Readonly<Record<Sickness, number>> = {
  hung: LATE_TRIES * AMONG_OTHERS.answerTimeoutMs,
  cut: LATE_TRIES * AMONG_OTHERS.connectTimeoutMs,
  stopped: 350,
};

class Host {
  readonly volume: Volume;
  readonly memory: MemoryVolume;
  sickness: Sickness | undefined;
  /** When it was asked while it was sick. */
  readonly askedMs: number[] = [];

  constructor(time: VirtualTime, number: number) {
    this.memory = new MemoryVolume(codecs, { id: createDice(number + 1).uuid() });
    const travel = async () => {
      const { sickness } = this;
      if (sickness !== undefined) this.askedMs.push(time.nowMs);
      await time.sleep(sickness === undefined ? CALL_MS : WAIT_MS[sickness]);
      if (sickness !== undefined) throw new ArchiveError("HT_PEER_UNAVAILABLE", `timed out: ${sickness}`);
    };
    this.volume = new Proxy<Volume>(this.memory, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function" || typeof name === "symbol") return value;
        const call = value as (...given: unknown[]) => unknown;
        if (["storeAll", "openAll", "list"].includes(name)) {
          return async function* (...given: unknown[]) {
            await travel();
            yield* call.apply(target, given) as AsyncIterable<unknown>;
          };
        }
        return async (...given: unknown[]) => {
          await travel();
          return await call.apply(target, given);
        };
      },
    });
  }
}

function setUp(replicas: number) {
  const time = new VirtualTime();
  const hosts = Array.from({ length: 4 }, (_, i) => new Host(time, i));
  const members = hosts.map(({ volume }, i): MemberSpec => {
    return { name: `v${i}`, state: "writable", weight: 1, open: () => Promise.resolve(volume) };
  });
  const options = { codecs, clock: { now: time.now }, pause: time.sleep, placement: PLACEMENTS.rendezvous };
  const instance = new Instance({ signature: "sha256", replicas, members }, options);
  return { time, hosts, instance };
}

describe.each(["hung", "cut", "stopped"] as const)("one of four hosts is %s", (sickness) => {
  it("and the others go on: nothing is lost, and nobody waits for long", async () => {
    const { time, hosts, instance } = setUp(2);
    const kept: { readonly key: ContentKey; readonly text: string }[] = [];
    const done: { readonly atMs: number; readonly tookMs: number }[] = [];
    const END_MS = 80_000;
    const [SICK_MS, WELL_MS] = [10_000, 40_000];
    const client = async (number: number) => {
      const dice = createDice(number + 100);
      for (let i = 0; time.nowMs < END_MS; i++) {
        hosts[2]!.sickness = time.nowMs >= SICK_MS && time.nowMs < WELL_MS ? sickness : undefined;
        const text = `content ${i} of client ${number}`;
        let startedMs = time.nowMs;
        const { key } = await instance.store(Buffer.from(text));
        done.push({ atMs: time.nowMs, tookMs: time.nowMs - startedMs });
        kept.push({ key, text });
        const earlier = kept[Math.floor((dice.bytes(1)[0]! / 256) * kept.length)]!;
        startedMs = time.nowMs;
        expect(await textAt(instance, earlier.key)).toBe(earlier.text);
        done.push({ atMs: time.nowMs, tookMs: time.nowMs - startedMs });
      }
    };
    await time.run(Promise.all([0, 1, 2, 3, 4, 5].map(client)));
    const rate = (fromMs: number, toMs: number) =>
      done.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).length / (toMs - fromMs);
    const healthy = rate(2000, SICK_MS);
    expect(rate(SICK_MS + 10_000, WELL_MS) / healthy).toBeGreaterThan(0.6);
    expect(Math.max(...done.map(({ tookMs }) => tookMs))).toBeLessThan(10_000);
    // It is in use again, and as fast as before.
    expect(rate(END_MS - 15_000, END_MS) / healthy).toBeGreaterThan(0.9);
    // While it was passed over, it was asked by one probe at a time, less and less often.
    const late = hosts[2]!.askedMs.filter((atMs) => atMs >= SICK_MS + 10_000);
    expect(late.length).toBeLessThan(sickness === "stopped" ? 40 : 6);
    for (const { key, text } of kept) expect(await time.run(textAt(instance, key)), formatContentKey(key)).toBe(text);
  });

  it("and many at once are stored and read", async () => {
    const { time, hosts, instance } = setUp(2);
    const items = Array.from({ length: 60 }, (_, i) => ({ content: Buffer.from(`content ${i}`) }));
    const first = await time.run(allOf(instance.storeAll(items.slice(0, 30))));
    hosts[1]!.sickness = sickness;
    const second = await time.run(allOf(instance.storeAll(items.slice(30))));
    const keys = [...first, ...second].map((answer) => {
      if ("error" in answer) throw answer.error;
      return answer.stored.key;
    });
    const texts: (string | undefined)[] = [];
    const read = async () => {
      for await (const { retrieved } of instance.retrieveAll(keys)) {
        texts.push(retrieved && Buffer.from(retrieved.content as Uint8Array).toString());
      }
    };
    await time.run(read());
    expect(texts).toEqual(items.map(({ content }) => content.toString()));
  });
});

describe("a volume that is passed over", () => {
  async function passedOver(replicas: number) {
    const fixture = new InstanceFixture(3, { replicas });
    const instance = fixture.open();
    const { key } = await instance.store(Buffer.from("a label"));
    fixture.volumes[key.volume]!.isDown = true;
    return { fixture, instance, key };
  }

  it("is read from no more while replicas answer, and is not asked as another", async () => {
    const { fixture, instance, key } = await passedOver(2);
    expect(await textAt(instance, key)).toBe("a label");
    fixture.volumes[key.volume]!.isDown = false;
    fixture.calls();
    expect(await textAt(instance, key)).toBe("a label");
    expect(fixture.calls()[key.volume]).toBe("");
    const [answer] = await allOf(instance.retrieveAll([key]));
    expect(answer!.retrieved).toBeDefined();
    expect(fixture.calls()[key.volume]).toBe("");
  });

  it("is asked by one probe when its time has come, and used again when that is answered", async () => {
    const { fixture, instance, key } = await passedOver(2);
    await textAt(instance, key);
    fixture.volumes[key.volume]!.isDown = false;
    fixture.nowMs += 5000;
    fixture.calls();
    await Promise.all([1, 2, 3].map(() => textAt(instance, key)));
    expect(fixture.calls()[key.volume]).toBe("describe");
    await textAt(instance, key);
    expect(fixture.calls()[key.volume]).toBe("open");
  });

  it("is asked where no replica is left", async () => {
    const { fixture, instance, key } = await passedOver(2);
    await textAt(instance, key);
    fixture.volumes[key.volume]!.isDown = false;
    for (const [i, watched] of fixture.volumes.entries()) watched.isDown = i !== key.volume;
    expect(await textAt(instance, key)).toBe("a label");
  });
});

it("volumes are told within two seconds, also where one hangs", async () => {
  vi.useFakeTimers();
  try {
    const hung = new Proxy<Volume>(new MemoryVolume(codecs), {
      get: (target, name) =>
        name === "describe" ? () => new Promise(() => {}) : (Reflect.get(target, name, target) as unknown),
    });
    const well = new MemoryVolume(codecs, { id: createDice(7).uuid() });
    const members = [hung, well].map((volume, i): MemberSpec => {
      return { name: `v${i}`, state: "writable", weight: 1, open: () => Promise.resolve(volume) };
    });
    const instance = new Instance({ signature: "sha256", replicas: 1, members }, { codecs });
    const reports = instance.volumes();
    await vi.advanceTimersByTimeAsync(2000);
    expect(await reports).toMatchObject([{ error: { code: "HT_PEER_UNAVAILABLE" } }, { description: { blocks: 0 } }]);
    // Nor is it waited for at the end.
    await instance[Symbol.asyncDispose]();
  } finally {
    vi.useRealTimers();
  }
});
