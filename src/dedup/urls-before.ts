/**
 * Where a content was captured before. A duplicate is _across time_ if its content was captured before at the same URL, as
 * it is written, and _across location_ if only at others.
 */

/** URLs of one content that are remembered; captures at those beyond count as across location. */
const URLS_MAX = 1 << 16;

/** Takes the captures of one content after another, whatever becomes of them: `begin` for each content. */
export class UrlsBefore {
  private first: string | undefined;
  private others: Set<string> | undefined;

  begin(): void {
    this.first = undefined;
    this.others = undefined;
  }

  /** Whether the content was captured before at this URL. From now on it was. */
  take(url: string | undefined): boolean {
    if (url === undefined) return false;
    if (url === this.first || this.others?.has(url) === true) return true;
    // Most contents are captured once.
    if (this.first === undefined) this.first = url;
    else if (this.others === undefined) this.others = new Set([url]);
    else if (this.others.size < URLS_MAX) this.others.add(url);
    return false;
  }
}
