/**
 * A volume whose calls are counted, that can be out of reach, and that can break at a chosen call: before it is carried out,
 * or after, when only the answer is lost.
 */
import { ArchiveError } from "../base/index.ts";
import type { Volume } from "../store/index.ts";

export type Fault = "before" | "after";

export class Broken extends Error {
  override readonly name = "Broken";
}

export interface WatchedVolume<V extends Volume = Volume> {
  readonly volume: Volume;
  /** What is behind it. Another one may take its place. */
  inner: V;
  /** The names of all calls, in their order. */
  readonly calls: string[];
  isDown: boolean;
  /** Asked before every call. */
  faultAt: (call: string) => Fault | undefined;
}

const STREAMS: readonly (string | symbol)[] = ["storeAll", "openAll", "list"];

export function watchVolume<V extends Volume>(inner: V): WatchedVolume<V> {
  const watched: Omit<WatchedVolume<V>, "volume"> = { inner, calls: [], isDown: false, faultAt: () => undefined };
  const check = () => {
    if (watched.isDown) throw new ArchiveError("HT_PEER_UNAVAILABLE", "the volume is out of reach");
  };
  const begin = (name: string): Fault | undefined => {
    check();
    watched.calls.push(name);
    const fault = watched.faultAt(name);
    if (fault === "before") throw new Broken(`before ${name}`);
    return fault;
  };
  const volume = new Proxy<Volume>(inner, {
    get: (_, name) => {
      const target = watched.inner;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name === "symbol") return value;
      const call = value as (...given: unknown[]) => unknown;
      if (STREAMS.includes(name)) {
        return async function* (...given: unknown[]) {
          const fault = begin(name);
          for await (const item of call.apply(target, given) as AsyncIterable<unknown>) {
            check();
            yield item;
          }
          if (fault === "after") throw new Broken(`after ${name}`);
        };
      }
      return async (...given: unknown[]) => {
        const fault = begin(name);
        const answer = await call.apply(target, given);
        if (fault === "after") throw new Broken(`after ${name}`);
        return answer;
      };
    },
  });
  return Object.assign(watched, { volume });
}
