import { describe, expect, test } from "vitest";
import { putFile } from "../testing/dedup-trial.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { createLocator, type LocatorSettings } from "./locator.ts";

const WARC = Buffer.from("WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n");

function locatorOver(files: readonly string[], settings: LocatorSettings = {}, index = "") {
  const disk = new ForgetfulDisk();
  for (const path of files) putFile(disk, path, WARC);
  if (index !== "") putFile(disk, "/index", Buffer.from(index));
  const locator = createLocator(disk, index === "" ? settings : { ...settings, index: "/index" });
  return (name: string) => {
    const { path, entries } = locator.locate(name);
    return [path, ...entries];
  };
}

describe("a file is found", () => {
  test("by its name as a path", () => {
    expect(locatorOver(["/x/a.warc.gz"])("/x/a.warc.gz")).toEqual(["/x/a.warc.gz"]);
  });

  test.each([
    ["/x/hey!.wacz!archive/a.warc.gz", ["/x/hey!.wacz", "archive/a.warc.gz"]],
    ["/x/hey!.wacz!in.wacz!archive/a!b.warc.gz", ["/x/hey!.wacz", "in.wacz", "archive/a!b.warc.gz"]],
    ["/x/tab%09here.warc!a", ["/x/tab\there.warc", "a"]],
  ])("by the name of an entry, whatever marks are in it: %s", (name, place) => {
    expect(locatorOver(["/x/hey!.wacz", "/x/tab\there.warc"])(name)).toEqual(place);
  });

  test("by its base name in a folder, at any depth, wherever it was before", () => {
    const locate = locatorOver(["/x/y/a.warc.gz", "/x/b.warc"], { folders: ["/x"] });
    expect(locate("/elsewhere/a.warc.gz")).toEqual(["/x/y/a.warc.gz"]);
    expect(locate("b.warc")).toEqual(["/x/b.warc"]);
  });

  test("through an index: by its whole name, or its base name", () => {
    const locate = locatorOver(
      ["/x/a.warc.gz"],
      {},
      "a.warc.gz\t/far/a1\n/old/a.warc.gz\t/far/a2\nb.warc\thttp://b.example/b.warc\n",
    );
    expect(locate("a.warc.gz")).toEqual(["/far/a1"]);
    expect(locate("/old/a.warc.gz")).toEqual(["/far/a2"]);
    expect(locate("/x/a.warc.gz")).toEqual(["/far/a1"]);
    expect(locate("b.warc")).toEqual(["http://b.example/b.warc"]);
  });

  test("by its URL", () => {
    expect(locatorOver([])("https://a.example/a.warc.gz")).toEqual(["https://a.example/a.warc.gz"]);
  });

  test("below a URL, where no folder has it", () => {
    const locate = locatorOver(["/x/a.warc.gz"], { folders: ["/x", "https://far.example/warcs/"] });
    expect(locate("/old/a.warc.gz")).toEqual(["/x/a.warc.gz"]);
    expect(locate("/old/b c.warc.gz")).toEqual(["https://far.example/warcs/b%20c.warc.gz"]);
  });

  test("inside a ZIP file, wherever that lies", () => {
    const locate = locatorOver(["/x/a.wacz"], { folders: ["/x"] }, "c.wacz\t/far/c.wacz\n");
    expect(locate("/x/a.wacz!archive/d.warc.gz")).toEqual(["/x/a.wacz", "archive/d.warc.gz"]);
    expect(locate("/old/a.wacz!b.wacz!d.warc.gz")).toEqual(["/x/a.wacz", "b.wacz", "d.warc.gz"]);
    expect(locate("c.wacz!d.warc.gz")).toEqual(["/far/c.wacz", "d.warc.gz"]);
  });

  test("whose own name has an exclamation mark", () => {
    expect(locatorOver(["/x!y/a!.warc.gz"])("/x!y/a!.warc.gz")).toEqual(["/x!y/a!.warc.gz"]);
  });
});

describe("an error says", () => {
  test("that a file cannot be found, and how to help", () => {
    const locate = locatorOver(["/x/a.warc.gz"], { folders: ["/x"] });
    expect(() => locate("b.warc.gz")).toThrow(expect.objectContaining({ code: "HT_NOT_FOUND" }));
    expect(() => locate("b.warc.gz")).toThrow(/--folder or --paths/);
  });

  test("that two files have the name", () => {
    const locate = locatorOver(["/x/a.warc.gz", "/y/a.warc.gz", "/y/b.warc"], { folders: ["/x", "/y"] });
    expect(() => locate("old/a.warc.gz")).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
    expect(locate("old/b.warc")).toEqual(["/y/b.warc"]);
    // Unless the name is one of them.
    expect(locate("/y/a.warc.gz")).toEqual(["/y/a.warc.gz"]);
  });

  test("that a folder named twice is one", () => {
    expect(locatorOver(["/x/a.warc.gz"], { folders: ["/x", "/x"] })("a.warc.gz")).toEqual(["/x/a.warc.gz"]);
  });

  test.each(["a.warc.gz\n", "a.warc.gz\t\n", "\n"])("that %j is no line of an index", (line) => {
    const locate = locatorOver([], {}, `b.warc\t/x\n${line}`);
    expect(() => locate("b.warc")).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
  });

  test("that a folder to search is not there", () => {
    expect(() => locatorOver([], { folders: ["/none"] })("a.warc")).toThrow(
      expect.objectContaining({ code: "HT_NOT_FOUND" }),
    );
  });
});
