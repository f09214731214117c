/**
 * Storing many contents: several under way at once, answered in their order. What goes to one volume is gathered, so that
 * it travels in few requests and becomes durable together.
 */
import type { BlockInfo, StoreReceipt, StoreRequest } from "../volume.ts";
import type { InstanceCore } from "./core.ts";
import type { Member } from "./member.ts";
import type { Content } from "./parcel.ts";
import { DIRECT, type Lanes, type StoreOptions, type StoreResult, storeContent } from "./storing.ts";

export interface StoreItem extends StoreOptions {
  readonly content: Content;
}

/** An answer to one of many. */
export type ItemAnswer = { readonly stored: StoreResult } | { readonly error: Error };

/** How much may be under way at once, in number and in bytes held. */
const ITEMS_MAX = 1024;
const HELD_BYTES_MAX = 32 << 20;
const BATCH_MAX = 256;

/** A content that comes in pieces is waited for before the next one is taken. */
export async function* storeContents(
  core: InstanceCore,
  items: AsyncIterable<StoreItem> | Iterable<StoreItem>,
): AsyncGenerator<ItemAnswer> {
  const lanes = new GatheredLanes();
  const underWay: { readonly answer: Promise<ItemAnswer>; readonly size: number }[] = [];
  let held = 0;
  for await (const item of items) {
    const size = item.content instanceof Uint8Array ? item.content.length : 0;
    const answer = storeContent(core, lanes, item.content, item).then(
      (stored): ItemAnswer => ({ stored }),
      (error: unknown): ItemAnswer => ({ error: error instanceof Error ? error : new Error(String(error)) }),
    );
    underWay.push({ answer, size });
    held += size;
    if (!(item.content instanceof Uint8Array)) await answer;
    while (underWay.length >= ITEMS_MAX || held > HELD_BYTES_MAX) {
      const first = underWay.shift()!;
      yield await first.answer;
      held -= first.size;
    }
  }
  for (const { answer } of underWay) yield await answer;
}

/** What comes for a volume in one turn of the event loop goes to it together. */
class GatheredLanes implements Lanes {
  private readonly finds = new Map<Member, Batch<string, readonly BlockInfo[]>>();
  private readonly stores = new Map<Member, Batch<StoreRequest, StoreReceipt>>();

  find(member: Member, signature: string): Promise<readonly BlockInfo[]> {
    let batch = this.finds.get(member);
    if (batch === undefined) {
      batch = new Batch((signatures) => findAll(member, signatures));
      this.finds.set(member, batch);
    }
    return batch.add(signature);
  }

  store(member: Member, request: StoreRequest): Promise<StoreReceipt> {
    if (!(request.data instanceof Uint8Array)) return DIRECT.store(member, request);
    let batch = this.stores.get(member);
    if (batch === undefined) {
      batch = new Batch((requests) => storeAll(member, requests));
      this.stores.set(member, batch);
    }
    return batch.add(request);
  }
}

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

async function* findAll(member: Member, signatures: readonly string[]): AsyncGenerator<Outcome<readonly BlockInfo[]>> {
  for (const value of await member.ask((volume) => volume.find(signatures))) yield { value };
}

async function* storeAll(member: Member, requests: readonly StoreRequest[]): AsyncGenerator<Outcome<StoreReceipt>> {
  for await (const answer of member.askAll((volume) => volume.storeAll(requests))) {
    yield "receipt" in answer ? { value: answer.receipt } : answer;
  }
}

interface Waiting<Q, A> {
  readonly question: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

/** Questions that are asked together and answered in their order. */
class Batch<Q, A> {
  private readonly ask: (questions: readonly Q[]) => AsyncIterable<Outcome<A>>;
  private waiting: Waiting<Q, A>[] = [];

  constructor(ask: (questions: readonly Q[]) => AsyncIterable<Outcome<A>>) {
    this.ask = ask;
  }

  add(question: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ question, resolve, reject });
      if (this.waiting.length === 1) setImmediate(() => this.flush());
      if (this.waiting.length >= BATCH_MAX) this.flush();
    });
  }

  private flush(): void {
    if (this.waiting.length === 0) return;
    const batch = this.waiting;
    this.waiting = [];
    void this.answer(batch);
  }

  private async answer(batch: readonly Waiting<Q, A>[]): Promise<void> {
    let next = 0;
    let failure: unknown = new Error("a volume gave fewer answers than it was asked for");
    try {
      for await (const outcome of this.ask(batch.map(({ question }) => question))) {
        const { resolve, reject } = batch[next++]!;
        if ("value" in outcome) resolve(outcome.value);
        else reject(outcome.error);
      }
    } catch (error) {
      failure = error;
    }
    for (const { reject } of batch.slice(next)) reject(failure);
  }
}
