import { describe, expect, it } from "vitest";
import { createDice } from "../testing/dice.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { WireSpool } from "./wire-spool.ts";

function newSpool(memoryMaxBytes: number) {
  const disk = new ForgetfulDisk();
  disk.makeFolder("/job");
  return { disk, spool: new WireSpool({ disk, folder: "/job", random: createDice(1), memoryMaxBytes }) };
}

describe("the spool of a message", () => {
  it.each([
    { memory: 1_000_000, files: 0 },
    { memory: 1000, files: 1 },
  ])("gives all bytes in order, twice, with $memory bytes of memory", ({ memory, files }) => {
    const { disk, spool } = newSpool(memory);
    const dice = createDice(7);
    const sent = Array.from({ length: 300 }, () => Buffer.from(dice.bytes(dice.below(2000))));
    for (const piece of sent) spool.push(piece);
    const all = Buffer.concat(sent);
    expect(spool.size).toBe(all.length);
    const read = () => Buffer.concat([...spool.pieces()].map((piece) => Buffer.from(piece)));
    // A piece is gone with the next one, so each is copied as it comes.
    const copied: Buffer[] = [];
    for (const piece of spool.pieces()) copied.push(Buffer.from(piece));
    expect(Buffer.concat(copied).equals(all)).toBe(true);
    expect(read().length).toBe(all.length);
    expect(disk.operations.count("remove")).toBe(files);
    // The file has lost its name already.
    expect(disk.list("/job")).toEqual([]);
    spool.clear();
    expect([...spool.pieces()]).toEqual([]);
    spool.push(Buffer.from("again"));
    expect(read().toString()).toBe("again");
    spool[Symbol.dispose]();
    spool[Symbol.dispose]();
    expect(spool.size).toBe(0);
  });

  it("says where the disk is full", () => {
    const disk = new ForgetfulDisk({ fullFromWrite: 1 });
    disk.makeFolder("/job");
    const spool = new WireSpool({ disk, folder: "/job", memoryMaxBytes: 10 });
    expect(() => spool.push(Buffer.alloc(100))).toThrow(expect.objectContaining({ code: "HT_NO_SPACE" }));
  });
});
