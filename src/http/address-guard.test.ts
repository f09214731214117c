import { describe, expect, it } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { AddressGuard, resolveWith } from "./index.ts";

const guard = new AddressGuard();

describe("an address", () => {
  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "0:0:0:0:0:ffff:a00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "3fff::1",
    "4000::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%lo",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
    "localhost",
    "",
    "1.2.3",
  ])("%j is refused", (address) => {
    expect(guard.permits(address)).toBe(false);
  });

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "198.17.255.255",
    "198.20.0.1",
    "223.255.255.255",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2a00::1",
    "3ffe::1",
  ])("%j is allowed", (address) => {
    expect(guard.permits(address)).toBe(true);
  });

  it("that is reserved may be allowed by its range, in all its forms", () => {
    const local = new AddressGuard({ allow: ["127.0.0.0/8", "fd00::/8", "192.168.1.7"] });
    for (const address of ["127.0.0.1", "127.9.9.9", "::ffff:127.0.0.1", "fd00::1", "192.168.1.7", "8.8.8.8"]) {
      expect(local.permits(address)).toBe(true);
    }
    for (const address of ["10.0.0.1", "::1", "fc00::1", "192.168.1.8", "fe80::1%lo"]) {
      expect(local.permits(address)).toBe(false);
    }
  });
});

it.each(["", "10.0.0.0/33", "10.0.0.0/x", "10.0.0.0/8/8", "::/129", "host/8", "10.0.0/8", "10.0.0.0/"])(
  "%j is no range",
  (range) => {
    expect(() => new AddressGuard({ allow: [range] })).toThrow(ArchiveError);
  },
);

describe("a host", () => {
  const hosts = new Map([
    ["site.test", ["93.184.215.14"]],
    ["mixed.test", ["10.0.0.1", "93.184.215.14", "::1"]],
    ["private.test", ["10.0.0.1", "::1"]],
    ["empty.test", []],
  ]);
  const lost = () => Promise.reject(new Error("ENOTFOUND"));
  const named = new AddressGuard({ resolve: resolveWith(hosts, lost) });

  it("has the addresses that are permitted", async () => {
    expect(await named.resolve("site.test")).toEqual(["93.184.215.14"]);
    expect(await named.resolve("site.test.")).toEqual(["93.184.215.14"]);
    expect(await named.resolve("mixed.test")).toEqual(["93.184.215.14"]);
  });

  it("without any is refused, or unknown", async () => {
    expect(await named.resolve("private.test")).toMatchObject({ code: "address-refused" });
    expect(await named.resolve("empty.test")).toMatchObject({ code: "dns" });
    expect(await named.resolve("nowhere.test")).toMatchObject({ code: "dns" });
  });

  it.each([
    "http://0x7f.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://127.1/",
  ])("as a number is judged as the address that it is: %s", async (url) => {
    expect(await named.resolve(new URL(url).hostname)).toMatchObject({ code: "address-refused" });
  });
});
