/** Access rules: which captures they hide, and that no route shows what is hidden. */
import { describe, expect, it } from "vitest";
import { captureBytes } from "../../testing/capture-text.ts";
import { serveRecords } from "../../testing/served-archive.ts";
import { type AccessVerdict, parseAccessRules } from "../index.ts";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2020, 0, 1);
const clock = { now: () => NOW };
const json = (value: unknown) => parseAccessRules(JSON.stringify(value), "rules.json", clock);
const aclj = (...lines: readonly string[]) => parseAccessRules(lines.join("\n"), "rules.aclj", clock);

describe("rules", () => {
  it("go by the longest prefix, and an exact one before others, as pywb's do", () => {
    const rules = aclj(
      'org,example)/private/open - {"access": "allow"}',
      'org,example)/private - {"access": "block", "url": "http://example.org/private"}',
      'org,example)/### - {"access": "exclude"}',
      'org,example,secret)/ - {"access": "exclude", "user": "staff"}',
      'net, - {"access": "exclude"}',
    );
    const verdicts: Readonly<Record<string, AccessVerdict>> = {
      "org,example)/": "exclude",
      "org,example)/public": "allow",
      "org,example)/private/x": "block",
      "org,example)/private/open/x": "allow",
      "org,example,secret)/": "allow",
      "net,example)/x": "exclude",
      "network)/": "allow",
    };
    for (const [key, verdict] of Object.entries(verdicts))
      expect([key, rules.judge({ key, timeMs: 0 })]).toEqual([key, verdict]);
  });

  it("know URLs, prefixes, hosts, domains and dates", () => {
    const rules = json({
      rules: [
        { url: "http://a.example/one", access: "block" },
        { prefix: "http://a.example/dir/", access: "block" },
        { host: "b.example", access: "exclude" },
        { domain: "c.example", access: "exclude" },
        { prefix: "http://d.example/", access: "block", from: "2014", to: "2014" },
      ],
    });
    const judge = (key: string, timeMs: number | undefined = 0) => rules.judge({ key, timeMs });
    expect(judge("example,a)/one")).toBe("block");
    expect(judge("example,a)/one/more")).toBe("allow");
    expect(judge("example,a)/dir/x")).toBe("block");
    expect(judge("example,a)/directory")).toBe("allow");
    expect(judge("example,b)/x")).toBe("exclude");
    expect(judge("example,b:8080)/x")).toBe("exclude");
    expect(judge("example,b,sub)/x")).toBe("allow");
    expect(judge("example,c,sub)/x")).toBe("exclude");
    expect(judge("example,c2)/x")).toBe("allow");
    expect(judge("example,d)/", Date.UTC(2014, 11, 31, 23, 59, 59, 999))).toBe("block");
    expect(judge("example,d)/", Date.UTC(2015, 0, 1))).toBe("allow");
    expect(rules.judge({ key: "example,d)/", timeMs: undefined })).toBe("block");
  });

  it("hold an embargo back that a rule lifts", () => {
    const rules = json({
      embargo: { newerThan: "30d", access: "exclude" },
      rules: [{ surt: "example,a)/", access: "allow_ignore_embargo" }],
    });
    const judge = (key: string, timeMs: number | undefined) => rules.judge({ key, timeMs });
    expect(judge("example,b)/", NOW - 29 * DAY_MS)).toBe("exclude");
    expect(judge("example,b)/", NOW - 31 * DAY_MS)).toBe("allow");
    expect(judge("example,b)/", undefined)).toBe("exclude");
    expect(judge("example,a)/", NOW)).toBe("allow");
  });

  it.each([
    ["rules.json", "nonsense"],
    ["rules.json", "[]"],
    ["rules.json", '{"rule": []}'],
    ["rules.json", '{"rules": [{"host": "a.example", "acces": "block"}]}'],
    ["rules.json", '{"rules": [{"host": "a.example", "access": "hide"}]}'],
    ["rules.json", '{"rules": [{"host": "a.example", "prefix": "b", "access": "block"}]}'],
    ["rules.json", '{"rules": [{"url": "http://a.example", "from": "soon", "access": "block"}]}'],
    ["rules.json", '{"embargo": {"newerThan": "a while"}}'],
    ["rules.aclj", "org,example)/ - block"],
    ["rules.aclj", 'org,example)/ - {"access": "maybe"}'],
  ])("are refused where they are not understood: %s %s", (name, text) => {
    expect(() => parseAccessRules(text, name, clock)).toThrow(expect.objectContaining({ code: "HT_USAGE" }) as Error);
  });
});

const URI = "http://a.example/";
const VISITS = [
  ["2014-01-01T00:00:00Z", "one"],
  ["2015-01-01T00:00:00Z", "two"],
  ["2016-01-01T00:00:00Z", "one"],
] as const;
const records = VISITS.map(([date, payload]) => captureBytes({ uri: URI, date, payload }));
const without2015 = (access: string) => json({ rules: [{ url: URI, access, from: "2015", to: "2015" }] });

describe("what is hidden", () => {
  it("is not chosen, not linked, not listed, and changes no lifespan", async () => {
    await using archive = await serveRecords(records, { rules: without2015("exclude") });
    const { collection } = archive;
    const reply = await archive.ask(`/coll/20150101000000id_/${URI}`);
    expect(reply).toMatchObject({ status: 200, text: "one" });
    expect(reply.headers["link"]).not.toContain("2015");
    expect((await archive.ask(`/coll/timemap/link/${URI}`)).text).not.toContain("2015");
    const lifespans = [];
    for await (const batch of collection.history(URI)) lifespans.push(...batch);
    expect(lifespans).toMatchObject([{ birth: Date.UTC(2014, 0, 1), end: undefined, captures: 2 }]);
    const moment = await collection.at(URI, Date.UTC(2015, 5, 1));
    expect(moment).toMatchObject({ certainty: "observed", lifespan: { captures: 2 } });
    expect(moment!.capture.timeMs).toBe(Date.UTC(2014, 0, 1));
    expect(await collection.counts()).toMatchObject({ captures: 2, contents: 1 });
    const limited = [];
    for await (const batch of collection.captures({ url: URI, limit: 2 })) limited.push(...batch);
    expect(limited.map(({ timeMs }) => timeMs)).toEqual([Date.UTC(2014, 0, 1), Date.UTC(2016, 0, 1)]);
    const changes = [];
    for await (const batch of collection.changes(0, NOW)) changes.push(...batch);
    expect(changes).toMatchObject([{ kind: "appeared", timeMs: Date.UTC(2014, 0, 1) }]);
  });

  it("is answered with 451 or 404, as configured, where nothing else is there", async () => {
    for (const [access, status] of [
      ["block", 451],
      ["exclude", 404],
    ] as const) {
      await using archive = await serveRecords(records, {
        rules: json({ rules: [{ url: URI, access }] }),
        serveFiles: true,
      });
      for (const target of [`2014id_/${URI}`, `2014ir_/${URI}`, `2014/${URI}`, URI, `timemap/json/${URI}`])
        expect([target, (await archive.ask(`/coll/${target}`)).status]).toEqual([target, status]);
      expect(await archive.ask(`/coll/record/2014/${URI}`)).toMatchObject({ status: 451 });
      expect(await archive.ask("/coll/segments/000001.warc.gz")).toMatchObject({ status: 451 });
    }
  });
});
