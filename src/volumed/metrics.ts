/** What the server counts, and how Prometheus reads it. */
import type { VolumeDescription } from "../store/index.ts";

/** Upper bounds of the latency histogram, in seconds. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5] as const;

interface KindCounts {
  readonly outcomes: Map<string, number>;
  /** One for every bound, and one for what is beyond. */
  readonly latencies: number[];
  seconds: number;
}

/** What is true now, beside what was counted. */
export interface Gauges {
  readonly connections: number;
  readonly underWay: number;
  readonly isDraining: boolean;
}

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

  /** Something that is not timed: one content of a bulk stream. */
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

  format(volume: VolumeDescription, gauges: Gauges): string {
    const gauge = (name: string, help: string, value: number) =>
      `# HELP holotype_${name} ${help}\n# TYPE holotype_${name} gauge\nholotype_${name} ${value}\n`;
    const counter = (name: string, help: string, value: number) =>
      `# HELP holotype_${name} ${help}\n# TYPE holotype_${name} counter\nholotype_${name} ${value}\n`;
    return [
      gauge("blocks", "Distinct contents.", volume.blocks),
      gauge("references", "References of all blocks.", volume.references),
      gauge("content_bytes", "Bytes of contents.", volume.contentBytes),
      gauge("stored_bytes", "Bytes of contents as compressed.", volume.storedBytes),
      gauge("writable", "1 where the volume takes new contents.", volume.state === "writable" ? 1 : 0),
      gauge("connections", "Open connections.", gauges.connections),
      gauge("requests_under_way", "Requests that are not answered yet, this one too.", gauges.underWay),
      gauge("draining", "1 where the server is going down.", gauges.isDraining ? 1 : 0),
      counter("received_bytes_total", "Bytes of bodies received.", this.bytesIn),
      counter("sent_bytes_total", "Bytes of bodies sent.", this.bytesOut),
      this.formatOperations(),
      this.formatLatencies(),
    ].join("");
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
