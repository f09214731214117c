/** The one call that puts a finished file under a name only if nothing is there, in one step. */
import { linkSync } from "node:fs";
import { systemPath } from "./path-bytes.ts";
import { systemCode } from "./system-call.ts";

/**
 * `linked`, or `there` where the name is taken, or `unsupported` by file systems without second names: FAT, and some
 * on the network. The caller then has to make do with two steps.
 */
export function linkUnlessThere(from: string, to: string): "linked" | "there" | "unsupported" {
  try {
    linkSync(systemPath(from), systemPath(to));
    return "linked";
  } catch (cause) {
    const code = systemCode(cause);
    if (code === "EEXIST") return "there";
    if (code === "EPERM" || code === "ENOTSUP" || code === "EOPNOTSUPP" || code === "ENOSYS") return "unsupported";
    throw cause;
  }
}
