import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArchiveError } from "../../base/index.ts";
import { SIGNATURE_ALGORITHMS } from "../signature.ts";
import { type Connector, parseConnector, type VolumeSpec } from "./connector.ts";
import { formatConnectorJson, formatConnectorXml } from "./connector-format.ts";
import { PLACEMENT_NAMES } from "./placement.ts";

const text = fc
  .string({ unit: fc.constantFrom(...Array.from("abc 0-_./&<>'\"é中🗄\u00a0")), minLength: 1, maxLength: 20 })
  .filter((value) => !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]|^\s|\s$/u.test(value) && !/^[0-9]+$/.test(value));
const name = fc.oneof(text, fc.constantFrom("a&b", "<x>", '"quoted"', "it's", "a--b", "]]>", "&amp;"));
const file = name;

const hosts = ["ren.fc.ul.pt", "localhost", "10.0.0.1", "[::1]", "[2001:db8::7]", "volume_1", "xn--bcher-kva.example"];
const server = fc.record(
  {
    kind: fc.constant("server" as const),
    url: fc
      .tuple(
        fc.constantFrom("http", "https"),
        fc.constantFrom(...hosts),
        fc.integer({ min: 1, max: 65_535 }),
        fc.constantFrom("", "", "volumes/a", "a%20b/"),
      )
      .map(([scheme, host, port, path]) => new URL(`${scheme}://${host}:${port}/${path}`).href),
    tokenFile: file,
    connectTimeout: fc.integer({ min: 1, max: 3600 }),
    answerTimeout: fc.integer({ min: 1, max: 3600 }),
  },
  { requiredKeys: ["kind", "url"] },
);
const folder = fc.record({ kind: fc.constant("folder" as const), path: file });

const volume = (location: fc.Arbitrary<NonNullable<VolumeSpec["location"]>>) =>
  fc.record(
    {
      name,
      state: fc.constantFrom("writable" as const, "read-only" as const),
      weight: fc.integer({ min: 1, max: 1_000_000 }),
      location,
      treeDepth: fc.integer({ min: 1, max: 8 }),
    },
    { requiredKeys: ["name", "state", "weight", "location"] },
  );

const placeOf = ({ location }: VolumeSpec) =>
  location?.kind === "folder" ? location.path.replace(/^(?:\.\/)+|\/+$/g, "") : location?.url;

const codecs = fc.uniqueArray(fc.record({ name: fc.stringMatching(/^[a-z0-9-]{1,16}$/), module: file }), {
  maxLength: 3,
  selector: (codec) => codec.name,
});

const connector: fc.Arbitrary<Connector> = fc
  .uniqueArray(fc.oneof(volume(server), volume(folder)), {
    minLength: 1,
    maxLength: 6,
    comparator: (one, other) => one.name === other.name || placeOf(one) === placeOf(other),
  })
  .chain((volumes) =>
    fc.record({
      name,
      signature: fc.constantFrom(...SIGNATURE_ALGORITHMS),
      placement: fc.constantFrom(...PLACEMENT_NAMES),
      replicas: fc.integer({ min: 1, max: volumes.length }),
      // One more that has moved to the first, where its name is free.
      volumes: fc.boolean().map((isMore): VolumeSpec[] => {
        const moved: VolumeSpec = { name: "moved", state: "read-only", weight: 1, movedTo: volumes[0]!.name };
        return isMore && volumes.every((other) => other.name !== "moved") ? [...volumes, moved] : volumes;
      }),
      codecs,
    }),
  );

describe("connectors", () => {
  it("come back from XML and from JSON as they were", () => {
    fc.assert(
      fc.property(connector, (value) => {
        expect(parseConnector(Buffer.from(formatConnectorXml(value)), "x")).toEqual(value);
        expect(parseConnector(Buffer.from(formatConnectorJson(value)), "x")).toEqual(value);
      }),
      { numRuns: 200 },
    );
  });

  const isTyped = (bytes: Uint8Array) => {
    try {
      parseConnector(bytes, "x");
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      expect(error.code).toMatch(/^HT_(?:USAGE|FORMAT_TOO_NEW)$/);
    }
  };

  it("that were tampered with are read or refused, and nothing else", () => {
    const change = fc.record({ position: fc.nat(), remove: fc.nat({ max: 5 }), insert: fc.string({ maxLength: 5 }) });
    fc.assert(
      fc.property(connector, fc.boolean(), fc.array(change, { maxLength: 3 }), (value, isJson, changes) => {
        let written = isJson ? formatConnectorJson(value) : formatConnectorXml(value);
        for (const { position: at, remove, insert } of changes) {
          const from = at % (written.length + 1);
          written = written.slice(0, from) + insert + written.slice(from + remove);
        }
        isTyped(Buffer.from(written));
      }),
      { numRuns: 300 },
    );
  });

  it("cut at any byte are refused", () => {
    fc.assert(
      fc.property(connector, fc.boolean(), fc.nat(), (value, isJson, at) => {
        const bytes = Buffer.from((isJson ? formatConnectorJson(value) : formatConnectorXml(value)).trimEnd());
        expect(() => parseConnector(bytes.subarray(0, at % bytes.length), "x")).toThrow(ArchiveError);
      }),
      { numRuns: 200 },
    );
  });

  it("that are none are refused", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), isTyped), { numRuns: 200 });
  });
});
