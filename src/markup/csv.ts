/** Tables for spreadsheets, as RFC 4180 has them. */

/** A text in a table. A spreadsheet takes some texts for formulas; these are from strangers. */
export function csvField(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${harmless.replace(/[\p{Cc}]/gu, " ").replaceAll('"', '""')}"`;
}

/** Nothing stands for what is absent. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  const line = cells.map((cell) => (cell === undefined ? "" : typeof cell === "number" ? `${cell}` : csvField(cell)));
  return `${line.join(",")}\r\n`;
}
