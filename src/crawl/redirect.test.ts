import { describe, expect, it } from "vitest";
import { parseHttpHead } from "../warc/index.ts";
import { hostnameOf, parseTarget, redirectOf } from "./redirect.ts";

function headOf(status: number, location: string) {
  const bytes = Buffer.from(`HTTP/1.1 ${status} Moved\r\nLocation: ${location}\r\n\r\n`, "latin1");
  return parseHttpHead(bytes, 0, bytes.length, true)!;
}

const FROM = { uri: "http://a.example/one/two?x=1", hops: "R" };

describe("a redirect", () => {
  it.each([
    ["/three", "http://a.example/three"],
    ["three#part", "http://a.example/one/three"],
    ["//b.example", "http://b.example/"],
    ["HTTPS://me:secret@B.example:443/ü", "https://b.example/%C3%BC"],
  ])("to %s leads to %s", (location, uri) => {
    const target = { uri, hops: "RR", via: FROM.uri, seed: FROM.uri };
    expect(redirectOf(FROM, headOf(301, Buffer.from(location).toString("latin1")), 5)).toEqual({ target });
  });

  it("is not one without a place, or with another status", () => {
    expect(redirectOf(FROM, headOf(200, "/three"), 5)).toBeUndefined();
    expect(redirectOf(FROM, undefined, 5)).toBeUndefined();
  });

  it.each([
    ["ftp://a.example/", "invalid"],
    ["http://", "invalid"],
    ["javascript:alert(1)", "invalid"],
    [`/${"a".repeat(70_000)}`, "too-long"],
  ])("to %s is not followed", (location, trouble) => {
    expect(redirectOf(FROM, headOf(302, location), 5)).toEqual({ trouble });
  });

  it("is not followed behind too many others", () => {
    expect(redirectOf(FROM, headOf(302, "/three"), 1)).toEqual({ trouble: "too-many" });
  });
});

it.each([
  ["http://A.example:8080/x", "a.example"],
  ["https://a.example", "a.example"],
  ["http://[2001:DB8::1]:80/", "[2001:db8::1]"],
  ["http://127.0.0.1:1/a:b/c", "127.0.0.1"],
])("the host of %s is %s", (text, host) => {
  const uri = parseTarget(text)!;
  expect(hostnameOf(uri)).toBe(host);
  expect(new URL(uri).hostname).toBe(host);
});
