import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { sig2location } from "../../src/store/index.ts";
import { startOnDisk } from "../../src/testing/local-volume.ts";
import { contentOf, mixedBytes, storing } from "../../src/testing/volume-contents.ts";

const shell = (command: string, ...args: readonly string[]) =>
  execFileSync("sh", ["-c", command, "sh", ...args], { maxBuffer: 1 << 24 });

describe("a block of a tree", () => {
  it("is read with head, tail and gzip", async () => {
    await using fixture = await startOnDisk({ layout: "tree" });
    for (const content of [contentOf("sha256", "A drawer of beetles.\n"), contentOf("sha256", mixedBytes(1_500_000))]) {
      await fixture.volume.store(storing(content, { compression: "gzip" }));
      await fixture.volume.refer(content);
      const path = [fixture.volume.folder, "blocks", ...sig2location(content.signature, 3)].join("/");
      const header = shell('head -c 128 "$1"', path).toString("latin1");
      expect(header).toMatch(
        /^holotype-block 1\ncompression gzip\nsize \d+\nstored \d+\nreferences 2\nstate held\n *\n$/,
      );
      expect(shell('tail -c +129 "$1" | gzip -dc', path).equals(content.bytes)).toBe(true);
      // The name of the file is the digest of the content.
      const sum = shell('tail -c +129 "$1" | gzip -dc | sha256sum', path).toString("latin1").slice(0, 64);
      expect(sum.toUpperCase()).toBe(content.signature);
    }
  });
});
