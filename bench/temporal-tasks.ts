/** What both sides of the temporal benchmark do, and how it is timed. */

export const DAY = 86_400;

export const TASKS = {
  insert: "insert all, sort included",
  point: "(URL, time) for all",
  history: "(URL, -) for all",
  span: "(URL, 7 crawls) for all",
  slice: "(-, time) for each crawl",
} as const;

/** Sums that both sides must come to. */
export interface Answers {
  point: number;
  history: number;
  span: number;
  slice: number;
}

export interface Result {
  readonly ms: ReadonlyMap<string, number>;
  readonly sizeMb: number;
  readonly slicePages: number;
  readonly answers: Answers;
}

/** Processor time by task. */
export class Stopwatch {
  readonly ms = new Map<string, number>();

  time(task: string, work: () => void): void {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    this.ms.set(task, (user + system) / 1000);
  }
}
