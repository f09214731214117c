/**
 * Regular expressions of strangers. They run in time that grows with the text, never with its square: see
 * docs/decisions/0033-expressions-in-linear-time.md for what that leaves out.
 */
import { RE2JS, RE2JSException } from "re2js";
import { quoted, refusal } from "./parameters.ts";

const EXPRESSION_LENGTH_MAX = 1000;
/** Steps for each character of a text. */
const PROGRAM_SIZE_MAX = 500;
/** Nothing in it is more than itself. */
const LITERAL = /^[\w\-/,:;=%&@#~<>"'! ]*$/;

/** How much of a text has to fit: all of it, as Java's `matches`, or its beginning, as Python's `match`. */
export type Fit = "whole" | "beginning";

/** HT_USAGE for an expression that cannot be read, or cannot be run in linear time. */
export function compileExpression(expression: string, fit: Fit): (text: string) => boolean {
  if (LITERAL.test(expression))
    return fit === "whole" ? (text) => text === expression : (text) => text.startsWith(expression);
  if (expression.length > EXPRESSION_LENGTH_MAX)
    throw refusal(`an expression has at most ${EXPRESSION_LENGTH_MAX} characters`);
  // By itself first: `a)|(b` must not become right by what is put round it.
  const own = compile(expression);
  const compiled = fit === "whole" ? own : compile(`(?:${expression})(?s:.*)`);
  if (compiled.programSize() > PROGRAM_SIZE_MAX) throw refusal(`the expression ${quoted(expression)} is too large`);
  return (text) => compiled.matches(text);
}

function compile(expression: string): RE2JS {
  try {
    return RE2JS.compile(expression);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw refusal(`the expression ${quoted(expression)} cannot be used: ${error.message}`);
  }
}
