import { describe, expect, it } from "vitest";
import { createDice } from "../../testing/dice.ts";
import { Codecs } from "../codec.ts";
import { chooseCompression } from "./auto-compression.ts";

const codecs = await Codecs.load();
const text = Buffer.from("All happy families are alike. ".repeat(200));
const noise = createDice(1).bytes(70_000);

describe("auto compression", () => {
  it.each<[type: string | undefined, content: Uint8Array, chosen: string]>([
    ["text/html; charset=utf-8", text, "zstd"],
    ["TEXT/CSS", text, "zstd"],
    ["application/ld+json", text, "zstd"],
    ["image/svg+xml", text, "zstd"],
    [undefined, text, "zstd"],
    ["application/octet-stream", text, "zstd"],
    ["image/jpeg", text, "none"],
    ["video/mp4", text, "none"],
    ["font/woff2", noise, "none"],
    ["application/zip", noise, "none"],
    [undefined, noise, "none"],
    ["application/pdf", noise, "none"],
    ["audio/wav", text, "zstd"],
    ["text/plain", Buffer.from("ok"), "none"],
    ["text/plain", Buffer.alloc(0), "none"],
    [undefined, Buffer.alloc(0), "none"],
  ])("of %s", (type, content, chosen) => {
    expect(chooseCompression(codecs, content, type)).toBe(chosen);
  });

  it("tries only the beginning", () => {
    const long = Buffer.concat([noise, text, text]);
    expect(chooseCompression(codecs, long.subarray(0, 64 << 10))).toBe("none");
  });
});
