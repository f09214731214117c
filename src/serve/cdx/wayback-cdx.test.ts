/** The contract of the Wayback Machine's dialect, line by line: parameters, fields, forms, filters, errors. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Handler } from "../../http/index.ts";
import { ask, base32Of, collectionOf, HOME_TIMES, ONE, smallCrawl } from "../../testing/cdx-collection.ts";
import type { Collection } from "../collection.ts";
import { waybackAvailable } from "./wayback-available.ts";
import { waybackCdx, waybackTimemap } from "./wayback-cdx.ts";

let collection: Collection;
let cdx: Handler;

beforeAll(async () => {
  collection = await collectionOf(smallCrawl());
  cdx = waybackCdx(collection);
});

async function lines(query: string): Promise<readonly string[]> {
  const answer = await ask(cdx, query);
  expect(answer.status).toBe(200);
  return answer.lines;
}

const HOME = "url=a.example";
const times = (query: string) => lines(`${query}&fl=timestamp`);
const at = (...places: readonly number[]) => places.map((i) => HOME_TIMES[i]);

describe("fields and forms", () => {
  it("has seven fields in a line", async () => {
    const [first, second, third] = await lines(HOME);
    const start = "example,a)/ 20140101000000 http://a.example/ text/html 200";
    expect(first).toMatch(new RegExp(`^${start.replace(")", "\\)")} ${base32Of(ONE)} \\d+$`));
    // What the archive itself made a revisit of is what was captured.
    expect(second!.split(" ")[3]).toBe("text/html");
    expect(third!.split(" ")[3]).toBe("warc/revisit");
    expect((await ask(cdx, HOME)).type).toMatch(/^text\/plain/);
  });

  it("has one array of arrays with output=json", async () => {
    const { type, text } = await ask(cdx, `${HOME}&output=json&limit=1`);
    expect(type).toBe("application/json");
    expect(JSON.parse(text)).toEqual([
      ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"],
      ["example,a)/", HOME_TIMES[0], "http://a.example/", "text/html", "200", base32Of(ONE), expect.any(String)],
    ]);
  });

  it("is empty, or an empty array, where nothing is found", async () => {
    expect((await ask(cdx, "url=nowhere.example")).text).toBe("");
    expect(JSON.parse((await ask(cdx, "url=nowhere.example&output=json")).text)).toEqual([]);
  });

  it("gives the fields of fl, in their order", async () => {
    expect(await lines(`${HOME}&limit=1&fl=statuscode,original`)).toEqual(["200 http://a.example/"]);
    const { text } = await ask(cdx, `${HOME}&limit=1&fl=timestamp,mimetype&output=json`);
    expect(JSON.parse(text)).toEqual([
      ["timestamp", "mimetype"],
      [HOME_TIMES[0], "text/html"],
    ]);
  });

  it("takes gzip=false, and parameters that it does not know", async () => {
    expect(await times(`${HOME}&gzip=false&_=123`)).toEqual(HOME_TIMES);
  });
});

describe("what is asked for", () => {
  it.each([
    ["url=a.example/page/*", 2],
    ["url=a.example/page/&matchType=prefix", 2],
    ["url=a.example/page/*&matchType=prefix", 2],
    ["url=a.example/what&matchType=host", 9],
    ["url=*.a.example", 10],
    ["url=*.a.example/*", 10],
    ["url=a.example&matchType=domain", 10],
    ["url=a.example&matchType=exact", 6],
  ])("%s finds %i", async (query, count) => {
    expect(await lines(query)).toHaveLength(count);
  });

  it("has inclusive bounds of 1 to 14 digits", async () => {
    expect(await times(`${HOME}&from=2015&to=2015`)).toEqual(at(3, 4));
    expect(await times(`${HOME}&from=20140201000000&to=20150101000000`)).toEqual(at(1, 2, 3));
  });

  it("gives the first N, the last N, and those behind an offset", async () => {
    expect(await times(`${HOME}&limit=2`)).toEqual(at(0, 1));
    expect(await times(`${HOME}&limit=-2`)).toEqual(at(4, 5));
    expect(await times(`${HOME}&limit=-100`)).toEqual(HOME_TIMES);
    expect(await times(`${HOME}&limit=2&offset=3`)).toEqual(at(3, 4));
    expect(await times(`${HOME}&offset=4`)).toEqual(at(4, 5));
    expect(await times(`${HOME}&limit=0`)).toEqual(HOME_TIMES);
  });

  it("counts the last N after filters and collapsing", async () => {
    expect(await times(`${HOME}&limit=-2&filter=statuscode:200`)).toEqual(at(2, 3));
    expect(await times(`${HOME}&limit=-4&collapse=digest`)).toEqual(at(0, 3, 4, 5));
    expect(await times(`${HOME}&limit=-20000&collapse=digest`)).toEqual(at(0, 3, 4, 5));
    expect(await times(`${HOME}&limit=-2&showDupeCount=true&fl=timestamp`)).toEqual(at(4, 5).map((t) => `${t} 0`));
  });

  it("has the last row for limit=-1, and takes fastLatest", async () => {
    expect(await lines(`${HOME}&limit=-1`)).toEqual([expect.stringMatching(/^example,a\)\/ 20160101000000 .* 301 /)]);
    expect(await times(`${HOME}&fastLatest=true`)).toEqual(at(5));
    expect(await times(`${HOME}&fastLatest=true&limit=-3`)).toEqual(at(3, 4, 5));
    expect(await times(`${HOME}&fastLatest=true&limit=3`)).toEqual(at(3, 4, 5));
  });

  it("sorts backwards, and by distance", async () => {
    expect(await times(`${HOME}&sort=reverse&limit=2`)).toEqual(at(5, 4));
    expect(await times(`${HOME}&sort=closest&closest=20141201&limit=2`)).toEqual(at(3, 4));
    expect(await times(`${HOME}&sort=closest&closest=20141201&limit=3&collapse=digest`)).toEqual(at(3, 4, 0));
    expect(await times(`${HOME}&closest=20141201`)).toEqual(HOME_TIMES);
    expect(await times(`${HOME}&sort=closest&closest=`)).toEqual(HOME_TIMES);
  });
});

describe("filter", () => {
  it.each([
    ["statuscode:200", [0, 1, 2, 3]],
    ["statuscode:20", []],
    ["!statuscode:200", [4, 5]],
    ["statuscode:[23]..", [0, 1, 2, 3, 5]],
    ["mimetype:text/.*", [0, 1, 3, 4, 5]],
    ["!mimetype:warc/revisit", [0, 1, 3, 4, 5]],
    ["mimetype:(?i)TEXT/HTML", [0, 1, 3, 4, 5]],
    ["4:500", [4]],
    [".*text/html 301.*", [5]],
    [`digest:${base32Of("two")}`, [3]],
    ["original:http://a\\.example/", [0, 1, 2, 3, 4, 5]],
  ])("%s", async (filter, found) => {
    expect(await times(`${HOME}&filter=${encodeURIComponent(filter)}`)).toEqual(at(...found));
  });

  it("wants all of several", async () => {
    expect(await times(`${HOME}&filter=!statuscode:200&filter=!statuscode:500`)).toEqual(at(5));
  });
});

describe("collapse and counters", () => {
  it.each([
    ["collapse=digest", [0, 3, 4, 5]],
    ["collapse=timestamp:4", [0, 3, 5]],
    ["collapse=timestamp:4&collapse=statuscode", [0, 3, 4, 5]],
    ["collapse=urlkey", [0]],
    ["collapse=mimetype", [0, 2, 3]],
  ])("%s", async (collapse, found) => {
    expect(await times(`${HOME}&${collapse}`)).toEqual(at(...found));
  });

  it("tells how many rows were skipped, and the time of the last", async () => {
    const query = `${HOME}&collapse=digest&showSkipCount=true&lastSkipTimestamp=true&fl=timestamp`;
    const versions = [
      `${HOME_TIMES[0]} 2 ${HOME_TIMES[2]}`,
      `${HOME_TIMES[3]} 0 ${HOME_TIMES[3]}`,
      `${HOME_TIMES[4]} 0 ${HOME_TIMES[4]}`,
      `${HOME_TIMES[5]} 0 ${HOME_TIMES[5]}`,
    ];
    expect(await lines(query)).toEqual(versions);
    expect(await lines(`${query}&limit=1`)).toEqual(versions.slice(0, 1));
    expect(await lines(`${query}&sort=reverse`)).toEqual(versions.toReversed());
    expect(await lines(`${query}&limit=-4`)).toEqual(versions);
  });

  it("counts rows that a filter skipped too", async () => {
    const query = `${HOME}&filter=statuscode:(200|301)&collapse=digest&showSkipCount=true&lastSkipTimestamp=true&fl=timestamp`;
    const rows = [
      `${HOME_TIMES[0]} 2 ${HOME_TIMES[2]}`,
      `${HOME_TIMES[3]} 1 ${HOME_TIMES[4]}`,
      `${HOME_TIMES[5]} 0 ${HOME_TIMES[5]}`,
    ];
    expect(await lines(query)).toEqual(rows);
    expect(await lines(`${query}&limit=-3`)).toEqual(rows);
    const { text } = await ask(cdx, `${HOME}&showSkipCount=true&lastSkipTimestamp=true&output=json&limit=1`);
    expect((JSON.parse(text) as string[][])[0]!.slice(-2)).toEqual(["skipcount", "endtimestamp"]);
  });

  it("counts rows with the same digest, and says what their revisits are of", async () => {
    const rows = await lines(`${HOME}&showDupeCount=true&fl=timestamp,mimetype`);
    expect(rows.slice(0, 4)).toEqual([
      `${HOME_TIMES[0]} text/html 0`,
      `${HOME_TIMES[1]} text/html 1`,
      `${HOME_TIMES[2]} text/html 2`,
      `${HOME_TIMES[3]} text/html 0`,
    ]);
  });

  it("adds the place of the original with resolveRevisits", async () => {
    const rows = await lines(`${HOME}&resolveRevisits=true&fl=timestamp`);
    expect(rows[0]).toBe(`${HOME_TIMES[0]} - - -`);
    expect(rows[2]).toMatch(/^20140301000000 \d+ \d+ 000001\.warc\.gz$/);
  });
});

describe("resume keys", () => {
  it("follow a blank line, and lead to the rest", async () => {
    const first = await lines(`${HOME}&limit=4&fl=timestamp&showResumeKey=true`);
    expect(first.slice(0, 5)).toEqual([...at(0, 1, 2, 3), ""]);
    const rest = await lines(`${HOME}&limit=4&fl=timestamp&showResumeKey=true&resumeKey=${first[5]}`);
    expect(rest).toEqual(at(4, 5));
  });

  it("are the last array of JSON, behind an empty one", async () => {
    const { text } = await ask(cdx, `${HOME}&limit=1&fl=timestamp&showResumeKey=true&output=json`);
    expect(JSON.parse(text)).toEqual([["timestamp"], [HOME_TIMES[0]], [], [expect.any(String)]]);
  });

  it("go on behind all that was collapsed", async () => {
    const first = await lines(`${HOME}&limit=1&fl=timestamp&collapse=digest&showResumeKey=true`);
    const rest = await times(`${HOME}&collapse=digest&resumeKey=${first[2]}`);
    expect(rest).toEqual(at(3, 4, 5));
  });

  it("are not shown where nothing could go on", async () => {
    expect(await lines(`${HOME}&limit=1&fl=timestamp&showResumeKey=true&sort=closest&closest=2014`)).toEqual(at(0));
    expect(await lines(`${HOME}&limit=-1&fl=timestamp&showResumeKey=true`)).toEqual(at(5));
    const [first, , key] = await lines(`${HOME}&limit=1&fl=timestamp&showResumeKey=true&sort=reverse`);
    expect([first]).toEqual(at(5));
    expect(await times(`${HOME}&sort=reverse&resumeKey=${key}`)).toEqual(at(4, 3, 2, 1, 0));
    expect((await ask(cdx, `${HOME}&limit=-1&resumeKey=${key}`)).status).toBe(400);
  });

  it("are refused by another question", async () => {
    const [, , key] = await lines(`${HOME}&limit=1&showResumeKey=true`);
    expect((await ask(cdx, `url=b.example&resumeKey=${key}`)).status).toBe(400);
    expect((await ask(cdx, `${HOME}&resumeKey=org%2Carchive%29%2F+19980109140106%21`)).status).toBe(400);
  });
});

describe("pages", () => {
  it("are counted with a bare number", async () => {
    expect((await ask(cdx, `${HOME}&showNumPages=true`)).text).toBe("1\n");
  });

  it("begin with 0, are empty behind the last, and are not used below 0", async () => {
    expect(await times(`${HOME}&page=0`)).toEqual(HOME_TIMES);
    expect(await times(`${HOME}&page=1`)).toEqual([]);
    expect(await times(`${HOME}&page=-1`)).toEqual(HOME_TIMES);
  });
});

it.each([
  "",
  "matchType=exact",
  "url=a.example&output=csv",
  "url=a.example&matchType=all",
  "url=a.example&sort=best",
  "url=a.example&limit=x",
  "url=a.example&offset=-1",
  "url=a.example&from=abc",
  "url=a.example&fl=colour",
  "url=a.example&filter=colour:red",
  "url=a.example&filter=original:*",
  "url=a.example&filter=original:(a%2B)%2B%2B",
  "url=a.example&filter=original:(%5CpL{30}){30}",
  "url=a.example&collapse=colour",
  "url=a.example&collapse=timestamp:x",
  "url=a.example&page=x",
  "url=a.example&resumeKey=%00",
])("refuses %j as JSON", async (query) => {
  const { status, type, text } = await ask(cdx, query);
  expect([status, type]).toEqual([400, "application/json"]);
  expect(JSON.parse(text)).toEqual({ message: expect.any(String) as string });
});

it("answers /web/timemap/cdx alike, but for the question of crawlers", async () => {
  const timemap = waybackTimemap(collection);
  expect((await ask(timemap, "url=b.example&limit=-1")).lines).toHaveLength(1);
  expect((await ask(timemap, `${HOME}&output=json`)).text).toBe((await ask(cdx, `${HOME}&output=json`)).text);
});

describe("/wayback/available", () => {
  it("names the nearest capture, or none", async () => {
    const available = waybackAvailable(collection, (_, timestamp, url) => `http://here/web/${timestamp}/${url}`);
    expect(JSON.parse((await ask(available, "url=a.example&timestamp=20141201")).text)).toEqual({
      url: "a.example",
      timestamp: "20141201",
      archived_snapshots: {
        closest: {
          status: "200",
          available: true,
          url: "http://here/web/20150101000000/http://a.example/",
          timestamp: "20150101000000",
        },
      },
    });
    // The failure is nearer.
    const { text } = await ask(available, "url=a.example&timestamp=20150601");
    expect(text).toContain('"timestamp":"20150101000000"');
    expect((await ask(available, "url=a.example")).text).toContain('"timestamp":"20160101000000"');
    expect(JSON.parse((await ask(available, "url=nowhere.example")).text)).toEqual({
      url: "nowhere.example",
      archived_snapshots: {},
    });
    expect((await ask(available, "")).status).toBe(400);
    expect((await ask(available, "url=a.example&timestamp=now")).status).toBe(400);
  });
});
