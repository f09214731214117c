import { expect, test } from "vitest";
import { diagnose, makeInput, openWriter, visitBytes } from "../../testing/archive-fixture.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

test("a duplicate stays whole where the header of its revisit would be too large to be read", async () => {
  const disk = new ForgetfulDisk();
  const payload = noise("payload", 200_000);
  const uri = (name: string) => `http://a.example/${name}/${"x".repeat(140_000)}`;
  const visits = ["one", "two"].map((name, i) => ({ uri: uri(name), timeMs: Date.UTC(2020, 0, 1 + i), payload }));
  {
    await using writer = openWriter(disk);
    const added = await writer.add([makeInput(disk, visits.map(visitBytes))]);
    expect(added).toMatchObject({ captures: 2, contents: 1, replaced: 0, kept: { "header-size": 1 } });
  }
  expect(await diagnose(disk)).toEqual([]);
});
