import { createRequire } from "node:module";

/** As `package.json` has it: the one place where the version is written. */
export const VERSION = (createRequire(import.meta.url)("../../package.json") as { version: string }).version;
