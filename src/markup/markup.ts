/**
 * HTML that cannot be forged: `html` is the one way to make markup, and every value put into it is escaped unless it is
 * markup itself. Values stand in text or in quoted attributes, never in a tag's name, in a script or in a style.
 */
import { formatForeign } from "./format.ts";

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type MarkupValue = Markup | string | number | undefined | readonly MarkupValue[];

const SPECIAL = /[&<>"'`]/g;

/** For text and for quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(SPECIAL, (character) => `&#${character.charCodeAt(0)};`);
}

/** `undefined` is nothing, an array is its members in a row. */
export function html(parts: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  let text = parts[0] ?? "";
  for (const [i, value] of values.entries()) text += render(value) + (parts[i + 1] ?? "");
  return new Markup(text);
}

function render(value: MarkupValue): string {
  if (value === undefined) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "string" || typeof value === "number") return escapeHtml(String(value));
  return value.map(render).join("");
}

/** A text out of an archive: what is unseen spelled out, and kept from turning round what stands beside it. */
export function foreign(text: string | undefined, lengthMax?: number): Markup {
  return text === undefined
    ? html`<span class="none">none</span>`
    : html`<bdi dir="ltr">${formatForeign(text, lengthMax)}</bdi>`;
}
