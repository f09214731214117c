import { ArchiveError } from "../base/index.ts";
import { type Access, type ByteSink, DurableOutput, nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { contentAccess, formatContentKey, type RetrievedContent } from "../store/index.ts";
import type { Command } from "./command.ts";
import { Interruption } from "./interruption.ts";
import { INSTANCE_OPTION, instancePath, openTarget, requireKeys } from "./store-option.ts";

export const storeGet: Command = {
  name: "store get",
  purpose: "Print a content, or write it to a file.",
  usage: "KEY [-o FILE]",
  details: `The content is decompressed, and its signature and size are verified. With -o the file gets its name when all of it is
right and durable; without, a content too large to be held is printed before its end is known to be right.`,
  options: {
    ...INSTANCE_OPTION,
    output: {
      type: "string",
      short: "o",
      value: "FILE",
      help: "write to this file, which must not be there yet; - is standard output",
    },
  },
  exits: "20 no such content or volume · 23 the content is damaged · 25 the volume does not answer",
  examples: [
    "holotype store get --instance /tmp/store $(holotype store put --instance /tmp/store samples/cabinet-2009.warc.gz)",
  ],
  async run(args) {
    const [key, ...more] = requireKeys(storeGet, args);
    if (more.length > 0) throw new ArchiveError("HT_USAGE", "one key at a time");
    await using instance = await openTarget(storeGet, args, { reading: true });
    const retrieved = await instance.retrieve(key!);
    if (retrieved === undefined) {
      throw new ArchiveError("HT_NOT_FOUND", `${formatContentKey(key!)}: there is no such content`);
    }
    const path = args.text("output");
    if (path !== undefined && path !== "-") {
      const access = contentAccess(nodeDisk, instancePath(storeGet, args), key!.signature);
      return await writeFile(path, retrieved, access);
    }
    await copy(retrieved, { write: writeStandardOutput });
    return 0;
  },
};

async function writeFile(path: string, retrieved: RetrievedContent, access: Access | undefined): Promise<number> {
  using interruption = new Interruption("stopped; nothing was written");
  using output = DurableOutput.begin(nodeDisk, path, { access });
  await copy(retrieved, output, interruption.signal);
  if (interruption.isStopped) return 130;
  output.commit();
  return 0;
}

async function copy({ content }: RetrievedContent, output: ByteSink, signal?: AbortSignal): Promise<void> {
  if (content instanceof Uint8Array) {
    output.write(content);
    return;
  }
  for await (const piece of content) {
    if (signal?.aborted === true) return;
    output.write(piece);
  }
}
