/**
 * What collections are called on the replay origin: `cabinet.<tag>`, and `cabinet.as-of.<tag>` for browsing at one moment.
 * The tag is a secret of this run of the server. There are no cookies there, and other sites cannot guess an address.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Collection } from "../collection.ts";

const TAG_LENGTH = 24;
const NAME = /^([\w-]+)(\.as-of)?\.([0-9a-f]+)$/;

export interface NamedCollection {
  readonly collection: Collection;
  readonly isPinned: boolean;
}

export class ReplayNames {
  private readonly secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.secret = secret;
  }

  private tagOf(collection: string): string {
    return createHmac("sha256", this.secret).update(collection).digest("hex").slice(0, TAG_LENGTH);
  }

  nameOf({ name }: Collection, isPinned: boolean): string {
    return `${name}${isPinned ? ".as-of" : ""}.${this.tagOf(name)}`;
  }

  find(text: string, collections: ReadonlyMap<string, Collection>): NamedCollection | undefined {
    const [, name = "", pinned, tag = ""] = NAME.exec(text) ?? [];
    const collection = collections.get(name);
    if (collection === undefined || tag.length !== TAG_LENGTH) return undefined;
    if (!timingSafeEqual(Buffer.from(tag), Buffer.from(this.tagOf(name)))) return undefined;
    return { collection, isPinned: pinned !== undefined };
  }
}
