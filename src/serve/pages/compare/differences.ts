/** What two documents differ in, apart from their texts: fields of their headers, links, resources. */
import type { ComparedDocument } from "./document.ts";

export interface FieldDifference {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Every field by its name, in the order in which it came first; several values of one name in a row. */
export function compareFields(before: ComparedDocument, after: ComparedDocument): readonly FieldDifference[] {
  const [old, young] = [valuesOf(before), valuesOf(after)];
  const names = new Set([...old.keys(), ...young.keys()]);
  return [...names].map((name) => ({ name, before: old.get(name), after: young.get(name) }));
}

function valuesOf({ statusLine, fields }: ComparedDocument): Map<string, string> {
  const values = new Map<string, string>();
  if (statusLine !== "") values.set("status line", statusLine);
  for (const [name, value] of fields) {
    const lower = name.toLowerCase();
    const there = values.get(lower);
    values.set(lower, there === undefined ? value : `${there}, ${value}`);
  }
  return values;
}

/** What only one of two lists has. */
export interface ListDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly inBoth: number;
}

export function compareLists(before: Iterable<string>, after: Iterable<string>): ListDifference {
  const [old, young] = [new Set(before), new Set(after)];
  const added = [...young].filter((each) => !old.has(each));
  const removed = [...old].filter((each) => !young.has(each));
  return { added, removed, inBoth: old.size - removed.length };
}
