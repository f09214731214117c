/** The ids of requests, which travel and lie in headers and lines of text. */
import { ArchiveError } from "../base/index.ts";
import { type BlockAddress, sameAddress } from "./content-key.ts";

/** What a request did: added references to a block, with or without former keys, or took one back. */
export type Deed = "added" | "adopted" | "removed";

/** A request that was carried out: what it did, and to which block. */
export interface Said extends BlockAddress {
  readonly size: number;
  readonly deed: Deed;
}

/** What a request asks for. An overflow number is asked for only by those who take a reference back. */
export interface Asked {
  readonly signature: string;
  readonly overflow?: number;
  readonly size?: number;
  readonly deed: Deed;
}

/** A reference that is taken back. Nothing else of the address counts. */
export function asRemoval({ signature, overflow }: BlockAddress): Asked {
  return { signature, overflow, deed: "removed" };
}

/** References that are added to a block, or that came with one and its former keys. */
export function asAddition(signature: string, size: number, formerKeys: readonly string[] = []): Asked {
  return { signature, size, deed: formerKeys.length > 0 ? "adopted" : "added" };
}

/**
 * Throws HT_USAGE where the id was used before for another content or operation: to answer as it was answered then would
 * acknowledge what nobody did.
 */
export function checkSameRequest(id: string, said: Said, asked: Asked): void {
  const { signature, overflow = said.overflow, size = said.size, deed } = asked;
  if (deed === said.deed && size === said.size && sameAddress(said, { signature, overflow })) return;
  throw new ArchiveError("HT_USAGE", `the request id ${id} was used before, for another content or operation`);
}

/** Throws HT_USAGE for what cannot be the id of a request. No id is fine. */
export function checkRequestId(id: string | undefined): void {
  if (id === undefined || /^[\x21-\x7e]{1,128}$/.test(id)) return;
  throw new ArchiveError("HT_USAGE", "a request id has 1 to 128 characters of ASCII, without blanks");
}
