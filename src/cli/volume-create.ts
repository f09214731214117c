import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import {
  createVolume,
  SIGNATURE_ALGORITHMS,
  TREE_DEPTH_DEFAULT,
  TREE_DEPTH_MAX,
  VOLUME_LAYOUTS,
} from "../store/index.ts";
import { type Arguments, type Command, type OptionSpecs, parseChoice, parseCount } from "./command.ts";
import { requireFolder } from "./volume-option.ts";

export const CREATE_OPTIONS: OptionSpecs = {
  layout: { type: "string", value: "NAME", help: "pack (WARC segments) or tree (a file a block)", default: "pack" },
  signature: { type: "string", value: "NAME", help: "sha256, sha1 or rabin64", default: "sha256" },
  depth: {
    type: "string",
    value: "N",
    help: "of a tree: folders above a block, and one",
    default: `${TREE_DEPTH_DEFAULT}`,
  },
  "read-only": { type: "boolean", help: "takes no new contents from the start" },
};

export function createFrom(folder: string, args: Arguments) {
  return createVolume(nodeDisk, folder, {
    layout: parseChoice("layout", args.text("layout"), VOLUME_LAYOUTS),
    signature: parseChoice("signature", args.text("signature"), SIGNATURE_ALGORITHMS),
    treeDepth: parseCount("depth", args.text("depth") ?? "", 1, TREE_DEPTH_MAX),
    state: args.flag("read-only") ? "read-only" : "writable",
  });
}

export const volumeCreate: Command = {
  name: "volume create",
  purpose: "Make an empty volume: a folder that holds blocks of the content store.",
  usage: "DIR",
  details: `A pack volume is a folder of WARC files with an index that is made from them; it is the faster one. A tree volume has
a file for each block, in folders named by its signature. The signature is what duplicates are found by; it cannot be
changed later, and all volumes of a store have the same one.`,
  options: CREATE_OPTIONS,
  examples: ["holotype volume create /tmp/volume", "holotype volume create /tmp/tree --layout tree --depth 2 --json"],
  run(args) {
    const folder = requireFolder(volumeCreate, args);
    const settings = createFrom(folder, args);
    const { id, layout, signature, state, treeDepth } = settings;
    writeStandardOutput(
      args.flag("json")
        ? `${JSON.stringify({ folder, ...settings })}\n`
        : `${folder}: a new ${layout} volume${layout === "tree" ? ` of depth ${treeDepth}` : ""}, ${state}, signatures ${signature}, id ${id}\n`,
    );
    return Promise.resolve(0);
  },
};
