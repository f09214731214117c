import { describe, expect, it } from "vitest";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import type { ManifestLine, OriginalPlace } from "./manifest-line.ts";
import { RevisitJoin } from "./revisit-join.ts";

const PLACE: OriginalPlace = { uri: undefined, date: undefined, id: undefined, file: undefined, offset: undefined };

function line(offset: number, more: Partial<ManifestLine>): ManifestLine {
  return {
    file: "a.warc.gz",
    offset,
    length: 100,
    uri: `http://a.example/${offset}`,
    date: "2020-01-01T00:00:00Z",
    digest: undefined,
    payloadSize: undefined,
    status: undefined,
    mime: undefined,
    framing: undefined,
    id: `urn:uuid:${offset}`,
    flags: [],
    extension: undefined,
    copy: undefined,
    original: undefined,
    ...more,
  };
}

function revisit(offset: number, refersTo: Partial<OriginalPlace>, digest?: string): ManifestLine {
  return line(offset, { flags: ["revisit"], digest, original: { ...PLACE, ...refersTo } });
}

function join(lines: readonly ManifestLine[]): [revisit: number, original: number | undefined][] {
  using pairs = new RevisitJoin(new ForgetfulDisk());
  for (const each of lines) pairs.add(each);
  return [...pairs.pairs()]
    .map(({ revisit, original }): [number, number | undefined] => [revisit.offset, original?.offset])
    .sort(([one], [other]) => one - other);
}

const HELD = [line(0, { digest: "sha256:aa" }), line(1, { digest: "sha256:bb" })];

describe("a revisit is led to its original", () => {
  it("by URI and date", () => {
    const [first] = HELD;
    expect(join([...HELD, revisit(9, { uri: first!.uri, date: first!.date })])).toEqual([[9, 0]]);
  });

  it("by the id alone, whatever its digest is of", () => {
    expect(join([revisit(9, { id: "urn:uuid:1" }, "sha1:CC"), ...HELD])).toEqual([[9, 1]]);
  });

  it("by its digest where it tells nothing else, or the id is nobody's", () => {
    const revisits = [revisit(8, {}, "sha256:bb"), revisit(9, { id: "urn:uuid:nobody" }, "sha256:aa")];
    expect(join([...revisits, ...HELD])).toEqual([
      [8, 1],
      [9, 0],
    ]);
  });

  it("by its digest where the record of that id has another", () => {
    expect(join([revisit(9, { id: "urn:uuid:1" }, "sha256:aa"), ...HELD])).toEqual([[9, 0]]);
  });

  it("or is told alone, once", () => {
    const revisits = [
      revisit(6, { id: "urn:uuid:nobody" }),
      revisit(7, { id: "urn:uuid:nobody" }, "sha256:dd"),
      revisit(8, { uri: "http://é.example/", date: "2020-01-01T00:00:00Z" }),
      revisit(9, {}),
    ];
    expect(join([...revisits, ...HELD])).toEqual(revisits.map(({ offset }) => [offset, undefined]));
  });
});
