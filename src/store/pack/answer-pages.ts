/**
 * What was answered to which request, as pages of lines: see docs/format/pack-volume.md. Ids come in no order, and one
 * entry for each would change a page of the tree for each; so they are kept in the order in which they came.
 */
import { ArchiveError } from "../../base/index.ts";
import { formatAddress, parseAddress } from "../content-key.ts";
import { type Answer, INDEX_ADVICE } from "./pack-index.ts";
import { RequestTable } from "./request-table.ts";

/** Few enough to be looked through, many enough that most commits need few pages. */
const PAGE_COUNT_MAX = 256;
const OUTCOMES = ["new", "duplicate", "removed"] as const;
const ADOPTED = "adopted";

export interface PageChanges {
  readonly put: readonly { readonly page: number; readonly text: string }[];
  readonly removed: readonly number[];
}

export class AnswerPages {
  private readonly keptMin: number;
  private readonly table = new RequestTable();
  /** How many answers each page has, the oldest first. */
  private readonly kept: { readonly page: number; readonly count: number }[] = [];
  private count = 0;
  private next = 1;

  /** The oldest page goes when there are as many answers as this without it. */
  constructor(keptMin: number) {
    this.keptMin = keptMin;
  }

  /** A page of the index, in the order of their numbers. */
  load(page: number, text: string): void {
    const lines = text.split("\n");
    lines.pop();
    for (const line of lines) this.table.add(line.slice(0, line.indexOf(" ")), page);
    this.note(page, lines.length);
  }

  private note(page: number, count: number): void {
    this.kept.push({ page, count });
    this.count += count;
    this.next = page + 1;
  }

  /** `read` gives a page of the index, where it is there. */
  find(requestId: string, read: (page: number) => string | undefined): Answer | undefined {
    for (const page of this.table.pagesOf(requestId)) {
      const text = `\n${read(page) ?? ""}`;
      const at = text.indexOf(`\n${requestId} `);
      if (at >= 0) return parseLine(text.slice(at + 1, text.indexOf("\n", at + 1)));
    }
    return undefined;
  }

  /** Takes further answers in; what has to be changed in the index for that. */
  add(answers: ReadonlyMap<string, Answer>): PageChanges {
    const put: { page: number; text: string }[] = [];
    let [text, count] = ["", 0];
    const finish = () => {
      put.push({ page: this.next, text });
      this.note(this.next, count);
      [text, count] = ["", 0];
    };
    for (const [id, answer] of answers) {
      this.table.add(id, this.next);
      text += formatLine(id, answer);
      if (++count === PAGE_COUNT_MAX) finish();
    }
    if (count > 0) finish();
    return { put, removed: this.forget() };
  }

  private forget(): number[] {
    const removed: number[] = [];
    while (this.kept.length > 0 && this.count - this.kept[0]!.count >= this.keptMin) {
      const { page, count } = this.kept.shift()!;
      this.count -= count;
      removed.push(page);
      this.table.forgetBefore(page + 1);
    }
    return removed;
  }
}

/** Neither ids of requests nor names of codecs have blanks in them. */
function formatLine(id: string, answer: Answer): string {
  const { outcome, size, storedSize, compression, references, isAdopted } = answer;
  const adopted = isAdopted ? ` ${ADOPTED}` : "";
  return `${id} ${outcome} ${formatAddress(answer)} ${size} ${storedSize} ${compression} ${references}${adopted}\n`;
}

function parseLine(line: string): Answer {
  const [, told, addressText = "", size, storedSize, compression, references, adopted] = line.split(" ");
  const outcome = OUTCOMES.find((name) => name === told);
  const address = parseAddress(addressText);
  if (outcome === undefined || address === undefined || references === undefined) {
    throw new ArchiveError("HT_CORRUPT", `an answer in the index that is none; ${INDEX_ADVICE}`);
  }
  return {
    ...address,
    size: Number(size),
    storedSize: Number(storedSize),
    compression: compression!,
    references: Number(references),
    outcome,
    isAdopted: adopted === ADOPTED,
  };
}
