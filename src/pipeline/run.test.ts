import { expect, it } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { makeInput } from "../testing/archive-fixture.ts";
import { captureBytes } from "../testing/capture-text.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import type { SkippedInput } from "./inputs.ts";
import { runTask } from "./run.ts";

it("is ended by who takes its text and fails, and blames no input for it", async () => {
  const disk = new ForgetfulDisk();
  // Lines enough that some are handed on before the file is read to its end.
  const uris = Array.from({ length: 40 }, (_, i) => `http://a.example/${i}/${"long".repeat(1000)}`);
  const inputs = [1, 2].map(() =>
    makeInput(
      disk,
      uris.map((uri) => captureBytes({ uri, date: "2020-01-01T00:00:00Z", payload: uri })),
    ),
  );
  const skipped: SkippedInput[] = [];
  let texts = 0;
  const onText = () => {
    if (++texts === 1) throw new ArchiveError("HT_NO_SPACE", "no room for it");
  };
  const onSkip = (skip: SkippedInput) => void skipped.push(skip);
  const request = { kind: "manifest", options: { digest: "sha256" } } as const;
  const ending = runTask(disk, inputs, request, { threads: 1, onText, onSkip });
  await expect(ending).rejects.toMatchObject({ code: "HT_NO_SPACE" });
  expect({ skipped, texts }).toEqual({ skipped: [], texts: 1 });
});
