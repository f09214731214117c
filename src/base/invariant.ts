/** States what must hold. A failure is a bug of ours: it throws a plain `Error`, which nobody catches or prettifies. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`);
}
