/** A volume with what its server knows about it: what every kind of request is answered from. */
import { ArchiveError, type Random } from "../base/index.ts";
import { IdleSignal, type Log, Metrics } from "../http/index.ts";
import type { RecordStamp, SignatureAlgorithm, StoreReceipt, Volume } from "../store/index.ts";
import type { Exchange } from "./exchange.ts";
import type { ServerLimits } from "./limits.ts";

export interface ServiceParts {
  readonly volume: Volume;
  readonly algorithm: SignatureAlgorithm;
  readonly limits: ServerLimits;
  readonly log: Log;
  readonly stamp: RecordStamp;
  readonly random: Random;
}

export class VolumeService {
  readonly volume: Volume;
  readonly algorithm: SignatureAlgorithm;
  readonly limits: ServerLimits;
  readonly log: Log;
  readonly stamp: RecordStamp;
  readonly metrics = new Metrics();
  /** Requests that are not answered yet. */
  readonly underWay = new Set<Exchange>();
  countConnections = () => 0;
  isDraining = false;
  isCompacting = false;
  /** Nothing is under way any more, and the volume is about to change nothing. */
  readonly idle = new IdleSignal(() => this.underWay.size === 0 && this.changing === 0);
  /** Changes that the volume is about to make. */
  private changing = 0;
  private heldBytes = 0;
  /** Tells this run of the server from others: what was counted in one says nothing in the next. */
  private readonly run: string;
  /** Blocks that came or went. */
  private changes = 0;

  constructor(parts: ServiceParts) {
    this.volume = parts.volume;
    this.algorithm = parts.algorithm;
    this.limits = parts.limits;
    this.log = parts.log;
    this.stamp = parts.stamp;
    this.run = parts.random.uuid();
  }

  /** A change must have ended when the volume is closed, whether or not somebody still waits for its answer. */
  track<T>(change: Promise<T>): Promise<T> {
    this.changing++;
    const ended = () => {
      this.changing--;
      this.idle.tell();
    };
    change.then(ended, ended);
    return change;
  }

  /** Takes memory for a body, for as long as the exchange lasts; HT_BUSY where too much is taken. */
  hold(exchange: Exchange, bytes: number): void {
    if (this.heldBytes > 0 && this.heldBytes + bytes > this.limits.heldSizeMaxBytes) {
      throw new ArchiveError("HT_BUSY", "too much is being received at the moment");
    }
    this.heldBytes += bytes;
    exchange.heldBytes += bytes;
  }

  release(exchange: Exchange): void {
    this.heldBytes -= exchange.heldBytes;
    exchange.heldBytes = 0;
  }

  /**
   * Names the set of signatures that are there: the same as long as no block came or went. To be asked for before the
   * signatures are, so that what comes meanwhile changes it.
   */
  get filterTag(): string {
    return `"${this.run}-${this.changes}"`;
  }

  /** To be called before a change is acknowledged. */
  noteReceipt(receipt: StoreReceipt): void {
    if (receipt.outcome === "new") this.changes++;
  }

  noteRemoval(references: number): void {
    if (references === 0) this.changes++;
  }
}
