/**
 * The house rules that a program can hold: which room may import which, what only one room may do, and what no file
 * should look like. Each check lists its offenders; an exception stands here by name, with its reason.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Every file of the project that `.gitignore` does not leave out, as a path from its root. */
function listFiles(folder: string, ignored: readonly RegExp[]): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.name === ".git" || ignored.some((pattern) => pattern.test(`/${path}`))) return [];
    return entry.isDirectory() ? listFiles(path, ignored) : entry.isFile() ? [path] : [];
  });
}

/** The patterns of `.gitignore` are plain names, those at the root and `*.ending`; nothing else is understood here. */
function readIgnored(): RegExp[] {
  const lines = readFileSync(join(ROOT, ".gitignore"), "utf8").split("\n").filter(Boolean);
  return lines.map((line) => {
    const name = line.replace(/\/$/, "").replaceAll(".", "\\.").replace("*", "[^/]*");
    return new RegExp(name.startsWith("/") ? `^${name}$` : `/${name}$`);
  });
}

const FILES = listFiles("", readIgnored()).sort();
const texts = new Map<string, string>();

function read(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(ROOT, path), "utf8");
  texts.set(path, text);
  return text;
}

const CODE = FILES.filter((path) => /\.(?:ts|mts|mjs|js)$/.test(path));
/** What is shipped or could be: tests and what only tests use left out. */
const SOURCE = CODE.filter((path) => path.startsWith("src/") && !isTest(path) && roomOf(path) !== "testing");
const MANIFEST = JSON.parse(read("package.json")) as {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || path.startsWith("tests/");
}

/** Empty for files outside of `src/`. */
function roomOf(path: string): string {
  return /^src\/([^/]+)\//.exec(path)?.[1] ?? "";
}

/** Empty for files that lie in the room itself. */
function subRoomOf(path: string): string {
  return /^src\/[^/]+\/([^/]+)\//.exec(path)?.[1] ?? "";
}

const IMPORT = /^(?:import|export)\b[^"';]*?from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** What a file imports, types too: paths from the root of the project, or names of packages. */
function importsOf(path: string): string[] {
  return [...read(path).matchAll(IMPORT)].map(([, ...names]) => {
    const name = names.find((candidate) => candidate !== undefined)!;
    return name.startsWith(".") ? posix.join(posix.dirname(path), name) : name;
  });
}

const COMMENT_OR_TEXT = /\/\*[^]*?\*\/|(?<![:"'`\w])\/\/.*$|"(?:[^"\\\n]|\\.)*"/gm;

/** Code without its comments and texts, line by line. Rough, but errs only where quotation marks are mixed. */
function codeOf(path: string): string {
  return read(path).replace(COMMENT_OR_TEXT, (match) => match.replace(/[^\n]/g, ""));
}

/** `path:line` for each place where `pattern` is found. */
function findIn(paths: readonly string[], pattern: RegExp, textOf = read): string[] {
  return paths.flatMap((path) =>
    textOf(path)
      .split("\n")
      .flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim().slice(0, 100)}`] : [])),
  );
}

describe("rooms", () => {
  /** docs/architecture.md says what each is for. */
  const RANKS: Readonly<Record<string, number>> = {
    base: 0,
    disk: 1,
    warc: 1,
    url: 1,
    markup: 1,
    http: 2,
    rows: 2,
    store: 2,
    temporal: 2,
    dedup: 3,
    pipeline: 4,
    archive: 5,
    digests: 5,
    volumed: 5,
    crawl: 6,
    serve: 6,
    cli: 7,
  };

  it("are those of the design", () => {
    const rooms = new Set(FILES.map(roomOf).filter((room) => room !== "" && room !== "testing"));
    expect([...rooms].filter((room) => !(room in RANKS))).toEqual([]);
    expect(FILES.filter((path) => /^src\/[^/]+$/.test(path))).toEqual([]);
  });

  it("import themselves, or a room of lower rank through its door", () => {
    const offences = SOURCE.flatMap((path) =>
      importsOf(path)
        .filter((target) => target.startsWith("src/") && roomOf(target) !== roomOf(path))
        .filter((target) => {
          const isDoor = target === `src/${roomOf(target)}/index.ts`;
          return !isDoor || !(RANKS[roomOf(target)]! < RANKS[roomOf(path)]!);
        })
        .map((target) => `${path} imports ${target}`),
    );
    expect(offences).toEqual([]);
  });

  it("have sub-rooms that import only those before them", () => {
    /** From the ground up. What lies in the room itself, its door above all, may import every one of them. */
    const orders: Readonly<Record<string, readonly string[]>> = {
      archive: ["catalogue", "segments", "journal", "entering", "core", "adding", "asking", "export", "care"],
    };
    for (const [room, order] of Object.entries(orders)) {
      const own = SOURCE.filter((path) => roomOf(path) === room && subRoomOf(path) !== "");
      expect([...new Set(own.map(subRoomOf))].sort()).toEqual([...order].sort());
      const rank = (path: string) => order.indexOf(subRoomOf(path));
      const offences = own.flatMap((path) =>
        importsOf(path)
          .filter((target) => roomOf(target) === room && (subRoomOf(target) === "" || rank(target) > rank(path)))
          .map((target) => `${path} imports ${target}`),
      );
      expect(offences).toEqual([]);
    }
  });

  it("keep testing/ to the tests, and the command line to itself", () => {
    const offences = CODE.flatMap((path) =>
      importsOf(path)
        .filter((target) => roomOf(target) === "testing" || roomOf(target) === "cli")
        .filter((target) => roomOf(target) !== roomOf(path))
        .filter((target) => roomOf(target) === "cli" || !isTest(path))
        .map((target) => `${path} imports ${target}`),
    );
    expect(offences).toEqual([]);
  });

  it("are entered by their doors from tests and benchmarks too", () => {
    const outside = CODE.filter((path) => roomOf(path) === "testing" || !path.startsWith("src/"));
    const offences = outside.flatMap((path) =>
      importsOf(path)
        .filter((target) => target.startsWith("src/") && roomOf(target) !== "testing")
        .filter((target) => target !== `src/${roomOf(target)}/index.ts`)
        .map((target) => `${path} imports ${target}`),
    );
    expect(offences).toEqual([]);
  });
});

describe("only one room", () => {
  const outside = (...rooms: readonly string[]) => SOURCE.filter((path) => !rooms.includes(roomOf(path)));

  it("touches files: disk/", () => {
    const isFs = (target: string) => /^(?:node:)?fs(?:\/|$)/.test(target);
    expect(outside("disk").filter((path) => importsOf(path).some(isFs))).toEqual([]);
  });

  it("prints, exits and looks at the process: cli/", () => {
    const allowed: Readonly<Record<string, string>> = {
      "src/disk/process-identity.ts": "locks name their process, and ask whether another still runs",
      "src/disk/beacon.ts": "asks a socket in a child, the only way to wait for it",
      "src/disk/partial-name.ts": "an unfinished file names its process",
      "src/disk/leftovers.ts": "unfinished files of dead processes are removed",
    };
    const offences = outside("cli").filter((path) => {
      const imports = importsOf(path).some((target) => /^(?:node:)?(?:process|console)$/.test(target));
      return imports || /\b(?:process|console)\s*\??\.\s*\w/.test(codeOf(path));
    });
    expect(offences.sort()).toEqual(Object.keys(allowed).sort());
  });

  it("asks for the time and throws dice: base/", () => {
    const pattern = /\bDate\.now\b|\bMath\.random\b|\bnew Date\(\s*\)|\brandomUUID\b|\brandomBytes\b/;
    expect(findIn(outside("base"), pattern, codeOf)).toEqual([]);
  });
});

describe("files", () => {
  it("lie in folders that say what is in them", () => {
    const names = /(?:^|\/)(?:utils?|common|helpers?|misc|shared|lib)\//;
    expect(FILES.filter((path) => names.test(path))).toEqual([]);
  });

  it("are imported by somebody", () => {
    const entries: Readonly<Record<string, string>> = {
      "src/cli/main.ts": "what the bin of package.json is made of",
      "src/store/content-worker.ts": "started as a thread, by its URL",
      "src/serve/pages/compare/diff-worker.ts": "started as a thread, by its URL",
      "src/pipeline/record-worker.ts": "started as a thread, by its URL",
      "src/pipeline/stage-worker.ts": "started as a thread, by its URL",
      "src/pipeline/http-source-worker.ts": "started as a thread, by its URL",
    };
    const doors = Object.values(MANIFEST.exports).map((path) => path.replace(/^\.\/dist\/(.*)\.js$/, "src/$1.ts"));
    const scripts = Object.values(MANIFEST.scripts).flatMap((line) => line.match(/\bscripts\/\S+\.mjs\b/g) ?? []);
    const known = new Set([...Object.keys(entries), ...doors, ...scripts]);
    for (const path of CODE) {
      // What only tests import is dead, unless it is theirs.
      for (const target of importsOf(path)) if (!isTest(path) || roomOf(target) === "testing") known.add(target);
    }
    // A benchmark is run by its name.
    const mustBeKnown = CODE.filter((path) => /^(?:src|scripts|bench\/.*)\//.test(path) && !isTest(path));
    expect(mustBeKnown.filter((path) => !known.has(path))).toEqual([]);
    expect(Object.keys(entries).filter((path) => !FILES.includes(path))).toEqual([]);
  });

  it("have no more than 500 lines", () => {
    /** May only shrink. */
    const exceptions: readonly string[] = [];
    const long = CODE.filter((path) => read(path).split("\n").length - 1 > 500);
    expect(long).toEqual(exceptions);
  });

  it("export by name", () => {
    const allowed = ["vitest.config.ts"];
    expect(CODE.filter((path) => /^export default\b|\bas default\b/m.test(codeOf(path)))).toEqual(allowed);
  });

  it("carry no reminder without the number of its issue", () => {
    const reminder = /\b(?:TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b(?!.*#\d)/;
    expect(findIn(CODE, reminder)).toEqual([]);
  });

  it("name no machine and no registry", () => {
    const machine = /(?:^|[\s"'`(=:,])\/(?:work|root|home)\/|registry[.]\w+\.|"resolve[d]":|\.pkg[.]dev\b/;
    const text = FILES.filter((path) => !/\.(?:gz|zst|png|pdf|warc|arc|wacz)$/.test(path));
    expect(findIn(text, machine)).toEqual([]);
  });
});

describe("pages", () => {
  it("have one title, and begin with it", () => {
    const pages = FILES.filter((path) => /^(?:docs\/.*|[^/]+|samples\/[^/]+)\.md$/.test(path));
    expect(pages.length).toBeGreaterThan(0);
    const offences = pages.filter((path) => {
      const prose = read(path).replace(/^```[^]*?^```/gm, "");
      return !prose.startsWith("# ") || prose.match(/^# /gm)!.length !== 1;
    });
    expect(offences).toEqual([]);
  });
});

describe("packages", () => {
  const { dependencies, devDependencies } = MANIFEST;

  it("are pinned to one version each", () => {
    const all = Object.entries({ ...dependencies, ...devDependencies });
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it("are named with a reason in docs/decisions or NOTICE", () => {
    const pages = FILES.filter((path) => path.startsWith("docs/decisions/") || path === "NOTICE");
    const told = pages.map(read).join("\n");
    expect(Object.keys(dependencies).filter((name) => !told.includes(name))).toEqual([]);
  });

  it("are declared where they are used, and used where they are declared", () => {
    const used = new Set<string>();
    for (const path of SOURCE) {
      for (const target of importsOf(path)) {
        const name = /^(?:@[^/]+\/)?[^/]+/.exec(target)![0];
        if (!target.startsWith("src/") && !isBuiltin(target)) used.add(name);
      }
    }
    expect([...used].sort()).toEqual(Object.keys(dependencies).sort());
  });

  it("lead to files that are there", () => {
    const doors = Object.values(MANIFEST.exports).map((path) => path.replace(/^\.\/dist\/(.*)\.js$/, "src/$1.ts"));
    const targets = [...Object.values(MANIFEST.bin), ...doors];
    expect(targets.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
