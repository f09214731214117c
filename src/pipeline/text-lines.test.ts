import { expect, test } from "vitest";
import { putFile } from "../testing/dedup-trial.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { readTextLines } from "./text-lines.ts";

test("a file without line ends is refused before it fills the memory", () => {
  const disk = new ForgetfulDisk();
  putFile(disk, "/long", Buffer.concat([Buffer.from("first\n"), Buffer.alloc(17 << 20, "x")]));
  const lines = readTextLines(disk, "/long");
  expect(lines.next().value).toBe("first");
  expect(() => lines.next()).toThrow(expect.objectContaining({ code: "HT_TOO_LARGE" }));
});
