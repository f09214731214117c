/**
 * Volumes against a map: random calls, many of them with colliding signatures, requests said again, closing and opening,
 * and power cuts with calls under way. The answers are those of the map, and so is what can be seen.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArchiveError, invariant } from "../base/index.ts";
import type { BlockAddress, Finding, StoreMode, Volume } from "../store/index.ts";
import { STORE_MODES } from "../store/index.ts";
import type { Fate } from "./forgetful-content.ts";
import type { Aftermath } from "./forgetful-disk.ts";
import { MemoryVolume } from "./memory-volume.ts";
import {
  type Content,
  codecs,
  collect,
  collidingContents,
  collidingWith,
  contentIn,
  contentOf,
  encoded,
  storing,
} from "./volume-contents.ts";
import { sightOf } from "./volume-script.ts";

/** A new and empty volume with weak signatures. What it cannot do is left out of its life. */
export interface ModelledVolume extends AsyncDisposable {
  /** Another object after `reopen` and `cutPower`. */
  readonly volume: Volume;
  readonly reopen?: () => Promise<void>;
  /** Opens what the disk keeps after a power cut now. The volume before it may go on; nobody sees what it does. */
  readonly cutPower?: (aftermath: Aftermath) => Promise<void>;
  readonly compact?: () => Promise<void>;
  readonly check?: () => AsyncIterable<Finding>;
}

export interface ModelOptions {
  readonly runs?: number;
  /** Repeats a failed run. */
  readonly seed?: number;
}

/** Contents by signatures: two of one size and one of another, two, and one by itself. */
const [a, b] = collidingContents(2) as [Content, Content];
const CONTENTS = [a, b, collidingWith(a), ...others()];

function others(): Content[] {
  const found: Content[] = [];
  for (let i = 0; found.length < 4; i++) {
    const content = contentOf("weak8", `another specimen ${i}`);
    if (content.signature !== a.signature) found.push(content);
  }
  return found;
}

const FORMER_KEYS = CONTENTS.flatMap(({ signature }) => [0, 1, 2].map((volume) => `${volume}-${signature}`));

/** What is said to a volume. Blocks are named by their place in the list of those that are there. */
type ContentRequest =
  | { readonly kind: "store"; readonly content: number; readonly mode: StoreMode; readonly compression: string }
  | { readonly kind: "refer"; readonly content: number; readonly compared: boolean }
  | { readonly kind: "adopt"; readonly content: number; readonly references: number; readonly volume: number };

type Request = ContentRequest | { readonly kind: "remove" | "open" | "leave" | "left"; readonly block: number };

type Answer = { readonly value: unknown } | { readonly code: string };

/** A request as it can be said again: with its address, and an id where such requests have one. */
interface Said {
  readonly name: string;
  readonly signature: string;
  say(volume: Volume): Promise<Answer>;
}

interface Model {
  readonly map: MemoryVolume;
  readonly can: { readonly reopen: boolean; readonly cutPower: boolean; readonly compact: boolean };
  /** Blocks that are there, in order. */
  blocks: BlockAddress[];
  readonly said: { readonly request: Said; readonly answer: Answer }[];
  count: number;
}

async function answerOf(work: Promise<unknown>): Promise<Answer> {
  try {
    return { value: await work };
  } catch (error) {
    if (error instanceof ArchiveError) return { code: error.code };
    throw error;
  }
}

/** Data decompressed, so that it can be compared. */
async function plain(block: Awaited<ReturnType<Volume["leave"]>> | Awaited<ReturnType<Volume["open"]>>) {
  if (block === undefined) return undefined;
  const formerKeys = "formerKeys" in block ? block.formerKeys.toSorted() : [];
  return { ...block, data: await contentIn(block), formerKeys };
}

/** The request with its id, for the volume and for the map; the answer is the same however often it is said. */
function prepare(request: Request, model: Model): Said {
  const requestId = `request-${++model.count}`;
  const name = `${requestId} ${JSON.stringify(request)}`;
  if ("content" in request) {
    const content = CONTENTS[request.content]!;
    return { name, signature: content.signature, say: (volume) => answerOf(sayContent(volume, request, requestId)) };
  }
  const nowhere = { signature: CONTENTS[request.block % CONTENTS.length]!.signature, overflow: 77 };
  const address = model.blocks[request.block] ?? nowhere;
  const say = (volume: Volume): Promise<unknown> => {
    if (request.kind === "remove") return volume.remove(address, requestId);
    if (request.kind === "left") return volume.left(address);
    return (request.kind === "open" ? volume.open(address) : volume.leave(address)).then(plain);
  };
  return { name, signature: address.signature, say: (volume) => answerOf(say(volume)) };
}

function sayContent(volume: Volume, request: ContentRequest, requestId: string): Promise<unknown> {
  const content = CONTENTS[request.content]!;
  const { signature, size } = content;
  if (request.kind === "store") return volume.store(storing(content, { ...request, requestId }));
  if (request.kind === "refer") {
    const compared = request.compared ? { compression: "zlib", data: encoded(content, "zlib") } : undefined;
    return volume.refer({ signature, size, requestId, compared });
  }
  const data = encoded(content, "gzip");
  const block = { signature, size, overflow: 0, storedSize: data.length, compression: "gzip" };
  const { references } = request;
  return volume.adopt({ ...block, data, references, formerKeys: [`${request.volume}-${signature}`], requestId });
}

async function compareSight(model: Model, real: ModelledVolume): Promise<void> {
  expect(await sightOf(real.volume, FORMER_KEYS)).toEqual(await sightOf(model.map, FORMER_KEYS));
  const { blocks, contentBytes, storedBytes, references } = await model.map.describe();
  expect(await real.volume.describe()).toMatchObject({ blocks, contentBytes, storedBytes, references });
}

async function checkSound(real: ModelledVolume): Promise<void> {
  if (real.check !== undefined) expect(await collect(real.check())).toEqual([]);
}

type Command = fc.AsyncCommand<Model, ModelledVolume>;

class Saying implements Command {
  readonly request: Request;
  constructor(request: Request) {
    this.request = request;
  }
  check = () => true;
  async run(model: Model, real: ModelledVolume): Promise<void> {
    const request = prepare(this.request, model);
    const answer = await request.say(model.map);
    expect(await request.say(real.volume), request.name).toEqual(answer);
    await remember(model, request, answer);
  }
  toString = () => JSON.stringify(this.request);
}

async function remember(model: Model, request: Said, answer: Answer): Promise<void> {
  if ("value" in answer && answer.value !== undefined) model.said.push({ request, answer });
  model.blocks = await collect(model.map.list());
}

/** One of the requests that were answered, again; those that have no id are left out. */
class SayingAgain implements Command {
  readonly place: number;
  constructor(place: number) {
    this.place = place;
  }
  check = (model: Readonly<Model>) => model.said.length > 0;
  async run(model: Model, real: ModelledVolume): Promise<void> {
    const { request, answer } = model.said[this.place % model.said.length]!;
    if (/"kind":"(?:open|leave|left)"/.test(request.name)) return;
    expect(await request.say(real.volume), `${request.name} again`).toEqual(answer);
  }
  toString = () => `again ${this.place}`;
}

class Reopening implements Command {
  check = (model: Readonly<Model>) => model.can.reopen;
  async run(model: Model, real: ModelledVolume): Promise<void> {
    await real.reopen!();
    await compareSight(model, real);
  }
  toString = () => "reopen";
}

class Compacting implements Command {
  check = (model: Readonly<Model>) => model.can.compact;
  async run(model: Model, real: ModelledVolume): Promise<void> {
    await real.compact!();
    await compareSight(model, real);
  }
  toString = () => "compact";
}

/** Calls are made at once, one for each signature at most; the power goes while they are under way. */
class PowerCutting implements Command {
  readonly requests: readonly Request[];
  readonly turns: number;
  readonly aftermath: Aftermath;
  constructor(requests: readonly Request[], turns: number, aftermath: Aftermath) {
    this.requests = requests;
    this.turns = turns;
    this.aftermath = aftermath;
  }
  check = (model: Readonly<Model>) => model.can.cutPower;
  async run(model: Model, real: ModelledVolume): Promise<void> {
    const said = new Map(this.requests.map((request) => prepare(request, model)).map((each) => [each.signature, each]));
    const answered: { request: Said; answer: Answer }[] = [];
    const underWay = [...said.values()].map(async (request) => {
      answered.push({ request, answer: await request.say(real.volume) });
    });
    for (let turn = 0; turn < this.turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    const before = answered.slice();
    const cut = real.cutPower!(this.aftermath);
    await Promise.allSettled(underWay);
    await cut;
    await checkSound(real);
    // Whatever became of them, each has happened once when it was said again.
    for (const request of said.values()) {
      const answer = await request.say(model.map);
      expect(await request.say(real.volume), request.name).toEqual(answer);
      for (const early of before) if (early.request === request) expect(early.answer, request.name).toEqual(answer);
      await remember(model, request, answer);
    }
    await compareSight(model, real);
  }
  toString = () => `power cut ${JSON.stringify([this.requests, this.turns, this.aftermath])}`;
}

const contentIndex = fc.nat(CONTENTS.length - 1);
const requests: readonly fc.Arbitrary<Request>[] = [
  fc.record({
    kind: fc.constant("store" as const),
    content: contentIndex,
    mode: fc.constantFrom(...STORE_MODES),
    compression: fc.constantFrom("none", "zlib", "br"),
  }),
  fc.record({ kind: fc.constant("refer" as const), content: contentIndex, compared: fc.boolean() }),
  fc.record({ kind: fc.constantFrom("remove", "remove", "open", "leave", "left"), block: fc.nat(6) }),
  fc.record({
    kind: fc.constant("adopt" as const),
    content: contentIndex,
    references: fc.integer({ min: 1, max: 3 }),
    volume: fc.nat(2),
  }),
];
const request = fc.oneof(
  { weight: 6, arbitrary: requests[0]! },
  { weight: 2, arbitrary: requests[1]! },
  { weight: 6, arbitrary: requests[2]! },
  { weight: 1, arbitrary: requests[3]! },
);
const fate = fc.constantFrom<Fate>("drop", "tear", "keep");
const aftermath = fc.record({ data: fate, names: fate, seed: fc.nat(2 ** 31) });

const COMMANDS: fc.Arbitrary<Command>[] = [
  ...[1, 2, 3, 4, 5].map(() => request.map((each) => new Saying(each))),
  fc.nat(100).map((place) => new SayingAgain(place)),
  fc.constant(new Reopening()),
  fc.constant(new Compacting()),
  fc
    .tuple(fc.array(request, { maxLength: 4 }), fc.nat(14), aftermath)
    .map(([some, turns, after]) => new PowerCutting(some, turns, after)),
];

export function volumeModel(name: string, start: () => Promise<ModelledVolume>, options: ModelOptions = {}): void {
  describe(`${name} beside a map`, () => {
    it("answers and holds the same, whatever happens", async () => {
      const { runs = 60, seed } = options;
      await fc.assert(
        fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 60, size: "+1" }), (commands) => live(commands, start)),
        { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
      );
    });
  });
}

async function live(commands: Iterable<Command>, start: () => Promise<ModelledVolume>): Promise<void> {
  await using real = await start();
  const can = {
    reopen: real.reopen !== undefined,
    cutPower: real.cutPower !== undefined,
    compact: real.compact !== undefined,
  };
  const map = new MemoryVolume(codecs, { signature: "weak8" });
  const model: Model = { map, can, blocks: [], said: [], count: 0 };
  invariant((await collect(map.list())).length === 0, "the map begins empty");
  await fc.asyncModelRun(() => ({ model, real }), commands);
  await compareSight(model, real);
  await checkSound(real);
}
