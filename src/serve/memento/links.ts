/** The headers of a memento (RFC 7089): its time, its own address, and links to what belongs to it. */
import type { Capture } from "../../archive/index.ts";
import { isVisit } from "../access/allowed-lifespans.ts";
import { type Headers } from "../answers.ts";
import { headerUrl } from "../archived-url.ts";
import type { Collection } from "../collection.ts";
import { firstOf } from "../replay/choose.ts";
import type { Asked } from "../route.ts";
import { httpDate, mementoPath, stampOf } from "./stamp.ts";

/** What links to a URL's mementos, TimeGate and TimeMaps begin with. */
export class MementoLinks {
  readonly original: string;
  private readonly base: string;

  constructor({ base }: Asked, url: string) {
    this.base = base;
    this.original = headerUrl(url);
  }

  get timegate(): string {
    return `${this.base}${this.original}`;
  }

  timemap(form = "link", page = ""): string {
    return `${this.base}timemap/${form}/${page}${this.original}`;
  }

  /** Of a capture, which may be of another URL with the same key. */
  memento(capture: Capture, stamp: string): string {
    return `${this.base}${mementoPath(stamp)}${headerUrl(capture.url)}`;
  }

  /** Those that every answer about the URL has. */
  common(): string[] {
    return [
      `<${this.original}>; rel="original"`,
      `<${this.timegate}>; rel="timegate"`,
      `<${this.timemap()}>; rel="timemap"; type="application/link-format"`,
    ];
  }
}

/** Beside a capture: the first and last of the URL, and those right before and after it. */
interface Neighbours {
  readonly first: Capture | undefined;
  readonly last: Capture | undefined;
  readonly prev: Capture | undefined;
  readonly next: Capture | undefined;
}

async function neighboursOf(collection: Collection, url: string, timeMs: number): Promise<Neighbours> {
  const at = (query: object) => firstOf(collection, { url, ...query }, isVisit);
  const [first, last, prev, next] = await Promise.all([
    at({}),
    at({ order: "backwards" }),
    at({ order: "backwards", toMs: timeMs - 1 }),
    at({ fromMs: timeMs + 1 }),
  ]);
  return { first, last, prev, next };
}

export async function mementoHeaders(asked: Asked, url: string, capture: Capture): Promise<Headers> {
  const { timeMs } = capture;
  const links = new MementoLinks(asked, url);
  if (timeMs === undefined) return [["Link", links.common().join(", ")]];
  const { first, last, prev, next } = await neighboursOf(asked.collection, url, timeMs);
  const all = [first, prev, capture, next, last];
  const self = links.memento(capture, stampOf(capture, all));
  const told = links.common();
  const rels = new Map<Capture | string, { capture: Capture; rels: string[] }>();
  const put = (rel: string, each: Capture | undefined) => {
    if (each?.timeMs === undefined) return;
    const known = rels.get(each.cursor);
    if (known === undefined) rels.set(each.cursor, { capture: each, rels: [rel] });
    else known.rels.push(rel);
  };
  put("first", first);
  put("prev", prev);
  put("memento", capture);
  put("next", next);
  put("last", last);
  for (const { capture: each, rels: names } of rels.values()) {
    const rel = names.includes("memento") ? names : [...names, "memento"];
    const stamp = stampOf(each, all);
    told.push(`<${links.memento(each, stamp)}>; rel="${rel.join(" ")}"; datetime="${httpDate(each.timeMs!)}"`);
  }
  return [
    ["Memento-Datetime", httpDate(timeMs)],
    ["Content-Location", self],
    ["Link", told.join(", ")],
  ];
}
