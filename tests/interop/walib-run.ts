/** The independent reader in Python, one process for many files. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { CORPUS, type ReadRecord, WALIB } from "./corpus-files.ts";

export const hasPython = existsSync(WALIB) && spawnSync("python3", ["--version"]).status === 0;

const PROGRAM = `
import sys, json, hashlib
sys.path.insert(0, sys.argv[1])
import walib
for path in sys.stdin.read().split("\\n"):
    full = sys.argv[2] + "/" + path
    out = []
    try:
        mm = walib.open_bytes(full)
        if mm[:2] == b"\\x1f\\x8b":
            for (o, l, data, note) in walib.gzip_members(mm):
                rs = [] if note == "garbage" else list(walib.records(data, 0))
                for i, r in enumerate(rs):
                    out.append([o, r.offset, l if len(rs) == 1 and not note else None, len(r.block), hashlib.sha1(r.block).hexdigest(), r.fmt, sorted(r.flags), note])
        else:
            rs = list(walib.records(bytes(mm)))
            for i, r in enumerate(rs):
                end = rs[i + 1].offset if i + 1 < len(rs) else len(mm)
                out.append([r.offset, 0, end - r.offset, len(r.block), hashlib.sha1(r.block).hexdigest(), r.fmt, sorted(r.flags), ""])
    except Exception as e:
        out = str(e)
    print(json.dumps([path, out]))
`;

export interface PythonRecord extends ReadRecord {
  readonly format: "warc" | "arc" | "garbage";
  readonly flags: readonly string[];
  /** What is wrong with its member. */
  readonly note: string;
}

type Row = [number, number, number | null, number, string, "warc" | "arc" | "garbage", string[], string];

/** What Python finds in each file; absent for a file that it fails on. */
export function readWithPython(paths: readonly string[]): ReadonlyMap<string, readonly PythonRecord[] | undefined> {
  const output = execFileSync("python3", ["-c", PROGRAM, dirname(WALIB), CORPUS], {
    input: paths.join("\n"),
    maxBuffer: 1 << 28,
    encoding: "utf8",
  });
  const files = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as [string, Row[] | string]);
  return new Map(files.map(([path, rows]) => [path, typeof rows === "string" ? undefined : rows.map(toRecord)]));
}

function toRecord([offset, inner, length, size, sha1, format, flags, note]: Row): PythonRecord {
  return { offset, inner, length: length ?? undefined, size, sha1, format, flags, note };
}
