/** The archived URL in a target: what stands after `/<coll>/<time>/`, repaired where proxies and people break it. */
import { decodeUri } from "../warc/index.ts";

/** Longer ones are refused: no server answered them. */
const URL_LENGTH_MAX = 1 << 16;
const WEB_SCHEME = /^(https?|ftp):\/*/i;
/** `a.example:8080/x`, which reads like a scheme. */
const HOST_AND_PORT = /^[^:/?#@[\]]+:\d+(?![^/?#])/;
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const ENCODED_SCHEME = /^(?:https?|ftp)%3a(?:%2f|\/)/i;

/**
 * The URL of a text from a request line. It is neither decoded nor normalised, with three exceptions: `http:/a.example`
 * gets its second slash back, a URL without a scheme is one of http, and one that a client escaped as a whole is
 * unescaped. Absent where nothing is left to ask for.
 */
export function archivedUrl(raw: string): string | undefined {
  if (raw.length > URL_LENGTH_MAX) return undefined;
  const text = decodeUri(ENCODED_SCHEME.test(raw) ? unescaped(raw) : raw);
  const web = WEB_SCHEME.exec(text);
  if (web !== null) {
    const rest = text.slice(web[0].length);
    return rest === "" ? undefined : `${web[1]}://${rest}`;
  }
  if (text.replace(/^\/+/, "") === "") return undefined;
  if (text.startsWith("/")) return `http://${text.replace(/^\/+/, "")}`;
  return OTHER_SCHEME.test(text) && !HOST_AND_PORT.test(text) ? text : `http://${text}`;
}

/** As bytes, each of them a character: `decodeUri` finds out whether they are UTF-8. */
function unescaped(raw: string): string {
  return raw.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** As it may stand in a header or a link: ASCII, without blanks, quotation marks and angle brackets. */
export function headerUrl(url: string): string {
  return url.replace(/[^!#-;=?-~]/gu, (character) => {
    const bytes = Buffer.from(character);
    return bytes.reduce((text, byte) => `${text}%${byte.toString(16).toUpperCase().padStart(2, "0")}`, "");
  });
}
