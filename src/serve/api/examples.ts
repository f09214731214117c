/** Examples of calls that find something in a collection. */
import type { Collection } from "../collection.ts";
import type { Endpoint } from "./endpoints.ts";

/** What stands for the names in braces of an example. */
export interface ExampleValues {
  readonly url: string;
  readonly time: string;
  readonly sha256: string;
  readonly typed: string;
}

const NO_CAPTURE: ExampleValues = {
  url: "https://example.com/",
  time: "now",
  sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  typed: "exam",
};
const TYPED_LENGTH = 4;

/** Of the first state that a collection has, so that every example finds something. */
export async function exampleValues(collection: Collection): Promise<ExampleValues> {
  for await (const batch of collection.captures({ limit: 1000 })) {
    for (const { url, timeMs, sha256, class: kind } of batch) {
      if (kind !== "state" || timeMs === undefined || sha256 === undefined || !/^https?:/.test(url)) continue;
      const host = url.replace(/^https?:\/\/(?:www\.)?/, "").replace(/[/?#].*$/s, "");
      const time = String(new Date(timeMs).getUTCFullYear());
      return { url, time, sha256, typed: host.slice(0, TYPED_LENGTH) };
    }
  }
  return NO_CAPTURE;
}

/** Path and query of an example, such as `/api/at?url=…&time=2014`. */
export function exampleTarget(name: string, { example }: Endpoint, values: ExampleValues, coll?: string): string {
  const given = Object.entries({ ...(coll === undefined ? {} : { coll }), ...example });
  const query = given.map(([parameter, value]) => {
    const text = value.replace(/^\{(\w+)\}$/, (_, word: string) => values[word as keyof ExampleValues]);
    return `${parameter}=${encodeURIComponent(text).replace(/'/g, "%27").replaceAll("%3A", ":").replaceAll("%2F", "/")}`;
  });
  return `/api/${name}?${query.join("&")}`;
}
