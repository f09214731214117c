/** The steps of a migration, `/moves/…`, in the words of `Volume`. */
import { ArchiveError } from "../base/index.ts";
import { BlockField, notHere, parseBlockAddress, parseSize, WIRE_HEADER_SIZE_MAX } from "../store/index.ts";
import { contentOf, headerOf, piecemeal, requestIdOf, sendBlock, sendReceipt } from "./block-routes.ts";
import { readBody } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import type { VolumeService } from "./service.ts";

const KEY_LENGTH_MAX = 1024;
/** They have to fit into a header, beside other things. */
const FORMER_KEYS_LENGTH_MAX = WIRE_HEADER_SIZE_MAX - (8 << 10);

/** Answers with the block, as `GET /blocks/…` does. */
export async function leave(service: VolumeService, exchange: Exchange, name: string): Promise<void> {
  const address = parseBlockAddress(name);
  exchange.isWithServer = true;
  const block = await service.track(service.volume.leave(address));
  if (block === undefined) throw notHere(address);
  const keys = block.formerKeys.join(" ");
  if (keys.length > FORMER_KEYS_LENGTH_MAX) {
    throw new ArchiveError("HT_TOO_LARGE", `${name} has more former keys than can be told at once`);
  }
  await sendBlock(service, exchange, block, keys === "" ? {} : { [BlockField.former]: keys });
}

export function adopt(service: VolumeService, exchange: Exchange, name: string): void {
  const { headers } = exchange;
  const address = parseBlockAddress(name);
  const content = contentOf(service, headers, address.signature);
  const references = parseSize(requireHeader(headers, BlockField.references), BlockField.references);
  const formerKeys = splitKeys(headerOf(headers, BlockField.former.toLowerCase()) ?? "");
  const requestId = requestIdOf(headers);
  if (requestId === undefined) throw new ArchiveError("HT_USAGE", `the header ${BlockField.request} is missing`);
  const storedSize = parseSize(requireHeader(headers, "Content-Length"), "Content-Length");
  readBody(service, exchange, service.limits.contentSizeMaxBytes, (body) => {
    const data = piecemeal(body, content.size);
    const request = { ...content, ...address, references, storedSize, data, formerKeys, requestId };
    service
      .track(service.volume.adopt(request))
      .then((receipt) => sendReceipt(service, exchange, receipt))
      .catch(exchange.fail);
  });
}

export async function left(service: VolumeService, exchange: Exchange, name: string): Promise<void> {
  const address = parseBlockAddress(name);
  exchange.isWithServer = true;
  await service.track(service.volume.left(address));
  service.noteRemoval(0);
  exchange.sendJson(200, "done", "{}");
}

export async function follow(service: VolumeService, exchange: Exchange, name: string): Promise<void> {
  const formerKey = decodeKey(name);
  exchange.isWithServer = true;
  const address = await service.volume.follow(formerKey);
  if (address === undefined) throw new ArchiveError("HT_NOT_FOUND", `${formerKey} did not come here`);
  const { signature, overflow } = address;
  exchange.sendJson(200, "found", JSON.stringify({ signature, overflow }));
}

function decodeKey(name: string): string {
  try {
    const key = decodeURIComponent(name);
    if (key !== "" && key.length <= KEY_LENGTH_MAX) return key;
  } catch {
    // As no key at all.
  }
  throw new ArchiveError("HT_USAGE", "not a key");
}

function requireHeader(headers: Exchange["headers"], name: string): string {
  const value = headerOf(headers, name.toLowerCase());
  if (value === undefined) throw new ArchiveError("HT_USAGE", `the header ${name} is missing`);
  return value;
}

function splitKeys(text: string): string[] {
  return text === "" ? [] : text.split(" ");
}
