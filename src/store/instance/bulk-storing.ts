/**
 * Storing many contents: several under way at once, answered in their order, each as soon as it is durable. What goes to
 * one volume goes in one stream, references too.
 */
import { ArchiveError } from "../../base/index.ts";
import { answersInOrder } from "../in-order.ts";
import type { BlockInfo, CountRequest, StoreReceipt, StoreRequest } from "../volume.ts";
import type { InstanceCore } from "./core.ts";
import type { Member } from "./member.ts";
import type { Content } from "./parcel.ts";
import { StoreLane } from "./store-lane.ts";
import { DIRECT, type Lanes, type StoreOptions, type StoreResult, storeContent } from "./storing.ts";

export interface StoreItem extends StoreOptions {
  readonly content: Content;
}

/** An answer to one of many. */
export type ItemAnswer = { readonly stored: StoreResult } | { readonly error: Error };

const LIMITS = {
  countMax: 1024,
  bytesMax: 32 << 20,
  /** A content that comes in pieces is waited for before the next one is taken. */
  sizeOf: ({ content }: StoreItem) => (content instanceof Uint8Array ? content.length : undefined),
} as const;

export async function* storeContents(
  core: InstanceCore,
  items: AsyncIterable<StoreItem> | Iterable<StoreItem>,
): AsyncGenerator<ItemAnswer> {
  const lanes = new GatheredLanes();
  const store = (item: StoreItem): Promise<ItemAnswer> =>
    storeContent(core, lanes, item.content, item).then(
      (stored) => ({ stored }),
      (error: unknown) => ({ error: error instanceof Error ? error : new Error(String(error)) }),
    );
  try {
    yield* answersInOrder(items, store, LIMITS);
    // So that streams end, and are not cut off when the instance is closed right away.
    await lanes.end();
  } finally {
    void lanes.end();
  }
}

/** What comes for a volume goes to it in one stream; what is asked of it in one turn of the event loop, in one request. */
class GatheredLanes implements Lanes {
  private readonly finds = new Map<Member, FindBatch>();
  private readonly lanes = new Map<Member, StoreLane>();

  find(member: Member, signature: string): Promise<readonly BlockInfo[]> {
    let batch = this.finds.get(member);
    if (batch === undefined) {
      batch = new FindBatch(member);
      this.finds.set(member, batch);
    }
    return batch.add(signature);
  }

  store(member: Member, request: StoreRequest): Promise<StoreReceipt> {
    if (!(request.data instanceof Uint8Array)) return DIRECT.store(member, request);
    return this.lane(member).send(request);
  }

  async refer(member: Member, request: CountRequest): Promise<StoreReceipt | undefined> {
    try {
      return await this.lane(member).send(request);
    } catch (error) {
      if (error instanceof ArchiveError && error.code === "HT_NOT_FOUND") return undefined;
      throw error;
    }
  }

  private lane(member: Member): StoreLane {
    let lane = this.lanes.get(member);
    if (lane === undefined) {
      lane = new StoreLane(member);
      this.lanes.set(member, lane);
    }
    return lane;
  }

  async end(): Promise<void> {
    await Promise.all([...this.lanes.values()].map((lane) => lane.end()));
  }
}

const FIND_MAX = 256;

interface Waiting {
  readonly signature: string;
  readonly resolve: (blocks: readonly BlockInfo[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Signatures that are looked up together. */
class FindBatch {
  private readonly member: Member;
  private waiting: Waiting[] = [];

  constructor(member: Member) {
    this.member = member;
  }

  add(signature: string): Promise<readonly BlockInfo[]> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ signature, resolve, reject });
      if (this.waiting.length === 1) setImmediate(() => this.flush());
      if (this.waiting.length >= FIND_MAX) this.flush();
    });
  }

  private flush(): void {
    const batch = this.waiting;
    if (batch.length === 0) return;
    this.waiting = [];
    const signatures = batch.map(({ signature }) => signature);
    this.member
      .ask((volume) => volume.find(signatures))
      .then(
        (found) => batch.forEach(({ resolve }, i) => resolve(found[i]!)),
        (error: unknown) => batch.forEach(({ reject }) => reject(error)),
      );
  }
}
