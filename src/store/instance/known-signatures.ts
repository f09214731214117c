/**
 * What a client knows of the signatures in a volume: the volume's filter, as of a while ago, and what this client itself
 * stored there since. That it is out of date costs a question in vain, or a content that is stored in two volumes; a
 * volume always looks for itself before it makes a block.
 */
import type { Clock } from "../../base/index.ts";
import type { SignatureFilter } from "../signature-filter.ts";

/** Who stores a few contents asks; who stores many takes the filter first. */
const LOOKUPS_BEFORE_FETCH = 8;
const REFRESH_MS = 30_000;
/** A large filter is fetched less often, so that it takes no more than this of the way to the volume. */
const BYTES_PER_SECOND = 100_000;
const BITS_EACH = 10;
/** With so many of its own, a client asks for the filter earlier; and with so many, it forgets further ones. */
const OWN_MANY = 16_384;
const OWN_MAX = 262_144;

export class KnownSignatures {
  private readonly fetch: () => Promise<SignatureFilter>;
  private readonly clock: Clock;
  private filter: SignatureFilter | undefined;
  /** Stored by this client since the filter was asked for; and before, while a new one is on its way. */
  private own = new Set<string>();
  private earlier: ReadonlySet<string> = new Set();
  private lookups = 0;
  private refreshAtMs = 0;
  private fetching: Promise<void> | undefined;

  /** `fetch` may reject: then what is known stays as it is, for a while. */
  constructor(fetch: () => Promise<SignatureFilter>, clock: Clock) {
    this.fetch = fetch;
    this.clock = clock;
  }

  /** True where nothing is known. */
  mayHave(signature: string): boolean {
    if (++this.lookups >= LOOKUPS_BEFORE_FETCH && this.clock.now() >= this.refreshAtMs) void this.refresh();
    if (this.filter === undefined) return true;
    return this.own.has(signature) || this.earlier.has(signature) || this.filter.mayHave(signature);
  }

  add(signature: string): void {
    if (this.own.size < OWN_MAX) this.own.add(signature);
    if (this.own.size === OWN_MANY) this.refreshAtMs = 0;
  }

  /** Fetches the filter; resolves when it is there, or cannot be had. */
  refresh(): Promise<void> {
    this.fetching ??= this.refreshNow().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  private async refreshNow(): Promise<void> {
    this.earlier = this.own;
    this.own = new Set();
    let intervalMs = REFRESH_MS;
    try {
      this.filter = await this.fetch();
      const bytes = (this.filter.capacity * BITS_EACH) / 8;
      intervalMs = Math.max(intervalMs, (bytes / BYTES_PER_SECOND) * 1000);
    } catch {
      // Whoever asks the volume next will hear why; a filter that is old still serves.
      this.own = new Set([...this.earlier, ...this.own]);
    }
    this.earlier = new Set();
    this.refreshAtMs = this.clock.now() + intervalMs;
    this.lookups = 0;
  }
}
