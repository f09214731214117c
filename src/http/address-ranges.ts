/** The ranges of addresses that no public server has, in every form in which IPv6 can carry those of IPv4. */
import { BlockList, isIPv4, isIPv6 } from "node:net";
import { ArchiveError } from "../base/index.ts";

/** After the registries of special-purpose addresses at IANA, and RFC 6890. */
const RESERVED_IPV4 = [
  "0.0.0.0/8", // this network, unspecified
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, metadata services of clouds
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
];

/** Everything outside of 2000::/3 and the well-known NAT64 prefix, and what is special inside. */
const RESERVED_IPV6 = [
  "::/3", // unspecified, loopback, IPv4-compatible, local NAT64, discard; mapped and NAT64 forms are judged as IPv4
  "2001::/23", // protocol assignments, Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "3fff::/20", // documentation
  "4000::/2",
  "8000::/1", // unique local, link-local, site-local, multicast, unassigned
];

const MAPPED_SIZE = 96;
const SIX_TO_FOUR_SIZE = 16;

interface Range {
  readonly address: string;
  readonly size: number;
}

/** Throws HT_USAGE where the text is not `ADDRESS/BITS` or an address. */
function parseRange(text: string): Range {
  const [address = "", bits, more] = text.split("/");
  const sizeMax = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1;
  const size = bits === undefined ? sizeMax : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  if (more !== undefined || size < 0 || size > sizeMax) {
    throw new ArchiveError("HT_USAGE", `not a range of addresses such as 10.0.0.0/8: ${JSON.stringify(text)}`);
  }
  return { address, size };
}

/** A set of ranges; one of IPv4 stands for its mapped (::ffff:), NAT64 (64:ff9b::) and 6to4 (2002:) forms too. */
export class AddressRanges {
  private readonly list = new BlockList();

  constructor(ranges: readonly string[]) {
    for (const text of ranges) this.add(parseRange(text));
  }

  private add({ address, size }: Range): void {
    if (isIPv6(address)) {
      this.list.addSubnet(address, size, "ipv6");
      return;
    }
    const hex = address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"));
    this.list.addSubnet(address, size, "ipv4");
    this.list.addSubnet(`::ffff:${address}`, MAPPED_SIZE + size, "ipv6");
    this.list.addSubnet(`64:ff9b::${address}`, MAPPED_SIZE + size, "ipv6");
    this.list.addSubnet(`2002:${hex[0]}${hex[1]}:${hex[2]}${hex[3]}::`, SIX_TO_FOUR_SIZE + size, "ipv6");
  }

  has(address: string): boolean {
    return this.list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
  }
}

const IPV4_RESERVED = new AddressRanges(RESERVED_IPV4);
const IPV6_RESERVED = new AddressRanges(RESERVED_IPV6);
/** Within `::/3`, and judged by the IPv4 addresses that they carry. */
const CARRIERS = new AddressRanges(["::ffff:0:0/96", "64:ff9b::/96"]);

/** Whether no public server can have this address. Anything that is not an address counts as reserved. */
export function isReserved(address: string): boolean {
  if (isIPv4(address)) return IPV4_RESERVED.has(address);
  if (!isIPv6(address) || IPV4_RESERVED.has(address)) return true;
  return !CARRIERS.has(address) && IPV6_RESERVED.has(address);
}
