/** The record that stands before those of one input, and says where they come from. */

/** Behind it stands the number of the source. */
export const SOURCE_URI = "urn:holotype:source:";

/** The number in the URI of such a record; absent for all others. */
export function sourceNumberOf(uri: string | undefined): number | undefined {
  if (uri?.startsWith(SOURCE_URI) !== true) return undefined;
  const number = Number(uri.slice(SOURCE_URI.length));
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/** The name that its block tells. */
export function sourceNameIn(block: Uint8Array): string {
  return /^source: (.*?)\r?$/m.exec(Buffer.from(block).toString())?.[1] ?? "";
}
