import { ArchiveError } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { formatContentKey, STORE_MODES, type StoreItem, type StoreResult } from "../store/index.ts";
import { type Arguments, type Command, parseChoice, requireFiles } from "./command.ts";
import { Interruption } from "./interruption.ts";
import { accessOfNames, makeFolderFor } from "./output-access.ts";
import { readContent, StandardInput } from "./store-content.ts";
import { INSTANCE_OPTION, instancePath, isConnector, openTarget } from "./store-option.ts";
import { report, tellSkipped } from "./talk.ts";
import { progressTeller } from "./volume-option.ts";

export const storePut: Command = {
  name: "store put",
  purpose: "Store files as contents, and print the content key of each.",
  usage: "FILE…",
  details: `A content that the store has already is not stored again; a reference is counted. Modes say what counts as the same:
regular (signature and size), compare (all bytes), force-new (nothing). A folder that is not there becomes a volume.`,
  options: {
    ...INSTANCE_OPTION,
    mode: { type: "string", value: "MODE", help: STORE_MODES.join(", "), default: "regular" },
    compression: {
      type: "string",
      value: "NAME",
      help: "none, zlib, gzip, br, zstd, a codec of the connector, or auto",
      default: "auto",
    },
    type: { type: "string", value: "TYPE", help: "media type of the contents, for auto" },
    volume: { type: "string", value: "N", help: "store in this volume, by number or name, and ask no other" },
  },
  exits: "3 some files could not be stored · 20 no file or volume · 24 no space · 25 no volume answers",
  examples: [
    "holotype store put --instance /tmp/store samples/*.warc.gz",
    "gzip -dc samples/cabinet-2009.warc.gz | holotype store put --instance /tmp/store --mode compare - --json",
  ],
  async run(args) {
    const files = requireFiles(storePut, args);
    const mode = parseChoice("mode", args.text("mode"), STORE_MODES);
    // A mistake in all names makes no volume.
    const first = files[0]!;
    if (files.every((name) => name !== "-" && nodeDisk.stat(name) === undefined)) {
      throw new ArchiveError("HT_NOT_FOUND", `${first}: no such file`, { file: first });
    }
    using input = new StandardInput();
    // Before anything else: whoever types it should not keep others from the store, and can stop it as usual.
    const typed = files.includes("-") ? input.read() : undefined;
    const target = instancePath(storePut, args);
    if (!isConnector(target)) makeFolderFor(target, await accessOfNames(files));
    await using instance = await openTarget(storePut, args, { create: true });
    const named = args.text("volume");
    const volume = named === undefined ? undefined : instance.numberOf(named);
    const options = { mode, volume, compression: args.text("compression"), contentType: args.text("type") };
    using interruption = new Interruption("stopped; contents whose keys were printed are stored");
    const skipped: { readonly name: string; readonly error: ArchiveError }[] = [];
    const skip = (name: string, error: unknown) => {
      if (!(error instanceof ArchiveError)) throw error;
      skipped.push({ name, error });
    };
    const taken: string[] = [];
    function* items(): Generator<StoreItem> {
      for (const name of files) {
        if (interruption.isStopped) return;
        try {
          const content = name === "-" ? typed! : readContent(name);
          taken.push(name);
          yield { content, ...options };
        } catch (error) {
          skip(name, error);
        }
      }
    }
    const tellProgress = progressTeller(args.flag("json"), "storing");
    let answered = 0;
    for await (const answer of instance.storeAll(items())) {
      const name = taken[answered++]!;
      if ("error" in answer) skip(name, answer.error);
      else report(formatResult(name, answer.stored, args));
      tellProgress(answered, files.length);
    }
    if (interruption.isStopped) return 130;
    // Where nothing at all could be stored, the reason is the exit code.
    if (skipped.length === files.length) throw skipped[0]!.error;
    for (const each of skipped) tellSkipped(each, args.flag("json"));
    return skipped.length > 0 ? 3 : 0;
  },
};

function formatResult(file: string, { key, ...stored }: StoreResult, args: Arguments): string {
  const text = formatContentKey(key);
  return args.flag("json") ? `${JSON.stringify({ file, key: text, ...stored })}\n` : `${text}\n`;
}
