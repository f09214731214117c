/** The text of a page as its readers saw it, in lines: one for each block of it. */
import { Parser } from "htmlparser2";

/** Not for readers, with all that is in them. */
const HIDDEN = /^(?:script|style|template|noscript|noembed|noframes|svg|math|object|iframe|select|textarea|head)$/;
/** Part of a line; everything else begins one. */
const INLINE =
  /^(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|data|dfn|em|font|i|ins|kbd|label|mark|nobr|q|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr|del|input|button|img)$/;
const LINES_MAX = 200_000;

export interface VisibleText {
  readonly title: string | undefined;
  readonly lines: readonly string[];
}

export function visibleText(html: string): VisibleText {
  const lines: string[] = [];
  let line = "";
  let title: string | undefined;
  let isTitle = false;
  /** The elements that hide what is in them, from the outermost on. */
  const hidden: string[] = [];
  const end = () => {
    const text = line.replace(/\s+/g, " ").trim();
    if (text !== "" && lines.length < LINES_MAX) lines.push(text);
    line = "";
  };
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === "title" && title === undefined) [isTitle, title] = [true, ""];
        if (HIDDEN.test(name)) hidden.push(name);
        else if (name === "body") hidden.length = 0;
        if (hidden.length > 0) return;
        if (name === "img") line += (attributes["alt"] ?? "").trim() === "" ? " " : ` [${attributes["alt"]}] `;
        else if (!INLINE.test(name)) end();
      },
      ontext(text) {
        if (isTitle) title += text;
        else if (hidden.length === 0) line += text;
      },
      onclosetag(name) {
        if (name === "title") isTitle = false;
        const at = hidden.lastIndexOf(name);
        if (at >= 0) hidden.length = at;
        else if (hidden.length === 0 && !INLINE.test(name)) end();
      },
    },
    { decodeEntities: true },
  );
  parser.write(html);
  parser.end();
  end();
  return { title: title?.replace(/\s+/g, " ").trim(), lines };
}

/** Lines that people can compare: very long ones are cut where a tag or a statement ends. */
const LONG = 500;

export function sourceLines(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .flatMap((line) => (line.length <= LONG ? [line] : line.split(/(?<=>)(?=<)|(?<=[;{}])/)));
}
