/** Compacting a volume behind its server, which tells how far it is. */
import type { CompactResult } from "../pack/compact.ts";
import { membersOf, notOurs, parseJson } from "../wire/block-json.ts";
import { fromWireError } from "../wire/protocol.ts";
import { Channel } from "./channel.ts";
import { receivedPieces } from "./late-data.ts";
import type { Link } from "./link.ts";

export async function compactRemotely(
  link: Link,
  onProgress: ((done: number, total: number) => void) | undefined,
): Promise<CompactResult> {
  const channel = new Channel(link, "/compact", "text/plain");
  channel.end();
  let text = "";
  for await (const piece of receivedPieces(link, await channel.reply)) {
    text += Buffer.from(piece).toString("latin1");
    const lines = text.split("\n");
    text = lines.pop()!;
    for (const line of lines) {
      const { progress, result, error } = membersOf(parseJson(Buffer.from(line, "latin1").toString()));
      if (result !== undefined) return result as CompactResult;
      if (error !== undefined) throw fromWireError(error) ?? notOurs("an error that is none");
      const { done, total } = membersOf(progress);
      onProgress?.(Number(done), Number(total));
    }
  }
  throw link.unavailable(new Error("the connection was closed before all was compacted"));
}
