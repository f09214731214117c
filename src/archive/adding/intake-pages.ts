/** The pages that are listed in the WACZ files that inputs lie in: they come in as records of ours, each once. */
import type { Warning } from "../../base/index.ts";
import { factsOf, type Input, type RecordFacts } from "../../pipeline/index.ts";
import { bufferSource, WarcReader } from "../../warc/index.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import { containerOf, encodePage, pagesBeside } from "../segments/page-record.ts";
import { readable } from "../segments/segments.ts";
import { readmitNote } from "./readmit-note.ts";

export class IntakePages {
  private readonly core: ArchiveCore;
  private readonly readmit: boolean;
  /** WACZ files whose lists were taken, with their first archive. */
  private readonly taken = new Set<string>();

  constructor(core: ArchiveCore, readmit: boolean) {
    this.core = core;
    this.readmit = readmit;
  }

  /** `begin` is called before a record is written. How many bytes were. */
  take(input: Input, begin: (facts: RecordFacts) => void): number {
    const container = containerOf(input);
    if (container === undefined || this.taken.has(container)) return 0;
    this.taken.add(container);
    const warn = (code: Warning["code"], message: string) =>
      this.core.onWarning({ code, message, file: container, offset: 0 });
    const pages = pagesBeside(this.core.disk, input, (list, lines) =>
      warn("HT_FIELD_INVALID", `${lines} lines of its list of pages (${list}) were skipped: no URL and time in them`),
    );
    let size = 0;
    for (;;) {
      const page = readable(
        () => pages.next(),
        ({ code, message }) => warn(code, `the rest of its lists of pages was skipped: ${message}`),
      );
      if (page === undefined || page.done === true) return size;
      size += this.keep(encodePage(page.value), begin);
    }
  }

  private keep(bytes: Buffer, begin: (facts: RecordFacts) => void): number {
    const { indexer, segment, commits } = this.core;
    const reader = new WarcReader(bufferSource(bytes), { onWarning: () => {} });
    const facts = factsOf(reader.next()!, "", () => {});
    reader.close();
    const isBack = this.readmit && readmitNote(this.core, facts);
    if (!isBack && (indexer.hasNote(facts) || indexer.isOfRemoved(facts))) return 0;
    begin(facts);
    indexer.enterNote(
      facts,
      segment.append((sink) => sink.write(bytes)),
    );
    commits.whereDue();
    return bytes.length;
  }
}
