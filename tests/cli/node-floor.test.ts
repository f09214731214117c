/** On a Node that is too old one line says what is needed. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { put, temporaryFolder } from "./holotype.ts";

const root = join(import.meta.dirname, "../..");
const program = join(root, "dist/bin/holotype.js");
const folder = temporaryFolder();

/** Runs a program as if Node had another version. */
function runOn(version: string, ...args: readonly string[]) {
  const pretended = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
    Object.defineProperty(process, "version", { value: "v${version}" });`;
  const preload = put(folder, `${version}.cjs`, pretended);
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--require", preload, ...args], { encoding: "utf8" });
  return { exit: status, out: stdout, err: stderr };
}

it.each(["0.12.18", "12.22.0", "18.20.8", "20.18.3"])("%s is too old for the program", (version) => {
  const line = `holotype: needs Node 20.19 or newer; this is v${version}\n`;
  expect(runOn(version, program, "--version")).toEqual({ exit: 1, out: "", err: line });
});

it.each(["20.19.0", "22.0.0", "100.0.0"])("%s is not", (version) => {
  expect(runOn(version, program, "--version")).toMatchObject({ exit: 0, err: "" });
});

it.each(["start", "test", "bench", "test-long"])("scripts/%s says so too", (name) => {
  const { exit, out, err } = runOn("18.20.8", join(root, "scripts", `${name}.mjs`));
  expect({ exit, out }).toEqual({ exit: 1, out: "" });
  expect(err).toMatch(/^Holotype needs Node 20\.19 or newer; this is v18\.20\.8\n$/);
});

it("the program is read by the oldest Node before it says so, and asks for what package.json asks for", () => {
  const text = readFileSync(program, "utf8").replace(/^(?:#!|\/\/).*$/gm, "");
  expect(text).not.toMatch(/\b(?:const|let|class|async|await|import|export)\b|=>|`|\?\?|\?\.|\.\.\./);
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { engines: { node: string } };
  expect(engines.node).toBe(">=20.19");
});
