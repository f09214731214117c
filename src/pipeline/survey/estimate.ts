/**
 * From a sample to the whole. What the openings of all records suggest is known exactly; the sample tells by how much
 * that is wrong in each cluster, and Horvitz and Thompson how wrong it is in all. docs/operating/survey.md has the
 * formulas, and an example.
 */

/** A figure that was estimated, with the 95 % interval around it. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** What is summed of one figure, such as the number of duplicates, over clusters. */
export class FigureSums {
  /** What openings suggest, over all clusters. */
  private suggested = 0;
  /** The same over the clusters of the sample, and what was found in them. */
  private suggestedInSample = 0;
  private found = 0;
  private suggestedSquares = 0;
  private errorSquares = 0;

  /** A cluster that is not in the sample. */
  addUnread(suggested: number): void {
    this.suggested += suggested;
  }

  /** A cluster of the sample. */
  addRead(suggested: number, found: number): void {
    this.suggested += suggested;
    this.suggestedInSample += suggested;
    this.found += found;
    this.suggestedSquares += suggested * suggested;
    this.errorSquares += (found - suggested) ** 2;
  }

  /** The least that the whole can be: what was found. */
  get least(): number {
    return this.found;
  }

  /** The most, where a suggestion is never too small: what was found, and all that is suggested and was not read. */
  get most(): number {
    return this.found + this.suggested - this.suggestedInSample;
  }

  /** Unbiased: over all samples of this rate its mean is the truth. */
  total(rate: number): number {
    return this.suggested + (this.found - this.suggestedInSample) / rate;
  }

  /** Half the width of the interval around the total. */
  halfWidth(rate: number): number {
    const deviation = Math.sqrt((1 - rate) * this.errorSquares) / rate;
    return Math.max(NORMAL_95 * deviation, this.unseen());
  }

  /**
   * A sample without an error does not prove that there is none. Of `n` clusters that were read none was wrong: then, by
   * the rule of three, up to 3 in `n` of the others may be. Clusters count by what is suggested for them.
   */
  private unseen(): number {
    const unread = this.suggested - this.suggestedInSample;
    if (unread <= 0) return 0;
    const n = this.suggestedSquares === 0 ? 0 : this.suggestedInSample ** 2 / this.suggestedSquares;
    return unread * Math.min(1, RULE_OF_THREE / n);
  }

  /** Total and interval, within what is possible. */
  estimate(rate: number, least = this.least, most = this.most): Estimate {
    const value = this.total(rate);
    const half = this.halfWidth(rate);
    const clip = (figure: number) => Math.max(least, Math.min(most, figure));
    return { value: clip(value), low: clip(value - half), high: clip(value + half) };
  }
}

const NORMAL_95 = 1.96;
const RULE_OF_THREE = 3;

export function scaleEstimate({ value, low, high }: Estimate, factor: number): Estimate {
  return { value: value * factor, low: low * factor, high: high * factor };
}

/** What is left of a whole when an estimated part of it is gone. */
export function complement(whole: number, { value, low, high }: Estimate): Estimate {
  return { value: whole - value, low: whole - high, high: whole - low };
}
