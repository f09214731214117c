export type { RecordCheck } from "./check.ts";
export * from "./inputs.ts";
export { LineSorter, type LineSorterOptions } from "./line-sorter.ts";
export type { RecordListing } from "./listing.ts";
export { MANIFEST_COLUMNS } from "./manifest.ts";
export * from "./orphans.ts";
export { type RunOptions, type RunProgress, type RunSummary, runTask } from "./run.ts";
export type { TaskRequest } from "./task.ts";
