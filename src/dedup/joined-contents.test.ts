import { describe, expect, it } from "vitest";
import { JoinedContents } from "./joined-contents.ts";
import type { Certainty, KnownCapture, KnownContents, KnownQuestion } from "./known-contents.ts";

interface Knowing {
  readonly late?: boolean;
  readonly by?: KnownQuestion["by"][];
  readonly timeMs?: number;
  readonly framing?: "plain" | "chunked";
}

function knowing(uris: readonly string[], name: string, options: Knowing = {}) {
  const asked: string[] = [];
  const answer = (uri: string): KnownCapture | undefined =>
    uris.includes(uri)
      ? { uri, timeMs: options.timeMs ?? 0, digests: [], origin: name, certainty: "claimed", framing: options.framing }
      : undefined;
  const contents: KnownContents = {
    answers: new Set(options.by ?? ["url", "digest", "equivalent"]),
    find(questions) {
      asked.push(...questions.map(({ uri }) => uri));
      const found = questions.map(({ uri }) => answer(uri));
      return options.late === true ? Promise.resolve(found) : found;
    },
    prove: (): Certainty => (name === "one" ? "proven" : "held"),
  };
  return { contents, asked };
}

const ask = (uri: string): KnownQuestion => ({ by: "url", uri });
const askContent = (uri: string): KnownQuestion => ({ by: "digest", uri, digests: [] });

describe("joined contents", () => {
  it("answer as the first that knows, and ask the others only for the rest", () => {
    const [one, two] = [knowing(["a", "b"], "one"), knowing(["b", "c"], "two")];
    const joined = new JoinedContents([one.contents, two.contents]);
    const found = joined.find(["a", "b", "c", "d"].map(askContent)) as readonly (KnownCapture | undefined)[];
    expect(found.map((each) => each?.origin)).toEqual(["one", "one", "two", undefined]);
    expect(two.asked).toEqual(["c", "d"]);
    expect([joined.prove(found[0]!), joined.prove(found[2]!)]).toEqual(["proven", "held"]);
  });

  it("tell of a URL the newest state that any of them knows", () => {
    const [old, recent] = [knowing(["a"], "old", { timeMs: 1 }), knowing(["a"], "recent", { timeMs: 2 })];
    for (const members of [
      [old, recent],
      [recent, old],
    ]) {
      const joined = new JoinedContents(members.map(({ contents }) => contents));
      expect((joined.find([ask("a")]) as KnownCapture[])[0]!.origin).toBe("recent");
    }
  });

  it("prefer a content in the framing that is asked for", () => {
    const [plain, chunked] = [knowing(["a", "b"], "plain"), knowing(["a"], "chunked", { framing: "chunked" })];
    const joined = new JoinedContents([plain.contents, chunked.contents]);
    const question = (uri: string) => ({ ...askContent(uri), framing: "chunked" }) as KnownQuestion;
    const found = joined.find(["a", "b"].map(question)) as KnownCapture[];
    expect(found.map(({ origin }) => origin)).toEqual(["chunked", "plain"]);
    expect((joined.find([question("a")]) as KnownCapture[])[0]!.origin).toBe("chunked");
    expect((joined.find([askContent("a")]) as KnownCapture[])[0]!.origin).toBe("plain");
  });

  it("wait where one of them does", async () => {
    const joined = new JoinedContents([knowing(["a"], "one", { late: true }).contents, knowing(["b"], "two").contents]);
    const found = joined.find([ask("a"), ask("b")]);
    expect(found).toBeInstanceOf(Promise);
    expect((await found).map((each) => each?.origin)).toEqual(["one", "two"]);
  });

  it("ask nobody what he cannot be asked", () => {
    const one = knowing(["a"], "one", { by: ["digest"] });
    const joined = new JoinedContents([one.contents, knowing(["a"], "two", { by: ["url"] }).contents]);
    expect((joined.find([ask("a")]) as KnownCapture[])[0]!.origin).toBe("two");
    expect(one.asked).toEqual([]);
    expect([...joined.answers].sort()).toEqual(["digest", "url"]);
  });
});
