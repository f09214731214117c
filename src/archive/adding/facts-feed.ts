/** Lines of facts as they come from the threads that read inputs, taken apart and handed on input by input. */
import type { Input, RecordFacts } from "../../pipeline/index.ts";

export interface FactsSink {
  begin(input: Input): void;
  take(facts: RecordFacts): void;
  end(input: Input): void;
}

export class FactsFeed {
  private readonly inputs: readonly Input[];
  private readonly sink: FactsSink;
  private next = 0;
  private isOpen = false;
  private readonly decoder = new TextDecoder();
  private rest = "";

  constructor(inputs: readonly Input[], sink: FactsSink) {
    this.inputs = inputs;
    this.sink = sink;
  }

  /** Texts come in the order of the inputs. */
  text(text: string | Uint8Array): void {
    const all = this.rest + (typeof text === "string" ? text : this.decoder.decode(text, { stream: true }));
    let at = 0;
    for (let end = all.indexOf("\n"); end >= 0; end = all.indexOf("\n", at)) {
      this.open();
      this.sink.take(JSON.parse(all.slice(at, end)) as RecordFacts);
      at = end + 1;
    }
    this.rest = all.slice(at);
  }

  private open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.sink.begin(this.inputs[this.next]!);
  }

  done(input: Input): void {
    if (this.isOpen) this.sink.end(input);
    this.isOpen = false;
    this.next++;
  }
}
