import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { writeText } from "../testing/disk-suite.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { signatureOf } from "./signature.ts";
import { SignatureFilter } from "./signature-filter.ts";
import { HEADER_SIZE, parseHeader } from "./tree/block-header.ts";
import { parseFormer } from "./tree/former-keys.ts";
import { addTotals, formatLine, NO_TOTALS, parseLine } from "./tree/journal-line.ts";
import { sig2location } from "./tree/location.ts";
import { readVolumeSettings } from "./volume-settings.ts";

function examples(page: string): string[] {
  const path = fileURLToPath(new URL(`../../docs/format/${page}`, import.meta.url));
  return [...readFileSync(path, "utf8").matchAll(/```\w+\n([^]*?)```/g)].map(([, text]) => text!);
}

describe("the examples of docs/format", () => {
  it("volume.md: the settings of a volume", () => {
    const disk = new ForgetfulDisk();
    writeText(disk, "/volume.json", examples("volume.md")[0]!);
    expect(readVolumeSettings(disk, "/")).toMatchObject({ layout: "tree", signature: "rabin64", treeDepth: 3 });
  });

  it("signature-filter.md: two signatures", () => {
    const bytes = Buffer.from(examples("signature-filter.md")[0]!.replace(/\s/g, ""), "hex");
    const filter = SignatureFilter.for(2);
    for (const signature of ["16B189584F6B3949", "5B907D974BFC1093"]) filter.add(signature);
    expect(Buffer.from(filter.encode()).equals(bytes)).toBe(true);
    expect(SignatureFilter.decode(bytes).count).toBe(2);
  });

  const [shown, hex, former, journal] = examples("tree-volume.md") as [string, string, string, string];

  it("tree-volume.md: a block", () => {
    const bytes = Buffer.from(hex.replace(/\s/g, ""), "hex");
    const header = { compression: "zlib", size: 63, storedSize: 53, references: 1, state: "held" };
    expect(parseHeader(bytes, "example")).toEqual(header);
    const content = inflateSync(bytes.subarray(HEADER_SIZE));
    expect([content.length, bytes.length - HEADER_SIZE]).toEqual([63, 53]);
    const signature = signatureOf("rabin64", content);
    expect(shown).toContain(`blocks/${sig2location(signature, 3).join("/")}`);
    expect(shown).toContain(content.toString("latin1"));
    expect(shown).toContain(bytes.toString("latin1", 0, HEADER_SIZE).trimEnd());
  });

  it("tree-volume.md: former keys", () => {
    expect(parseFormer(former, "5B907D974BFC1093")).toEqual(new Map([["4-5B907D974BFC1093-1", 0]]));
  });

  it("tree-volume.md: a journal", () => {
    const texts = journal.trimEnd().split("\n");
    const lines = texts.map((text) => parseLine(text)!);
    expect(lines.map((line) => formatLine(line).trimEnd())).toEqual(texts);
    expect(lines.map(({ kind }) => kind)).toEqual(["journal", "settled", "do", "do", "do", "do", "settled"]);
    let totals = NO_TOTALS;
    for (const line of lines) if (line.kind === "do") totals = addTotals(totals, line.entry);
    expect(lines.at(-1)).toEqual({ kind: "settled", totals });
  });
});
