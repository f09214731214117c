/**
 * Which record a revisit means: names that the one says, and the other answers to. A record that answers to a name which
 * some revisit says has to stay where it is.
 */
import { captureKey } from "./rules.ts";

export interface Reference {
  readonly uri: string | undefined;
  readonly date: string | undefined;
  readonly id: string | undefined;
}

/** What a revisit of this URI says of the record that it refers to, as far as it says anything. */
export function namesReferredTo(uri: string | undefined, to: Reference | undefined): string[] {
  const names = to?.id === undefined ? [] : [to.id];
  if (to?.uri !== undefined && to.date !== undefined) return [...names, captureKey(to.uri, to.date)];
  // Old revisits tell a digest at most, in whatever algorithm: they mean some capture of their own URI.
  const meant = to?.uri ?? uri;
  return meant === undefined ? names : [...names, meant];
}

/** What a record answers to. */
export function namesOf({ uri, date, id }: Reference): string[] {
  const key = uri === undefined || date === undefined ? undefined : captureKey(uri, date);
  return [key, id, uri].filter((name) => name !== undefined);
}
