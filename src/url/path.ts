/** Paths of keys: dots and empty segments resolved, ASP.NET's session ids taken out. */

/** Something that normalizePath would change. */
const IRREGULAR = /\/[/.]/;

/**
 * Resolves `.`, `..` and `//` in a path that begins with `/`; a slash at the end stays. A `..` with nothing left to
 * undo is kept, and may itself be undone by the next; an empty segment counts as one to undo. So are existing keys.
 */
export function normalizePath(path: string): string {
  if (path === "") return "/";
  if (!IRREGULAR.test(path)) return path;
  const kept: string[] = [];
  for (const segment of path.slice(1).split("/")) {
    if (segment === ".") continue;
    if (segment === ".." && kept.length > 0) kept.pop();
    else kept.push(segment);
  }
  const last = kept.pop() ?? "";
  return `/${kept.map((segment) => (segment === "" ? "" : `${segment}/`)).join("")}${last}`;
}

const SESSION_GROUPS = /^\((?:[a-z]\([0-9a-z]{24}\))+\)$/;
const SESSION_PLAIN = /^\([0-9a-z]{24}\)$/;

/** Takes `(s(24 characters))/` and `(24 characters)/` out of a lower-case path that goes on to an `.aspx` page. */
export function withoutPathSession(path: string): string {
  if (!path.includes("/(") || !path.includes(".aspx")) return path;
  return withoutSegment(withoutSegment(path, SESSION_GROUPS), SESSION_PLAIN);
}

/**
 * Drops the last segment that `pattern` fits and that an `.aspx` follows, with at least one character and no `?`
 * between. Goes from the right and remembers the nearest two `.aspx` and the nearest `?`, so it stays linear.
 */
function withoutSegment(path: string, pattern: RegExp): string {
  let segmentEnd = path.length;
  let page = Number.POSITIVE_INFINITY;
  let pageAfter = Number.POSITIVE_INFINITY;
  let question = Number.POSITIVE_INFINITY;
  for (let index = path.length - 1; index >= 0; index--) {
    const char = path[index];
    if (char === "?") question = index;
    else if (char === "." && path.startsWith(".aspx", index)) {
      pageAfter = page;
      page = index;
    } else if (char === "/") {
      const next = segmentEnd + 1;
      const usable = page === next ? pageAfter : page;
      if (usable < question && path[index + 1] === "(" && pattern.test(path.slice(index + 1, segmentEnd))) {
        return path.slice(0, index + 1) + path.slice(next);
      }
      segmentEnd = index;
    }
  }
  return path;
}
