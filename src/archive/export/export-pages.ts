/**
 * The lists of pages of a WACZ: those that came with WACZ files go out again, without what was removed. Captures of other
 * files are pages where they are HTML with status 200.
 */
import type { Disk, DurableOutput } from "../../disk/index.ts";
import type { Snapshot } from "../asking/snapshot.ts";
import { isOfRemoved } from "../entering/removed-notes.ts";
import { containerOf, type PageLine, pagesBeside } from "../segments/page-record.ts";
import { adoptedInput, readable } from "../segments/segments.ts";
import type { ExportFiles } from "./export-files.ts";
import { PAGES_HEADER, type Page } from "./export-page.ts";

/** The list that is shown first; all others go into the second. */
const LISTS = ["pages", "extraPages"] as const;
type ListName = (typeof LISTS)[number];

interface List {
  readonly output: DurableOutput;
  hasText: boolean;
  count: number;
}

export class ExportPages implements Disposable {
  private readonly archive: Snapshot;
  private readonly files: ExportFiles;
  private readonly lists = new Map<ListName, List>();
  /** WACZ files that captures came with, by the numbers of their sources: absent where nothing lists their pages. */
  private readonly listed = new Map<number, boolean>();
  private readonly containers = new Set<string>();

  constructor(archive: Snapshot, files: ExportFiles) {
    this.archive = archive;
    this.files = files;
  }

  get count(): number {
    return [...this.lists.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** The lists of adopted WACZ files are where they were. */
  addAdopted(disk: Disk): void {
    for (const { row } of this.archive.catalogue.segments()) {
      const input = row.adopted && adoptedInput(disk, row.adopted.path, row.adopted.size);
      const container = input && containerOf(input);
      if (container === undefined || this.containers.has(container)) continue;
      const pages = pagesBeside(disk, input!, () => {});
      for (let page = readable(() => pages.next()); page?.done === false; page = readable(() => pages.next()))
        this.addLine(page.value, container);
    }
  }

  /** A line that came with a WACZ file. */
  addLine({ list, url, timeMs, json }: PageLine, container: string): void {
    this.containers.add(container);
    if (isOfRemoved(this.archive.catalogue, { uri: url, timeMs })) return;
    this.write(list === "pages" ? "pages" : "extraPages", json, /"text"\s*:/.test(json));
  }

  /** A capture that is a page, unless the file that it came with says which ones are. */
  addPage(page: Page, source: number): void {
    if (!this.isListed(source)) this.write("pages", JSON.stringify(page), false);
  }

  private isListed(source: number): boolean {
    let isListed = this.listed.get(source);
    if (isListed === undefined) {
      const { name = "" } = this.archive.catalogue.source(source) ?? {};
      isListed = [...this.containers].some((container) => name.startsWith(`${container}!`));
      this.listed.set(source, isListed);
    }
    return isListed;
  }

  private write(name: ListName, json: string, hasText: boolean): void {
    let list = this.lists.get(name);
    if (list === undefined) {
      list = { output: this.files.scribble(`${name}.jsonl`), hasText: false, count: 0 };
      this.lists.set(name, list);
    }
    list.output.write(Buffer.from(`${json}\n`));
    list.hasText ||= hasText;
    list.count++;
  }

  /** The name of each list and its first line; its others are in a file of that name. The first one is always there. */
  finish(): { readonly name: string; readonly header: Buffer; readonly isEmpty: boolean }[] {
    const used = LISTS.filter((name) => name === "pages" || this.lists.has(name));
    return used.map((name) => {
      const list = this.lists.get(name);
      list?.output.commit();
      const header = { ...PAGES_HEADER, id: name, ...(list?.hasText === true ? { hasText: true } : {}) };
      return { name: `${name}.jsonl`, header: Buffer.from(`${JSON.stringify(header)}\n`), isEmpty: list === undefined };
    });
  }

  [Symbol.dispose](): void {
    for (const { output } of this.lists.values()) output[Symbol.dispose]();
  }
}
