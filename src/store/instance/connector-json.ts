/**
 * The JSON twin of a connector: an object with the attributes of the instance, and lists of volumes and codecs with
 * theirs. Read by a parser of its own, because Node's does not tell where things are, and forgives double names.
 */
import { type ConnectorText, mistake, type TextAttribute, type TextElement } from "./connector-text.ts";

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])|(?:true|false)(?!\w)/y;

/** Which lists there are, and what is in them. */
const LISTS: Readonly<Record<string, string>> = { volumes: "volume", codecs: "codec" };

export function parseJson(source: ConnectorText): TextElement {
  return new JsonParser(source).document();
}

class JsonParser {
  private readonly source: ConnectorText;
  private readonly text: string;
  private at = 0;

  constructor(source: ConnectorText) {
    this.source = source;
    this.text = source.text;
  }

  document(): TextElement {
    const root = this.object("instance", LISTS);
    this.take(SPACE);
    if (this.at < this.text.length) throw this.wrong("something stands behind the end of the instance");
    return root;
  }

  private wrong(message: string, at = this.at) {
    return mistake(this.source, at, message);
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) return undefined;
    this.at += match[0].length;
    return match[0];
  }

  /** Whether the next character is this one, which is passed over then. */
  private skip(character: string): boolean {
    this.take(SPACE);
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private object(name: string, lists: Readonly<Record<string, string>>): TextElement {
    this.take(SPACE);
    const start = this.at;
    if (!this.skip("{")) throw this.wrong(`here should be the { of a ${name}`);
    const attributes: TextAttribute[] = [];
    const children: TextElement[] = [];
    const names = new Set<string>();
    while (!this.skip("}")) {
      if (names.size > 0 && !this.skip(",")) throw this.wrong("here should be , or }");
      this.take(SPACE);
      const at = this.at;
      const key = this.string("a name in quotation marks");
      if (names.has(key)) throw this.wrong(`${name} has ${key} twice`, at);
      names.add(key);
      if (!this.skip(":")) throw this.wrong("here should be :");
      const item = Object.hasOwn(lists, key) ? lists[key] : undefined;
      if (item === undefined) attributes.push({ name: key, value: this.scalar(key), at });
      else children.push(...this.list(key, item));
    }
    return { name, at: start, attributes, children };
  }

  private list(name: string, item: string): TextElement[] {
    if (!this.skip("[")) throw this.wrong(`${name} should be a list`);
    const elements: TextElement[] = [];
    while (!this.skip("]")) {
      if (elements.length > 0 && !this.skip(",")) throw this.wrong("here should be , or ]");
      elements.push(this.object(item, {}));
    }
    return elements;
  }

  private string(what: string): string {
    const literal = this.take(STRING);
    if (literal === undefined) throw this.wrong(`here should be ${what}`);
    return JSON.parse(literal) as string;
  }

  /** A text, a number or a truth value, as text. */
  private scalar(name: string): string {
    this.take(SPACE);
    return this.take(SCALAR) ?? this.string(`the value of ${name}: a text, a number, true or false`);
  }
}
