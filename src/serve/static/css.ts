/** Style sheets with every reference led elsewhere. All other bytes stay. Linear in its input, whatever that is. */
import { type References, resourceAddress } from "./references.ts";

/**
 * Comments, strings, `url(…)` and the words that a string behind them is a URL for. Every alternative takes what it has
 * looked at, also where its end is missing, so that nothing is looked at twice.
 */
const TOKEN =
  /\/\*[^]*?(?:\*\/|$)|url\(\s*(?:"((?:[^"\\\n]|\\[^])*)"?|'((?:[^'\\\n]|\\[^])*)'?|((?:[^)"'\s\\]|\\[^])*))(?:\s*\))?|"((?:[^"\\\n]|\\[^])*)"?|'((?:[^'\\\n]|\\[^])*)'?|@(?:import|font-face|namespace)\b|(?:-webkit-)?image-set\(|[;{})]|<(?=[a-z/!?])/gi;

export function rewriteCss(text: string, base: string, references: References): string {
  let [imports, fonts, images]: boolean[] = [false, false, false];
  return text.replace(TOKEN, (token, double, single, bare, string1, string2) => {
    const lower = token.toLowerCase();
    if (token.startsWith("/*")) return token;
    // What a parser of HTML might take for a tag; none of CSS begins so.
    if (token === "<") return "\\3c ";
    if (token === ";" || token === "{" || token === "}") {
      if (token !== "{") fonts = fonts === true && token === ";";
      [imports, images] = [false, false];
      return token;
    }
    if (token === ")") {
      images = false;
      return token;
    }
    if (lower.startsWith("@")) {
      imports = lower === "@import";
      fonts = lower === "@font-face";
      return token;
    }
    if (lower.endsWith("image-set(")) {
      images = true;
      return token;
    }
    const kind = imports === true ? "style" : fonts === true ? "font" : "image";
    const inUrl = [double, single, bare].find((each: unknown) => each !== undefined) as string | undefined;
    const inString = (string1 ?? string2) as string | undefined;
    if (inUrl === undefined && imports !== true && images !== true) return token;
    const address = resourceAddress(unescapeCss(inUrl ?? inString ?? ""), base, kind, references);
    const isLocal = (inUrl ?? "").trim().startsWith("#");
    imports = false;
    if (isLocal) return token;
    return inUrl === undefined ? quoted(address ?? "") : `url(${quoted(address ?? "data:,")})`;
  });
}

function unescapeCss(text: string): string {
  return text.replace(/\\(?:([0-9a-f]{1,6})\s?|\r?\n|([^]))/gi, (_, hex?: string, character?: string) => {
    if (hex === undefined) return character ?? "";
    const code = Number.parseInt(hex, 16);
    return code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? "\ufffd" : String.fromCodePoint(code);
  });
}

function quoted(address: string): string {
  return `"${address.replace(/[\\"\n\r\f<>]/g, (character) => `\\${character.charCodeAt(0).toString(16)} `)}"`;
}
