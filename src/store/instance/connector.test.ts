import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ArchiveError } from "../../base/index.ts";
import { parseConnector } from "./connector.ts";
import { CONNECTOR_SIZE_MAX } from "./connector-text.ts";

const parse = (text: string) => parseConnector(Buffer.from(text), "connector.xml");

/** The connector of the report's Figure 6, as it stands there. */
const FIGURE_6 = `<?xml version='1.0' encoding='UTF-8'?> <instance name="myWebstore"
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
xsi:noNamespaceSchemaLocation="webstore-config.xsd">
  <volume name="vol1" state="writable" tree-depth="1"
    host="ren.fc.ul.pt" port="9999"/>
  <volume name="vol2" state="read-only" tree-depth="2"
    host="stimpj.fc.ul.pt" port="10000"/>
</instance>
`;

const FIGURE_6_MEANS = {
  name: "myWebstore",
  signature: "sha256",
  replicas: 1,
  placement: "mod",
  volumes: [
    {
      name: "vol1",
      state: "writable",
      weight: 1,
      treeDepth: 1,
      location: { kind: "server", url: "http://ren.fc.ul.pt:9999/" },
    },
    {
      name: "vol2",
      state: "read-only",
      weight: 1,
      treeDepth: 2,
      location: { kind: "server", url: "http://stimpj.fc.ul.pt:10000/" },
    },
  ],
  codecs: [],
};

describe("a connector", () => {
  it("is read as the report has it", () => {
    expect(parse(FIGURE_6)).toEqual(FIGURE_6_MEANS);
  });

  it("has a twin in JSON", () => {
    const twin = {
      name: "myWebstore",
      volumes: [
        { name: "vol1", state: "writable", "tree-depth": 1, host: "ren.fc.ul.pt", port: 9999 },
        { name: "vol2", state: "read-only", "tree-depth": "2", host: "stimpj.fc.ul.pt", port: "10000" },
      ],
    };
    expect(parse(JSON.stringify(twin))).toEqual(FIGURE_6_MEANS);
    expect(parse(`  ${JSON.stringify(twin, undefined, 2)}\n`)).toEqual(FIGURE_6_MEANS);
  });

  it("may have folders, servers with TLS and tokens, volumes that moved, weights and codecs", () => {
    const { volumes, ...rest } = parse(`<instance version="1" name="a &amp; b" signature="rabin64" replicas="2"
      placement="weighted"><!-- all kinds -->
      <volume name='disk one' path="volumes/0" layout="tree" tree-depth="4" weight="3"/>
      <volume name="far" url="HTTPS://Store.example/volumes/a" token-file="far.token" ca-file="far.pem" />
      <volume name="near" host="::1" port="443" tls="true" connect-timeout="1" answer-timeout="20" idle-timeout="30"/>
      <volume name="&#x6f;ld" moved-to="far"/><volume name="older" path="older" moved-to="old"/>
      <codec name="lzma-1" module="./lzma.mjs"/>
    </instance>`);
    expect(rest).toEqual({
      name: "a & b",
      signature: "rabin64",
      replicas: 2,
      placement: "weighted",
      codecs: [{ name: "lzma-1", module: "./lzma.mjs" }],
    });
    expect(volumes).toEqual([
      {
        name: "disk one",
        state: "writable",
        weight: 3,
        layout: "tree",
        treeDepth: 4,
        location: { kind: "folder", path: "volumes/0" },
      },
      {
        name: "far",
        state: "writable",
        weight: 1,
        location: {
          kind: "server",
          url: "https://store.example/volumes/a",
          tokenFile: "far.token",
          caFile: "far.pem",
        },
      },
      {
        name: "near",
        state: "writable",
        weight: 1,
        location: { kind: "server", url: "https://[::1]/", connectTimeout: 1, answerTimeout: 20, idleTimeout: 30 },
      },
      { name: "old", state: "read-only", weight: 1, movedTo: "far" },
      { name: "older", state: "read-only", weight: 1, movedTo: "old", location: { kind: "folder", path: "older" } },
    ]);
  });

  it("may begin with a byte order mark, and have any line ends", () => {
    expect(parse(`\uFEFF${FIGURE_6.replaceAll("\n", "\r\n")}`)).toEqual(FIGURE_6_MEANS);
    expect(parse(FIGURE_6.replaceAll("\n", "\r"))).toEqual(FIGURE_6_MEANS);
  });

  it("of a newer version is refused as such, whatever else is in it", () => {
    const newer = `<instance version="2" colour="green"><shelf/></instance>`;
    expect(() => parse(newer)).toThrow(expect.objectContaining({ code: "HT_FORMAT_TOO_NEW" }) as Error);
    expect(() => parse(`{"version": 2, "colour": "green"}`)).toThrow(/connector.xml:1:2: .*version 2/);
  });

  it("that is huge is not read", () => {
    const huge = Buffer.alloc(CONNECTOR_SIZE_MAX + 1, " ");
    expect(() => parseConnector(huge, "huge.xml")).toThrow(expect.objectContaining({ code: "HT_TOO_LARGE" }) as Error);
  });
});

/** A connector with one volume, which is this. */
const withVolume = (volume: string) => `<instance name="x">\n  ${volume}\n</instance>`;
const withAttributes = (attributes: string) => withVolume(`<volume name="a" ${attributes}/>`);

describe("a mistake in a connector is told with its place", () => {
  it.each<[what: string, text: string, place: string, told: RegExp]>([
    ["nothing in it", " \n", "1:1", /empty/],
    ["no XML and no JSON", "volumes: 3", "1:1", /text has no place/],
    ["a comment alone", "<!-- nothing -->", "1:17", /no element/],
    ["a tag that is not closed", '<instance name="x"', "1:19", /not closed/],
    ["an element without an end", '\n<instance name="x">\n<volume name="a" path="a"/>', "2:1", /has no end/],
    ["another end", '<instance name="x"></volume>', "1:20", /should be <\/instance>/],
    [
      "something behind the end",
      '<instance name="x"><volume name="a" path="a"/></instance><x/>',
      "1:58",
      /behind the end/,
    ],
    ["text in it", '<instance name="x">here</instance>', "1:20", /text has no place/],
    ["CDATA", '<instance name="x"><![CDATA[x]]></instance>', "1:20", /no place/],
    ["an instruction", '<?php exit ?><instance name="x"/>', "1:1", /processing instructions/],
    ["a broken declaration", '<?xml version="2.0"?><instance/>', "1:1", /declaration/],
    ["another encoding", '<?xml version="1.0" encoding="latin1"?><instance/>', "1:1", /UTF-8/],
    ["a comment without end", "<!-- a ->", "1:1", /no end/],
    ["hyphens in a comment", "<!-- a -- b -->", "1:8", /two hyphens/],
    ["no name of an element", "< instance/>", "1:2", /name of an element/],
    ["an attribute without value", "<instance name/>", "1:11", /no value/],
    ["a value without marks", "<instance name=x/>", "1:16", /quotation marks/],
    ["a value without end", '<instance name="x/>', "1:16", /no end/],
    ["attributes without a space", '<instance name="x"replicas="1"/>', "1:19", /space before/],
    ["an attribute twice", '<instance name="x" name="y"/>', "1:20", /twice/],
    ["an open bracket in a value", '<instance name="a<b"/>', "1:18", /&lt;/],
    ["an ampersand in a value", '<instance name="a & b"/>', "1:19", /&amp;/],
    ["an unknown entity", '<instance name="&nbsp;"/>', "1:17", /unknown entity/],
    ["an entity by an inherited name", '<instance name="&constructor;"/>', "1:17", /unknown entity/],
    ["a reference to no character", '<instance name="&#0;"/>', "1:17", /no character/],
    ["a reference too far", '<instance name="&#x110000;"/>', "1:17", /no character/],
    ["a control character", '<instance name="a\u0001"/>', "1:18", /does not allow/],
    ["entities of its own", '<!DOCTYPE i [<!ENTITY a "b">]><instance name="&a;"/>', "1:1", /no DOCTYPE/],
    ["elements without end in each other", "<a>".repeat(50), "1:49", /too deep/],
    ["another root", '<store name="x"/>', "1:1", /begins with store/],
    ["no name", '<instance><volume name="a" path="a"/></instance>', "1:1", /instance has no name/],
    ["an empty name", '<instance name=""><volume name="a" path="a"/></instance>', "1:11", /name is empty/],
    ["no volume", '<instance name="x"></instance>', "1:1", /at least one volume/],
    ["an unknown element", withVolume("<disk/>"), "2:3", /no element disk/],
    ["an element in a volume", withVolume('<volume name="a" path="a"><codec/></volume>'), "2:29", /no elements in it/],
    ["an unknown attribute", '<instance name="x" depth="3"/>', "1:20", /no attribute depth/],
    ["an unknown attribute of a volume", withAttributes('path="a" xsi:size="3"'), "2:29", /no attribute xsi:size/],
    ["no name of a volume", withVolume('<volume path="a"/>'), "2:3", /volume has no name/],
    ["a number as a name", withVolume('<volume name="12" path="a"/>'), "2:11", /not a name/],
    ["one name twice", withVolume('<volume name="a" path="a"/><volume name="a" path="b"/>'), "2:38", /two volumes/],
    [
      "one place twice",
      withVolume('<volume name="a" path="a"/><volume name="b" path="./a/"/>'),
      "2:47",
      /two volumes are at/,
    ],
    [
      "one server twice",
      withVolume('<volume name="a" host="h" port="1"/><volume name="b" url="http://H:1"/>'),
      "2:56",
      /two volumes are at/,
    ],
    ["no place", withAttributes('state="writable"'), "2:11", /a path, a host and port, or a url/],
    ["two places", withAttributes('path="a" host="h" port="1"'), "2:29", /path and host exclude/],
    ["a host and a url", withAttributes('host="h" port="1" url="http://h/"'), "2:38", /host and url exclude/],
    ["an unknown state", withAttributes('path="a" state="full"'), "2:29", /writable, read-only, not "full"/],
    ["a port without a host", withAttributes('path="a" port="1"'), "2:29", /port is for a volume with a host/],
    ["a host without a port", withAttributes('host="h"'), "2:20", /without a port/],
    ["a port beyond the last", withAttributes('host="h" port="65536"'), "2:29", /1 to 65535, not "65536"/],
    ["port 0", withAttributes('host="h" port="0"'), "2:29", /1 to 65535/],
    ["a port in words", withAttributes('host="h" port="http"'), "2:29", /not "http"/],
    ["a host that is none", withAttributes('host="a b" port="1"'), "2:20", /not a host/],
    ["a host with more in it", withAttributes('host="h/../x" port="1"'), "2:20", /not a host/],
    ["a host that is no address", withAttributes('host=":::1" port="1"'), "2:20", /not a host/],
    ["a url of another kind", withAttributes('url="ftp://h/"'), "2:20", /not a url/],
    ["a url with a password", withAttributes('url="http://me:secret@h/"'), "2:20", /not a url/],
    ["a url with a question", withAttributes('url="http://h/?a"'), "2:20", /not a url/],
    ["an empty path", withAttributes('path=""'), "2:20", /not a path/],
    ["a token for a folder", withAttributes('path="a" token-file="t"'), "2:29", /token-file is for/],
    ["TLS that is neither", withAttributes('host="h" port="1" tls="1"'), "2:38", /true, false/],
    ["a deadline of nothing", withAttributes('host="h" port="1" answer-timeout="0"'), "2:38", /whole number from 1/],
    ["a deadline of a folder", withAttributes('path="p" idle-timeout="5"'), "2:29", /for a volume with a host or url/],
    ["certificates without TLS", withAttributes('host="h" port="1" ca-file="c"'), "2:38", /without TLS/],
    ["depth 0", withAttributes('path="a" tree-depth="0"'), "2:29", /1 to 8/],
    ["depth 9", withAttributes('path="a" tree-depth="9"'), "2:29", /1 to 8/],
    ["a depth in between", withAttributes('path="a" tree-depth="2.5"'), "2:29", /whole number/],
    ["a pack with a depth", withAttributes('path="a" layout="pack" tree-depth="2"'), "2:43", /a pack has no/],
    ["a layout for a server", withAttributes('url="http://h/" layout="pack"'), "2:36", /knows its own/],
    ["no weight", withAttributes('path="a" weight="0"'), "2:29", /1 to 1000000/],
    ["moved to nowhere", withAttributes('moved-to="b"'), "2:20", /no volume has that name/],
    ["moved to itself", withAttributes('moved-to="a"'), "2:20", /circle/],
    [
      "moved in a circle",
      withVolume('<volume name="a" moved-to="b"/><volume name="b" moved-to="a"/>'),
      "2:20",
      /circle/,
    ],
    ["moved and writable", withAttributes('path="a" moved-to="b" state="writable"'), "2:42", /not writable/],
    [
      "more replicas than volumes",
      '<instance replicas="2" name="x"><volume name="a" path="a"/></instance>',
      "1:11",
      /2 replicas on 1/,
    ],
    [
      "replicas on what moved",
      '<instance name="x" replicas="2"><volume name="a" path="a"/><volume name="b" moved-to="a"/></instance>',
      "1:20",
      /2 replicas on 1/,
    ],
    ["no replicas", '<instance replicas="0" name="x"><volume name="a" path="a"/></instance>', "1:11", /1 to 16/],
    [
      "an unknown signature",
      '<instance signature="md5" name="x"><volume name="a" path="a"/></instance>',
      "1:11",
      /sha256/,
    ],
    [
      "an unknown placement",
      '<instance placement="any" name="x"><volume name="a" path="a"/></instance>',
      "1:11",
      /mod, weighted/,
    ],
    ["a version that is none", '<instance version="1.5" name="x"/>', "1:11", /whole number/],
    ["a codec without module", withVolume('<volume name="a" path="a"/><codec name="x"/>'), "2:30", /no module/],
    [
      "a codec with a name too long",
      withVolume(`<volume name="a" path="a"/><codec name="${"x".repeat(17)}" module="m"/>`),
      "2:37",
      /not a name for a codec/,
    ],
    [
      "one codec twice",
      withVolume('<volume name="a" path="a"/><codec name="x" module="m"/><codec name="x" module="n"/>'),
      "2:65",
      /two codecs/,
    ],
    ["JSON that is cut", '{"name": "x", "volumes": [', "1:27", /\{ of a volume/],
    ["JSON with a comma too many", '{"name": "x",}', "1:14", /a name in quotation marks/],
    ["JSON with a name twice", '{"name": "x", "name": "y"}', "1:15", /twice/],
    ["JSON with a list where none is", '{"name": ["x"]}', "1:10", /a text, a number/],
    ["JSON without a list", '{"volumes": {}}', "1:13", /should be a list/],
    ["JSON with null", '{"name": null}', "1:10", /a text, a number/],
    ["JSON with a list in a volume", '{"volumes": [{"volumes": []}]}', "1:26", /a text, a number/],
    ["JSON with more behind it", '{"name": "x"} {}', "1:15", /behind the end/],
    [
      "JSON with an unknown name",
      '{"name": "x", "volumes": [{"name": "a", "paht": "a"}]}',
      "1:41",
      /no attribute paht/,
    ],
    ["JSON with a bad escape", '{"name": "\\x"}', "1:10", /a text, a number/],
  ])("%s", (_, text, place, told) => {
    let error: unknown;
    try {
      parse(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ArchiveError);
    const { code, message } = error as ArchiveError;
    expect({ code, message }).toEqual({ code: "HT_USAGE", message: expect.stringMatching(told) as string });
    expect(message.startsWith(`connector.xml:${place}: `), message).toBe(true);
  });

  it("also where the bytes are no text", () => {
    const latin = Buffer.from('<instance name="\xe9"/>', "latin1");
    expect(() => parseConnector(latin, "c.xml")).toThrow(/^c\.xml: not UTF-8/);
  });

  it("with the offset in bytes", () => {
    expect.assertions(1);
    try {
      parse('<instance name="ää" depth="1"/>');
    } catch (error) {
      expect((error as ArchiveError).place).toEqual({ file: "connector.xml", offset: 22 });
    }
  });
});

describe("docs/format/connector.md", () => {
  const page = readFileSync(new URL("../../../docs/format/connector.md", import.meta.url), "utf8");
  const example = (language: string) => new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "m").exec(page)![1]!;

  it("has an example in XML and its twin in JSON, and both mean what it says", () => {
    const connector = parse(example("xml"));
    expect(parse(example("json"))).toEqual(connector);
    expect(connector).toMatchObject({ name: "herbarium", signature: "sha256", replicas: 2, placement: "weighted" });
    const numbered = connector.volumes.map(({ name }, number) => `${number} ${name}`);
    expect(numbered).toEqual(["0 cellar", "1 attic", "2 annex", "3 abroad", "4 shed"]);
    const writable = connector.volumes.filter(({ state }) => state === "writable");
    expect(writable.map(({ name, weight }) => [name, weight])).toEqual([
      ["attic", 2],
      ["annex", 1],
      ["abroad", 1],
    ]);
    expect(connector.volumes[4]).toEqual({ name: "shed", state: "read-only", weight: 1, movedTo: "attic" });
  });

  it("has every attribute that is known, and no other", () => {
    const known = (text: string) => {
      const [, names] = /there are (.*)$/.exec(message(text)) ?? [];
      return names!.split(", ").sort();
    };
    const volume = `<instance name="x"><volume name="a" path="a"/>`;
    const told = page
      .split("## The attributes")[1]!
      .split("## Mistakes")[0]!
      .split(/^Of a /m)
      .map((part) => [...part.matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name!).sort());
    expect(told).toEqual([
      known('<instance zz="1"/>'),
      known('<instance name="x"><volume zz="1"/></instance>'),
      known(`${volume}<codec zz="1"/></instance>`),
    ]);
  });
});

function message(text: string): string {
  try {
    parse(text);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}
