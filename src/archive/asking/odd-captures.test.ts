/** Captures that were lost, shown for others, or stopped everything. */
import { expect, it } from "vitest";
import { digestOf } from "../../base/index.ts";
import { all, capturesOf, makeInput, openReader, openWriter } from "../../testing/archive-fixture.ts";
import { captureBytes, idOf, noise, requestBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { contentIdentity } from "../catalogue/content.ts";

const DATE = "2020-01-01T00:00:00Z";

it.each(["http://a.example/x#top", "http://a.example/#!/x?y=1"])("keeps answers to POST of %s", async (uri) => {
  const disk = new ForgetfulDisk();
  const posts = [1, 2].flatMap((day) => {
    const date = `2020-01-0${day}T00:00:00Z`;
    const id = idOf(`answer ${day}`);
    const request = requestBytes({ uri, date, method: "POST", concurrentTo: [id] });
    return [captureBytes({ uri, date, payload: noise("same", 3000), id }), request];
  });
  {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, posts)]);
    writer.compact({ all: true });
  }
  await using archive = await openReader(disk);
  const captures = await capturesOf(archive, uri);
  expect(captures.map((each) => each.class)).toEqual(["other-method", "other-method"]);
});

it("takes a request whose JSON has half of a surrogate pair", async () => {
  const disk = new ForgetfulDisk();
  const uri = "http://a.example/api";
  const id = idOf("answer");
  const http = ["Content-Type: application/json"];
  const body = String.raw`{"a":"\ud83d","\ud83d":1}`;
  const request = requestBytes({ uri, date: DATE, method: "POST", concurrentTo: [id], body, http });
  {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, [captureBytes({ uri, date: DATE, payload: "p", id }), request])]);
  }
  await using archive = await openReader(disk);
  expect((await capturesOf(archive, uri)).map((each) => each.method)).toEqual(["POST"]);
});

it("shows the redirect that the lifespan is about, of two of one moment", async () => {
  const uri = "http://a.example/";
  const places = ["http://b.example/", "http://c.example/"];
  const sha256 = digestOf("sha256", Buffer.alloc(0)).hex;
  const identity = (place: string) => contentIdentity(302, place, sha256);
  const last = places.toSorted((one, other) => Buffer.compare(identity(one), identity(other))).at(-1);
  for (let i = 0; i < 8; i++) {
    const disk = new ForgetfulDisk();
    const records = places.map((place) => {
      const http = [`Location: ${place}`];
      return captureBytes({ uri, date: DATE, payload: "", status: "302 Found", http, id: idOf(`${i} ${place}`) });
    });
    {
      await using writer = openWriter(disk);
      await writer.add([makeInput(disk, records)]);
    }
    await using archive = await openReader(disk);
    const moment = await archive.at(uri, Date.UTC(2021, 0, 1));
    expect(moment!.capture.location).toBe(last);
  }
});

it("pages of captures go on behind an answer to POST, forwards and backwards, and see what was added", async () => {
  const disk = new ForgetfulDisk();
  const uri = "http://a.example/x";
  const answer = (number: number) =>
    captureBytes({ uri: `${uri}/${number}`, date: "2020-01-01T00:00:00Z", payload: `${number}`, id: `urn:${number}` });
  const post = requestBytes({ uri: `${uri}/2`, date: "2020-01-01T00:00:00Z", method: "POST", concurrentTo: ["urn:2"] });
  {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, [answer(1), answer(2), post, answer(3)])]);
  }
  await using archive = await openReader(disk);
  for (const order of ["forwards", "backwards"] as const) {
    const seen: string[] = [];
    for (let after: string | undefined; seen.length < 10; ) {
      const [capture] = await all(archive.captures({ url: uri, match: "prefix", order, after, limit: 1 }));
      if (capture === undefined) break;
      seen.push(capture.url);
      after = capture.cursor;
    }
    const expected = [1, 2, 3].map((number) => `${uri}/${number}`);
    expect(seen).toEqual(order === "forwards" ? expected : expected.reverse());
  }
  {
    await using writer = openWriter(disk);
    const failed = { uri, date: "2021-01-01T00:00:00Z", payload: "", status: "503 Later", id: "urn:4" };
    await writer.add([makeInput(disk, [captureBytes(failed)])]);
  }
  expect(await archive.refresh()).toBe(true);
  expect(await all(archive.captures({ url: uri }))).toHaveLength(1);
  for (const order of ["forwards", "backwards", "closest"] as const) {
    const posted = { url: `${uri}/2?__wb_method=POST`, order, closestMs: 0 };
    expect(await all(archive.captures(posted))).toHaveLength(1);
  }
  expect(await archive.refresh()).toBe(false);
});

it("what has a time that no date tells exactly can be removed", async () => {
  const disk = new ForgetfulDisk();
  const uri = "http://a.example/x";
  const record = captureBytes({ uri, date: "9999-12-31T23:59:59-12:00", payload: "far", id: "urn:far" });
  await using writer = openWriter(disk);
  await writer.add([makeInput(disk, [record])]);
  expect(await writer.remove({ url: uri }, { reason: "a test" })).toMatchObject({ captures: 1 });
  expect(await writer.add([makeInput(disk, [record])])).toMatchObject({ captures: 0, removed: 1 });
});
