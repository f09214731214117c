/**
 * Keeps requests from servers that the public cannot reach: a host name is resolved once, addresses that are private,
 * loopback, link-local or otherwise reserved are refused, and the connection goes to an address that was checked.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { AddressRanges, isReserved } from "./address-ranges.ts";
import { type Trouble, trouble } from "./failures.ts";

/** The addresses of a host name; rejects where there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** As the system resolves it, in the order that it gives. */
export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

/** Some hosts have the addresses given here; `otherwise` resolves all others. Names are in small letters. */
export function resolveWith(
  hosts: ReadonlyMap<string, readonly string[]>,
  otherwise: Resolve = systemResolve,
): Resolve {
  return (hostname) => {
    const addresses = hosts.get(hostname.replace(/\.$/, ""));
    return addresses === undefined ? otherwise(hostname) : Promise.resolve(addresses);
  };
}

export interface AddressGuardOptions {
  /** Ranges that may be reached although they are reserved, such as `127.0.0.0/8`. HT_USAGE where one is none. */
  readonly allow?: readonly string[] | undefined;
  readonly resolve?: Resolve | undefined;
}

export class AddressGuard {
  private readonly allowed: AddressRanges;
  private readonly lookUp: Resolve;

  constructor({ allow = [], resolve = systemResolve }: AddressGuardOptions = {}) {
    this.allowed = new AddressRanges(allow);
    this.lookUp = resolve;
  }

  /** Whether a connection to this address is allowed. */
  permits(address: string): boolean {
    // A zone (`fe80::1%eth0`) names an interface of this machine.
    const bare = address.split("%")[0]!;
    return isIP(bare) !== 0 && (this.allowed.has(bare) || (bare === address && !isReserved(bare)));
  }

  /** The addresses of a host that may be connected to, or why there are none. Takes the `hostname` of a URL. Never rejects. */
  async resolve(hostname: string): Promise<readonly string[] | Trouble> {
    const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    let addresses: readonly string[];
    try {
      addresses = isIP(host) === 0 ? await this.lookUp(host) : [host];
    } catch (cause) {
      return trouble("dns", cause instanceof Error ? cause.message : undefined);
    }
    if (addresses.length === 0) return trouble("dns", host);
    const permitted = addresses.filter((address) => this.permits(address));
    return permitted.length > 0 ? permitted : trouble("address-refused", addresses.slice(0, 4).join(", "));
  }
}
