import { expect, it } from "vitest";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { CaptureSpool } from "./capture-spool.ts";

it.each([3, 30_000])("gives back %d lines as often as it is asked, and leaves nothing", (count) => {
  const disk = new ForgetfulDisk();
  const lines = Array.from({ length: count }, (_, i): [number, string] => [i >> 2, `{"é":"${i} ${"x".repeat(60)}"}`]);
  {
    using spool = new CaptureSpool(disk, "/scratch");
    for (const [file, text] of lines) spool.add(file, text);
    for (const _ of [1, 2]) expect([...spool.lines()]).toEqual(lines);
  }
  expect(disk.stat("/scratch") === undefined ? [] : disk.list("/scratch")).toEqual([]);
});
