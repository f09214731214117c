/** What is taken out of an archive or a store, or made from files, is readable to nobody who could not read those. */
import { chmodSync, copyFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { holotype, SAMPLES, temporaryFolder } from "./holotype.ts";

const URL = "http://cabinet.example/";
const folder = temporaryFolder();
const archive = join(folder, "archive");
const segments = join(archive, "volumes", "0", "segments");
const shared = (path: string) => statSync(path).mode & 0o077;

function run(...args: string[]): string {
  const { exit, out, err } = holotype(args);
  expect({ exit, err: exit === 0 ? "" : err }).toEqual({ exit: 0, err: "" });
  return out;
}

function permit(path: string, permissions: number): void {
  for (const name of readdirSync(path)) chmodSync(join(path, name), permissions);
}

beforeAll(() => {
  run("add", SAMPLES, "--archive", archive);
});

describe.each([
  { name: "segments of 0600", file: 0o600, entrance: 0o755, wanted: 0 },
  { name: "segments of 0640", file: 0o640, entrance: 0o755, wanted: 0o040 },
  { name: "a folder of 0700", file: 0o644, entrance: 0o700, wanted: 0 },
  { name: "no secrets", file: 0o644, entrance: 0o755, wanted: 0o044 },
])("of an archive with $name", ({ name, file, entrance, wanted }) => {
  const output = (ending: string) => join(folder, `${name.replaceAll(" ", "-")}${ending}`);

  beforeAll(() => {
    permit(segments, file);
    chmodSync(archive, entrance);
  });

  it("at -o", () => {
    run("at", URL, "2014", "--archive", archive, "-o", output(".html"));
    expect(shared(output(".html"))).toBe(wanted);
  });

  it("export as WARC, with its index", () => {
    run("export", "--all", "--archive", archive, "-o", output(".warc.gz"), "--cdxj");
    expect(shared(output(".warc.gz"))).toBe(wanted);
    expect(shared(output(".cdxj"))).toBe(wanted);
  });

  it("export as WACZ", () => {
    run("export", "--all", "--archive", archive, "-o", output(".wacz"));
    expect(shared(output(".wacz"))).toBe(wanted);
  });
});

describe("an archive that add makes", () => {
  const input = join(folder, "private.warc.gz");
  const added = join(folder, "of-private");

  it("can be entered by nobody who may not read what is added", () => {
    copyFileSync(join(SAMPLES, "cabinet-2009.warc.gz"), input);
    chmodSync(input, 0o600);
    run("add", input, "--archive", added);
    expect(shared(added)).toBe(0);
  });

  it("says so where it is there already and more people may enter it", () => {
    chmodSync(added, 0o755);
    const { exit, err } = holotype(["add", input, "--archive", added]);
    expect(exit).toBe(0);
    expect(err).toContain("more people may read");
  });

  it("is open to all who may read its inputs", () => {
    chmodSync(input, 0o644);
    run("add", input, "--archive", join(folder, "of-public"));
    expect(shared(join(folder, "of-public")) & 0o005).toBe(0o005);
  });
});

it("an adopted file that is private counts too", () => {
  const other = join(folder, "other");
  const adopted = join(folder, "adopted.warc.gz");
  run("export", "--all", "--archive", archive, "-o", adopted);
  chmodSync(adopted, 0o600);
  run("add", "--adopt", adopted, "--archive", other);
  run("at", URL, "2014", "--archive", other, "-o", join(folder, "adopted.html"));
  expect(shared(join(folder, "adopted.html"))).toBe(0);
});

describe.each([
  { permissions: 0o600, wanted: 0 },
  { permissions: 0o644, wanted: 0o044 },
])("of inputs with permissions $permissions", ({ permissions, wanted }) => {
  const path = (name: string) => join(folder, `${permissions}-${name}`);
  const [input, index, lines, urls] = [path("a.warc.gz"), path("digests"), path("a.cdxj"), path("urls")];
  /** Of a folder, as far as its files can be read. */
  const entered = (name: string) => (shared(name) & 0o011) << 2;

  beforeAll(() => {
    copyFileSync(join(SAMPLES, "cabinet-2009.warc.gz"), input);
    writeFileSync(urls, "http://127.0.0.1:1/\n");
    for (const each of [input, urls]) chmodSync(each, permissions);
    run("index", input, "-o", lines);
    run("digests", "build", input, "-o", index);
  });

  it("digests build and merge", () => {
    expect(entered(index)).toBe(wanted);
    run("digests", "merge", index, index, "-o", path("merged"));
    expect(entered(path("merged"))).toBe(wanted);
  });

  it("digests export and report", () => {
    run("digests", "export", index, "-o", path("index.cdxj"));
    run("digests", "report", input, "--against", index, "--html", path("report.html"), "--csv", path("report.csv"));
    for (const name of ["index.cdxj", "report.html", "report.csv"]) expect(shared(path(name)), name).toBe(wanted);
  });

  it("digests build of an archive", () => {
    run("add", input, "--archive", path("archive"));
    run("digests", "build", path("archive"), "-o", path("of-archive"));
    expect(entered(path("of-archive"))).toBe(wanted);
  });

  it("timeline load", () => {
    run("timeline", "load", path("timeline"), lines);
    expect(entered(path("timeline"))).toBe(wanted);
  });

  it("store put", () => {
    run("store", "put", input, "--instance", path("store"));
    expect(entered(path("store"))).toBe(wanted);
  });

  it("fetch", () => {
    expect(holotype(["fetch", "-i", urls, "-o", path("fetched"), "--archive", path("fed")]).exit).toBe(3);
    expect(entered(path("fetched"))).toBe(wanted);
    expect(entered(path("fed"))).toBe(wanted);
  });
});

describe.each(["pack", "tree"])("of a %s volume", (layout) => {
  const volume = join(folder, layout);
  let key: string;

  beforeAll(() => {
    run("volume", "create", volume, "--layout", layout);
    key = run("store", "put", "--instance", volume, join(SAMPLES, "cabinet-2009.warc.gz")).trim().split("\t")[0]!;
  });

  const get = (name: string) => {
    const output = join(folder, `${layout}-${name}`);
    run("store", "get", key, "--instance", volume, "-o", output);
    return shared(output);
  };

  it("store get -o", () => {
    expect(get("open")).toBe(0o044);
    chmodSync(volume, 0o700);
    expect(get("behind-its-folder")).toBe(0);
    chmodSync(volume, 0o755);
    for (const { name, parentPath } of readdirSync(volume, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    ))
      chmodSync(join(parentPath, name), 0o640);
    expect(get("of-a-group")).toBe(0o040);
  });
});
