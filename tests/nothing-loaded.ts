/** For test files that share a process: none may load what others would have to load for themselves. */
import { afterAll, expect } from "vitest";
import { createHasher } from "../src/base/index.ts";
import { encodeFrame, setAccelerator } from "../src/warc/index.ts";

// None of them reads so much that it would get an accelerator, and what all have read together must not bring it.
setAccelerator(undefined);

afterAll(() => {
  const why = "this file needs a process of its own: see PLAIN in vitest.config.ts";
  const bytes = Buffer.from("nothing");
  expect(() => encodeFrame(bytes, 1, bytes), why).toThrow("loadZstd() must be awaited");
  expect(() => createHasher("blake3"), why).toThrow("loadDigest('blake3') must be awaited");
});
