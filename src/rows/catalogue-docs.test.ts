/** The bytes that docs/format/catalogue.md shows are those that are written and read. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { BlockCache } from "./block-cache.ts";
import { BLOCK_SIZE } from "./row-block.ts";
import { Run, RunWriter } from "./row-run.ts";
import { RUNS_AT, RUNS_MAX, SLOT_SIZE } from "./row-slot.ts";

const page = readFileSync(new URL("../../docs/format/catalogue.md", import.meta.url), "utf8");

function example(name: string): Buffer {
  return Buffer.from(new RegExp(`^${name} +([0-9a-f ]+)$`, "m").exec(page)![1]!.replaceAll(" ", ""), "hex");
}

it("has a run", () => {
  using file = new ForgetfulDisk().open("/rows", "create");
  const writer = new RunWriter(file, 0);
  writer.add("key 1", Buffer.from("a"));
  writer.add("key 2", undefined);
  const place = writer.finish()!;
  const bytes = Buffer.alloc(place.end);
  file.read(bytes, 0);
  const [block, index] = [bytes.subarray(0, place.indexAt), bytes.subarray(place.indexAt)];
  expect([block.toString("hex"), index.toString("hex")]).toEqual(
    [example("block"), example("index")].map((shown) => shown.toString("hex")),
  );
  const run = new Run(file, place, new BlockCache());
  expect(run.get("key 1")?.value?.toString()).toBe("a");
  expect(run.get("key 2")).toEqual({ value: undefined });
  expect(run.get("key 3")).toBeUndefined();
});

it("has the sizes", () => {
  expect([SLOT_SIZE, RUNS_AT, BLOCK_SIZE, RUNS_MAX]).toEqual([1024, 2048, 2048, 41]);
});
