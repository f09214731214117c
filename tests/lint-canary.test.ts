/**
 * Proof that the linter sees the mistakes that lose data. The files in `lint-canary/` hold eighteen of them, each marked
 * on its line with the rule that must catch it; they are linted with the project's own rules and nothing else is done
 * with them.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDER = join(ROOT, "tests", "lint-canary");
const MARK = /\/\/ mistake (\d+): (\S+)$/;

interface Report {
  readonly diagnostics: readonly {
    readonly code: string;
    readonly filename: string;
    readonly labels: readonly { readonly span: { readonly line: number } }[];
  }[];
}

/** The project's rules without their ignored folders, or the canary would be ignored with them. */
function withRules<T>(use: (config: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "holotype-lint-"));
  try {
    const rules = JSON.parse(readFileSync(join(ROOT, ".oxlintrc.json"), "utf8")) as Record<string, unknown>;
    const config = join(folder, "rules.json");
    writeFileSync(config, JSON.stringify({ ...rules, $schema: undefined, ignorePatterns: [] }));
    return use(config);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `file:line rule` for each finding, as `typescript/no-floating-promises`. */
function lint(): string[] {
  return withRules((config) => {
    const oxlint = join(ROOT, "node_modules", ".bin", "oxlint");
    const args = [oxlint, "--type-aware", "--config", config, "--format", "json", FOLDER];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
    expect(status, stderr).toBe(1);
    const { diagnostics } = JSON.parse(stdout) as Report;
    return diagnostics.map(({ code, filename, labels }) => {
      const rule = code.replace(/^(.*)\((.*)\)$/, "$1/$2");
      return `${filename.replace(/^.*\//, "")}:${labels[0]!.span.line} ${rule}`;
    });
  });
}

function readMarks(): { number: number; finding: string }[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".ts"));
  return names.flatMap((name) =>
    readFileSync(join(FOLDER, name), "utf8")
      .split("\n")
      .flatMap((line, i) => {
        const mark = MARK.exec(line);
        return mark === null ? [] : [{ number: Number(mark[1]), finding: `${name}:${i + 1} ${mark[2]}` }];
      }),
  );
}

it("the linter catches all eighteen promise mistakes, and only those lines", () => {
  const marks = readMarks();
  expect(marks.map(({ number }) => number).sort((a, b) => a - b)).toEqual(Array.from({ length: 18 }, (_, i) => i + 1));
  const found = lint();
  expect(marks.map(({ finding }) => finding).filter((finding) => !found.includes(finding))).toEqual([]);
  const markedLines = new Set(marks.map(({ finding }) => finding.split(" ")[0]));
  expect(found.filter((finding) => !markedLines.has(finding.split(" ")[0]))).toEqual([]);
});
