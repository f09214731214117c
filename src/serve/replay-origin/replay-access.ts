/** What the pages know of replay: where it is, what collections are called there, and whether its worker is installed. */
import { type OriginSettings, Origins } from "./origins.ts";
import { ReplayNames } from "./replay-names.ts";

export class ReplayAccess {
  readonly origins: Origins;
  readonly names: ReplayNames;
  /** Whether archived scripts can run; otherwise there is the static view. */
  readonly hasWorker: boolean;

  /** `secret` is of this run of the server, and known to nobody else. */
  constructor(settings: OriginSettings & { readonly hasWorker: boolean }, secret: Uint8Array) {
    this.origins = new Origins(settings);
    this.names = new ReplayNames(secret);
    this.hasWorker = settings.hasWorker;
  }
}
