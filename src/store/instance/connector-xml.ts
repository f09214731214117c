/**
 * The part of XML 1.0 that a connector needs: one element with elements in it, attributes, comments, character
 * references and the five entities that every XML has. There is no text between the elements, no DOCTYPE, and so
 * nothing that refers to other files or grows when it is read.
 */
import { type ConnectorText, mistake, type TextAttribute, type TextElement } from "./connector-text.ts";

const NAME = /[\p{L}_:][\p{L}\p{N}_:.-]*/uy;
const SPACE = /[ \t\r\n]+/y;
const REFERENCE = /&(?:#([0-9]{1,7})|#x([0-9a-fA-F]{1,6})|([A-Za-z]+));/y;
const DECLARATION =
  /<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"([A-Za-z0-9._-]+)"|'([A-Za-z0-9._-]+)'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>/y;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const DEPTH_MAX = 16;

export function parseXml(source: ConnectorText): TextElement {
  return new XmlParser(source).document();
}

/** Whether XML allows a character, by its number. */
export function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0x10ffff && code !== 0xfffe && code !== 0xffff);
}

class XmlParser {
  private readonly source: ConnectorText;
  private readonly text: string;
  private at = 0;

  constructor(source: ConnectorText) {
    this.source = source;
    this.text = source.text;
  }

  document(): TextElement {
    this.declaration();
    this.between();
    if (this.at === this.text.length) throw this.wrong("there is no element in it");
    const root = this.element(1);
    this.between();
    if (this.at < this.text.length) throw this.wrong("something stands behind the end of the instance");
    return root;
  }

  private wrong(message: string, at = this.at) {
    return mistake(this.source, at, message);
  }

  private take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) return undefined;
    this.at += match[0].length;
    return match;
  }

  private isAhead(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  private declaration(): void {
    if (!this.isAhead("<?xml")) return;
    const start = this.at;
    const match = this.take(DECLARATION);
    if (match === undefined) throw this.wrong("this is no XML declaration");
    const encoding = (match[1] ?? match[2] ?? "UTF-8").toUpperCase();
    if (encoding !== "UTF-8" && encoding !== "US-ASCII") {
      throw this.wrong(`the encoding is ${encoding}; a connector is UTF-8`, start);
    }
  }

  /** Space and comments, up to the next tag or the end. */
  private between(): void {
    for (;;) {
      this.take(SPACE);
      if (this.isAhead("<!--")) this.comment();
      else if (this.isAhead("<!DOCTYPE")) throw this.wrong("a connector has no DOCTYPE, and so no entities of its own");
      else if (this.isAhead("<!")) throw this.wrong("this part of XML has no place in a connector");
      else if (this.isAhead("<?")) throw this.wrong("a connector has no processing instructions");
      else if (this.at < this.text.length && !this.isAhead("<")) throw this.wrong("text has no place in a connector");
      else return;
    }
  }

  private comment(): void {
    const end = this.text.indexOf("--", this.at + 4);
    if (end < 0) throw this.wrong("this comment has no end");
    if (this.text[end + 2] !== ">") throw this.wrong("two hyphens inside of a comment", end);
    this.checkCharacters(this.at, end);
    this.at = end + 3;
  }

  private element(depth: number): TextElement {
    const start = this.at;
    if (depth > DEPTH_MAX) throw this.wrong("elements lie too deep in each other");
    this.at += 1;
    const name = this.take(NAME)?.[0];
    if (name === undefined) throw this.wrong("here should be the name of an element");
    const attributes = this.attributes(name);
    if (this.isAhead("/>")) {
      this.at += 2;
      return { name, at: start, attributes, children: [] };
    }
    if (!this.isAhead(">")) throw this.wrong(`the tag ${name} is not closed`);
    this.at += 1;
    return { name, at: start, attributes, children: this.children(name, start, depth) };
  }

  private children(name: string, start: number, depth: number): TextElement[] {
    const children: TextElement[] = [];
    for (;;) {
      this.between();
      if (this.at === this.text.length) throw this.wrong(`the element ${name} has no end`, start);
      if (!this.isAhead("</")) {
        children.push(this.element(depth + 1));
        continue;
      }
      const end = this.at;
      this.at += 2;
      const closed = this.take(NAME)?.[0];
      this.take(SPACE);
      if (closed !== name || !this.isAhead(">")) throw this.wrong(`here should be </${name}>`, end);
      this.at += 1;
      return children;
    }
  }

  private attributes(element: string): TextAttribute[] {
    const attributes: TextAttribute[] = [];
    for (;;) {
      const spaced = this.take(SPACE) !== undefined;
      const at = this.at;
      const name = this.take(NAME)?.[0];
      if (name === undefined) return attributes;
      if (!spaced) throw this.wrong(`there should be a space before the attribute ${name}`, at);
      if (attributes.some((attribute) => attribute.name === name)) {
        throw this.wrong(`${element} has the attribute ${name} twice`, at);
      }
      this.take(SPACE);
      if (!this.isAhead("=")) throw this.wrong(`the attribute ${name} has no value`, at);
      this.at += 1;
      this.take(SPACE);
      attributes.push({ name, value: this.value(name), at });
    }
  }

  private value(name: string): string {
    const start = this.at;
    const quote = this.text[this.at];
    if (quote !== '"' && quote !== "'") throw this.wrong(`the value of ${name} is not in quotation marks`);
    const end = this.text.indexOf(quote, this.at + 1);
    if (end < 0) throw this.wrong(`the value of ${name} has no end`, start);
    this.checkCharacters(start, end);
    let value = "";
    this.at += 1;
    while (this.at < end) {
      const character = this.text[this.at]!;
      if (character === "<") throw this.wrong(`< in the value of ${name}; write &lt;`);
      if (character === "&") {
        value += this.reference();
        continue;
      }
      const isLineEnd = character === "\r" && this.text[this.at + 1] === "\n";
      value += /[\t\r\n]/.test(character) ? " " : character;
      this.at += isLineEnd ? 2 : 1;
    }
    this.at = end + 1;
    return value;
  }

  private reference(): string {
    const start = this.at;
    const match = this.take(REFERENCE);
    if (match === undefined) throw this.wrong("& that begins no entity; write &amp;", start);
    const [, decimal, hex, entity] = match;
    if (entity !== undefined) {
      const found = Object.hasOwn(ENTITIES, entity) ? ENTITIES[entity] : undefined;
      if (found === undefined) throw this.wrong(`an unknown entity: &${entity};`, start);
      return found;
    }
    const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    if (!isXmlCharacter(code)) throw this.wrong(`${match[0]} is no character that XML allows`, start);
    return String.fromCodePoint(code);
  }

  private checkCharacters(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const code = this.text.codePointAt(at)!;
      if (!isXmlCharacter(code)) throw this.wrong("a character that XML does not allow", at);
      if (code > 0xffff) at++;
    }
  }
}
