/** So many records that their manifest is compared in several stretches, with names in which a cut can fall into a letter. */
import { expect, test } from "vitest";
import { captureBytes, noise, packRecords } from "../../src/testing/capture-text.ts";
import { dedupTrial } from "../../src/testing/dedup-trial.ts";
import { checkDeduplicated } from "../../src/testing/deduplicated.ts";

const FILES = 3;
const CAPTURES = 900;
const PAYLOADS = 700;

test("thousands of captures, whose URLs have letters of several bytes", {
  timeout: 60_000,
}, async () => {
  const payloads = Array.from({ length: PAYLOADS }, (_, i) => noise(`payload ${i}`, 700));
  const files = Array.from({ length: FILES }, (_, file) => ({
    name: `${file}.warc`,
    bytes: packRecords(
      Array.from({ length: CAPTURES }, (__, i) => {
        const time = new Date(1_577_836_800_000 + (file * CAPTURES + i) * 1000).toISOString().replace(".000Z", "Z");
        const uri = `http://b\u00fccher.example/${"\u4e2d\u6587\u00e9".repeat(12)}/${i % 450}`;
        return captureBytes({ uri, date: time, payload: payloads[(i * 11) % PAYLOADS]! });
      }),
      "none",
    ),
  }));
  const trial = await dedupTrial(files);
  const { replaced } = checkDeduplicated(files, trial.output);
  expect(trial.disk.list(`${trial.result.job}/resolved`).length).toBeGreaterThan(2);
  expect(trial.result).toMatchObject({ records: FILES * CAPTURES, duplicates: FILES * CAPTURES - PAYLOADS, left: {} });
  expect(replaced).toHaveLength(FILES * CAPTURES - PAYLOADS);
});
