export * from "./append-log.ts";
export * from "./disk.ts";
export * from "./durable-output.ts";
export { removeLeftovers, removeTree } from "./leftovers.ts";
export { refuseCutLmdb } from "./lmdb-file.ts";
export { nodeDisk } from "./node-disk.ts";
export { partialPath } from "./partial-name.ts";
export * from "./scratch-folder.ts";
export * from "./standard-streams.ts";
