/** Two texts with their changes marked, as one. Stretches that are the same are shortened. */
import { escapeHtml, formatAmount, formatForeign, html, Markup, type MarkupValue } from "../../../markup/index.ts";
import type { DiffPart, DiffRow, TextDiff } from "./diff-lines.ts";

const CONTEXT_LINES = 3;
/** Of one block. */
const BLOCK_LENGTH_MAX = 20_000;
const LINE_LENGTH_MAX = 2000;
const ROWS_MAX = 3000;

export function diffSection({ rows, added, removed, isCoarse }: TextDiff, kind: "text" | "source"): Markup {
  if (added + removed === 0)
    return html`<p class="same-note">No difference in the ${kind === "text" ? "text that readers see" : "source"}.</p>`;
  const shown = rows.slice(0, ROWS_MAX);
  const drawn = shown.map((row, i) =>
    row.kind === "same" ? sameLines(row.lines, i === 0, i === rows.length - 1) : changedBlock(row, kind),
  );
  const notes = [
    isCoarse
      ? html`<p class="note">These texts differ so much that some blocks are marked as a whole, not word by word.</p>`
      : undefined,
    rows.length > ROWS_MAX ? html`<p class="note">There are more differences than are shown here.</p>` : undefined,
  ];
  return html`<p>${formatAmount(removed, "line")} removed or changed, ${formatAmount(added, "line")} added or changed.</p>${notes}
<div class="diff ${kind}" role="region" aria-label="Changes in the ${kind}" tabindex="0">${drawn}</div>`;
}

function sameLines(lines: readonly string[], isFirst: boolean, isLast: boolean): MarkupValue {
  const [before, after] = [isFirst ? 0 : CONTEXT_LINES, isLast ? 0 : CONTEXT_LINES];
  const paragraph = (line: string) => html`<p>${line === "" ? "\u00a0" : shown(line, LINE_LENGTH_MAX)}</p>`;
  if (lines.length <= before + after + 1) return lines.map(paragraph);
  const skipped = lines.length - before - after;
  return [
    lines.slice(0, before).map(paragraph),
    html`<p class="skipped">${formatAmount(skipped, "line")} the same</p>`,
    after === 0 ? [] : lines.slice(-after).map(paragraph),
  ];
}

/** Marks are elements with a meaning, and look different without colours, too. */
function changedBlock({ parts }: Extract<DiffRow, { kind: "changed" }>, kind: "text" | "source"): Markup {
  const [hasOld, hasNew] = [parts.some(([side]) => side === -1), parts.some(([side]) => side === 1)];
  const word = hasOld && hasNew ? "changed" : hasOld ? "removed" : "added";
  const isWhole = parts.every(([side]) => side !== 0);
  const body =
    kind === "text" && !isWhole
      ? parts.map(part)
      : [
          hasOld ? html`<div class="old">${parts.filter(([side]) => side <= 0).map(part)}</div>` : undefined,
          hasNew ? html`<div class="new">${parts.filter(([side]) => side >= 0).map(part)}</div>` : undefined,
        ];
  return html`<div class="block ${word}"><span class="unseen">${word}: </span>${body}</div>`;
}

function part([side, text]: DiffPart): MarkupValue {
  const words = shown(text, BLOCK_LENGTH_MAX);
  return side === 0 ? words : side < 0 ? html`<del>${words}</del>` : html`<ins>${words}</ins>`;
}

/** As text, with all that cannot be seen spelled out, but for line ends. */
function shown(text: string, lengthMax: number): Markup {
  return new Markup(
    text
      .slice(0, lengthMax)
      .split("\n")
      .map((line) => escapeHtml(formatForeign(line.replaceAll("\t", "  "), lengthMax)))
      .join("\n") + (text.length > lengthMax ? "\u2026" : ""),
  );
}
