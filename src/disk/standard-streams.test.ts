import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { type CompiledRooms, compileRooms } from "../testing/child-process.ts";
import { ClosedPipe, readStandardInput, writeStandardError, writeStandardOutput } from "./standard-streams.ts";

let rooms: CompiledRooms;

beforeAll(() => {
  rooms = compileRooms("base", "disk");
});
afterAll(() => rooms[Symbol.dispose]());
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** Mentioning `process.stdin` makes the pipe one that does not block, as a shell may hand it to us. */
const COPY = `
  import { readStandardInput, writeStandardOutput } from "./disk/index.js";
  process.stdin.pause();
  const window = new Uint8Array(100_000);
  for (let count = 1; count > 0; ) {
    count = readStandardInput(window);
    writeStandardOutput(window.subarray(0, count));
  }
`;

it("copies megabytes from slow input to slow output", async () => {
  const child = rooms.start(COPY);
  const { process } = child;
  const sent = Buffer.alloc(3_000_000, "0123456789 and so on ");
  const received: Buffer[] = [];
  process.stdout?.on("data", (bytes: Buffer) => received.push(bytes));
  process.stdin?.write(sent.subarray(0, 10));
  await vi.waitFor(() => expect(received.length).toBeGreaterThan(0), { timeout: 10_000 });
  process.stdin?.end(sent.subarray(10));
  expect(await child.exit()).toBe(0);
  await vi.waitFor(() => expect(Buffer.concat(received).equals(sent)).toBe(true));
});

it("tells that nobody reads any more", async () => {
  const child = rooms.start(`
    import { ClosedPipe, writeStandardOutput } from "./disk/index.js";
    try {
      for (;;) writeStandardOutput("a line\\n".repeat(1000));
    } catch (error) {
      process.exit(error instanceof ClosedPipe ? 7 : 8);
    }
  `);
  expect(await child.line()).toBe("a line");
  child.process.stdout?.destroy();
  expect(await child.exit()).toBe(7);
});

function refuseOnce(call: "readSync" | "writeSync", ...codes: string[]) {
  const spy = vi.spyOn(fs, call);
  for (const code of codes) {
    spy.mockImplementationOnce(() => {
      throw Object.assign(new Error(code), { code });
    });
  }
  return spy;
}

it("waits while output would block, and writes all of it", () => {
  const written: string[] = [];
  const spy = refuseOnce("writeSync", "EAGAIN", "EINTR", "EAGAIN");
  spy.mockImplementation(((descriptor: number, bytes: Uint8Array, from: number) => {
    written.push(`${descriptor}:${Buffer.from(bytes).toString("utf8", from, from + 2)}`);
    return Math.min(2, bytes.length - from);
  }) as typeof fs.writeSync);
  syncBuiltinESMExports();
  writeStandardOutput("text…");
  writeStandardError(Buffer.from("no"));
  expect(written.slice(0, 2)).toEqual(["1:te", "1:xt"]);
  expect(written.at(-1)).toBe("2:no");
  expect(written).toHaveLength(5);
});

it("tells a closed pipe, the end, and other failures apart", () => {
  refuseOnce("writeSync", "EPIPE", "ENOSPC");
  refuseOnce("readSync", "EAGAIN", "EOF", "EIO");
  syncBuiltinESMExports();
  expect(() => writeStandardOutput("text")).toThrow(ClosedPipe);
  expect(() => writeStandardOutput("text")).toThrow(expect.objectContaining({ code: "HT_NO_SPACE" }));
  expect(readStandardInput(new Uint8Array(1))).toBe(0);
  expect(() => readStandardInput(new Uint8Array(1))).toThrow(expect.objectContaining({ code: "HT_IO" }));
});
