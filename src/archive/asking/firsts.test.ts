/** The first capture of each URL and host: in the order of keys, without what was removed, and none twice. */
import { expect, it } from "vitest";
import { API_VISITS, apiRecord } from "../../testing/api-archive.ts";
import { all, makeInput, openReader, openWriter } from "../../testing/archive-fixture.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { hostOf } from "../../url/index.ts";
import { archiveKey } from "../catalogue/capture-key.ts";

it("is there of each, and gone with the last capture that was removed", async () => {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk);
  await writer.add([makeInput(disk, API_VISITS.map(apiRecord))]);
  const keys = [...new Set(API_VISITS.map(({ url }) => archiveKey(url)))].sort();
  const firsts = async (of: "key" | "host", range = {}) => {
    await using archive = await openReader(disk);
    return (await all(archive.firsts(range, of))).map(({ key }) => key);
  };
  const hostsOf = (some: readonly string[]) => [...new Set(some.map(hostOf))];
  expect(await firsts("key")).toEqual(keys);
  expect((await firsts("host")).map(hostOf)).toEqual(hostsOf(keys));
  const [from, to] = [keys[2]!, keys[4]!];
  expect(await firsts("key", { from, to })).toEqual(keys.slice(2, 4));
  expect(await firsts("key", { from: to, to: from })).toEqual([]);
  await writer.remove({ site: "secret.example" }, { reason: "a test" });
  const left = keys.filter((key) => !key.includes("secret"));
  expect(await firsts("key")).toEqual(left);
  expect((await firsts("host")).map(hostOf)).toEqual(hostsOf(left));
});
