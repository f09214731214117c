/**
 * Work that is done record by record over many files: listing, checking, indexing, making a manifest. A task turns each
 * record into text; running it over files, in order, on one thread or several, is the business of `run.ts`.
 */
import type { Warning } from "../base/index.ts";
import type { WarcRecord } from "../warc/index.ts";
import type { CdxOptions } from "./cdx-index.ts";
import type { CheckOptions } from "./check.ts";
import type { ListingOptions } from "./listing.ts";
import type { ManifestOptions } from "./manifest.ts";
import type { FactsOptions } from "./record-facts.ts";
import type { VerifyTaskOptions } from "./verify/task.ts";

export interface RecordTask {
  /** Nothing may be forgiven: the accelerator, which is less strict about broken tables, is not used. */
  readonly exact?: boolean;
  /** The CRC-32 of inputs that have one is compared. */
  readonly checksInput?: boolean;
  /** Called before the first record of each file. */
  beginFile?(name: string): void;
  /** The text for a record, with its line ends; empty for none. What is wrong with the record goes to `warn`. */
  record(record: WarcRecord, warn: (warning: Warning) => void): string;
  /** The text that is left behind the last record of a file, or of the part of it that was asked for. */
  endFile?(): string;
}

/** Plain data, so that it can be sent to a worker thread. */
export type TaskRequest =
  | { readonly kind: "listing"; readonly options: ListingOptions }
  | { readonly kind: "check"; readonly options: CheckOptions }
  | { readonly kind: "captures" }
  | { readonly kind: "cdx"; readonly options: CdxOptions }
  | { readonly kind: "manifest"; readonly options: ManifestOptions }
  | { readonly kind: "facts"; readonly options: FactsOptions }
  | { readonly kind: "verify"; readonly options: VerifyTaskOptions };

/** Loads the one task that is asked for: each thread starts with this. */
export async function createTask(request: TaskRequest): Promise<RecordTask> {
  switch (request.kind) {
    case "listing":
      return await (await import("./listing.ts")).createListing(request.options);
    case "check":
      return await (await import("./check.ts")).createCheck(request.options);
    case "captures":
      return await (await import("./capture-line.ts")).createCaptureTask();
    case "cdx":
      return (await import("./cdx-index.ts")).createCdxTask(request.options);
    case "manifest":
      return await (await import("./manifest.ts")).createManifest(request.options);
    case "facts":
      return (await import("./record-facts.ts")).createFactsTask(request.options);
    case "verify":
      return await (await import("./verify/task.ts")).createVerifyTask(request.options);
  }
}
