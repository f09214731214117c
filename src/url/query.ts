/** Queries of keys: session ids taken out, parameters in order. All of it expects lower-case ASCII. */

/** A parameter that is a session id when its name is followed by a value of exactly this shape. */
const SESSION_PARAMETERS = [
  { name: "jsessionid=", shape: /^[0-9a-z]{32}(?:&|$)/, length: 32 },
  { name: "phpsessid=", shape: /^[0-9a-z]{32}(?:&|$)/, length: 32 },
  { name: "sid=", shape: /^[0-9a-z]{32}(?:&|$)/, length: 32 },
  { name: "aspsessionid", shape: /^[a-z]{8}=[a-z]{24}(?:&|$)/, length: 33 },
] as const;

/** In every query that has something to take out. */
const SUSPECT = /sid=|sessionid|cfid=/;

/**
 * Takes the last session id of each kind out, with the `&` behind it but not the one before it. A name is found inside
 * a longer name too, so `mysid=` loses its end: coarse, and what existing keys are made with.
 */
export function withoutQuerySession(query: string): string {
  if (!SUSPECT.test(query)) return query;
  let rest = query;
  for (const { name, shape, length } of SESSION_PARAMETERS) {
    for (let at = rest.lastIndexOf(name); at >= 0; at = at === 0 ? -1 : rest.lastIndexOf(name, at - 1)) {
      const start = at + name.length;
      if (!shape.test(rest.slice(start, start + length + 1))) continue;
      rest = rest.slice(0, at) + rest.slice(start + length + 1);
      break;
    }
  }
  return withoutColdfusionSession(rest);
}

/** `cfid=…&cftoken=…`, from the right, with the nearest `&` remembered, so every character is looked at once. */
function withoutColdfusionSession(query: string): string {
  const token = "&cftoken=";
  if (!query.includes("cfid=") || !query.includes(token)) return query;
  let ampersand = query.length;
  for (let index = query.length - 1; index >= 0; index--) {
    if (query[index] === "&") ampersand = index;
    else if (query[index] === "c" && query.startsWith("cfid=", index) && ampersand > index + "cfid=".length) {
      const value = ampersand + token.length;
      if (!query.startsWith(token, ampersand) || value === query.length || query[value] === "&") continue;
      const end = query.indexOf("&", value);
      return query.slice(0, index) + (end < 0 ? "" : query.slice(end + 1));
    }
  }
  return query;
}

/** Parameters in order of name, then those without `=` first, then of value. */
export function sortedQuery(query: string): string {
  if (!query.includes("&")) return query;
  // With NUL for the first `=`, which no key contains and nothing sorts before, the order of texts is the order wanted.
  const parameters = query.split("&").map((text) => text.replace("=", "\0"));
  if (isSorted(parameters)) return query;
  return parameters
    .sort()
    .map((text) => text.replace("\0", "="))
    .join("&");
}

function isSorted(texts: readonly string[]): boolean {
  for (let index = 1; index < texts.length; index++) {
    if (texts[index - 1]! > texts[index]!) return false;
  }
  return true;
}
