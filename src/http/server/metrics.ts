/** What a server counts, in the text format of Prometheus. */

/** Upper bounds of the latency histogram, in seconds. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5] as const;

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

interface KindCounts {
  readonly outcomes: Map<string, number>;
  /** One for each bound, and one for what is beyond. */
  readonly latencies: number[];
  seconds: number;
}

/** A value of its own; its name without the prefix `holotype_`. */
export interface Measure {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly value: number;
}

/** What was counted up to now, as it goes from process to process. */
export interface MetricsSnapshot {
  readonly connections: number;
  readonly underWay: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly kinds: readonly {
    readonly kind: string;
    readonly outcomes: readonly (readonly [outcome: string, count: number])[];
    readonly latencies: readonly number[];
    readonly seconds: number;
  }[];
}

/** Operations by kind and outcome. Both are names out of the program, never text from a request. */
export class Metrics {
  bytesIn = 0;
  bytesOut = 0;
  private readonly kinds = new Map<string, KindCounts>();

  private of(kind: string): KindCounts {
    let counts = this.kinds.get(kind);
    if (counts === undefined) {
      counts = { outcomes: new Map(), latencies: new Array<number>(BOUNDS.length + 1).fill(0), seconds: 0 };
      this.kinds.set(kind, counts);
    }
    return counts;
  }

  /** Counts something that is not timed. */
  count(kind: string, outcome: string): void {
    const { outcomes } = this.of(kind);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }

  observe(kind: string, outcome: string, seconds: number): void {
    this.count(kind, outcome);
    const counts = this.of(kind);
    counts.seconds += seconds;
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]!) bucket++;
    counts.latencies[bucket]!++;
  }

  snapshot(connections: number, underWay: number): MetricsSnapshot {
    const kinds = [...this.kinds].map(([kind, { outcomes, latencies, seconds }]) => {
      return { kind, outcomes: [...outcomes], latencies: [...latencies], seconds };
    });
    return { connections, underWay, bytesIn: this.bytesIn, bytesOut: this.bytesOut, kinds };
  }

  add(snapshot: MetricsSnapshot): void {
    this.bytesIn += snapshot.bytesIn;
    this.bytesOut += snapshot.bytesOut;
    for (const { kind, outcomes, latencies, seconds } of snapshot.kinds) {
      const counts = this.of(kind);
      for (const [outcome, count] of outcomes)
        counts.outcomes.set(outcome, (counts.outcomes.get(outcome) ?? 0) + count);
      for (const [i, count] of latencies.entries()) counts.latencies[i]! += count;
      counts.seconds += seconds;
    }
  }

  /** The measures in their order, then bytes, operations and latencies. */
  format(measures: readonly Measure[]): string {
    const all: readonly Measure[] = [
      ...measures,
      { name: "received_bytes_total", type: "counter", help: "Bytes of bodies received.", value: this.bytesIn },
      { name: "sent_bytes_total", type: "counter", help: "Bytes of bodies sent.", value: this.bytesOut },
    ];
    return all.map(formatMeasure).join("") + this.formatOperations() + this.formatLatencies();
  }

  private formatOperations(): string {
    const lines = [
      "# HELP holotype_operations_total Operations by kind and outcome.",
      "# TYPE holotype_operations_total counter",
    ];
    for (const [kind, { outcomes }] of this.kinds) {
      for (const [outcome, count] of outcomes) {
        lines.push(`holotype_operations_total{kind="${kind}",outcome="${outcome}"} ${count}`);
      }
    }
    return `${lines.join("\n")}\n`;
  }

  private formatLatencies(): string {
    const name = "holotype_operation_seconds";
    const lines = [`# HELP ${name} Time from a request's header to the end of its answer.`, `# TYPE ${name} histogram`];
    for (const [kind, { latencies, seconds }] of this.kinds) {
      let sum = 0;
      latencies.forEach((count, i) => {
        sum += count;
        lines.push(`${name}_bucket{kind="${kind}",le="${BOUNDS[i] ?? "+Inf"}"} ${sum}`);
      });
      if (sum === 0) lines.splice(-latencies.length);
      else lines.push(`${name}_sum{kind="${kind}"} ${seconds}`, `${name}_count{kind="${kind}"} ${sum}`);
    }
    return `${lines.join("\n")}\n`;
  }
}

function formatMeasure({ name, type, help, value }: Measure): string {
  return `# HELP holotype_${name} ${help}\n# TYPE holotype_${name} ${type}\nholotype_${name} ${value}\n`;
}

/** What every server shows of itself. */
export function serverGauges(connections: number, underWay: number, isDraining: boolean): readonly Measure[] {
  return [
    { name: "connections", type: "gauge", help: "Open connections.", value: connections },
    {
      name: "requests_under_way",
      type: "gauge",
      help: "Requests that are not answered yet, this one too.",
      value: underWay,
    },
    { name: "draining", type: "gauge", help: "1 where the server is going down.", value: isDraining ? 1 : 0 },
  ];
}
