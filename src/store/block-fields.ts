/**
 * The header fields of a block as a WARC record, in the segments of a pack volume and between client and server. See
 * docs/format/pack-volume.md and docs/protocol/bulk.md.
 */
export const BlockField = {
  /** The algorithm and the signature: `sha256:ADEE…`. */
  signature: "Holotype-Signature",
  /** Absent for 0. */
  overflow: "Holotype-Overflow",
  compression: "Holotype-Compression",
  /** Of the content; Content-Length is that of the stored bytes. */
  size: "Holotype-Size",
  /** The counter right after. */
  references: "Holotype-References",
  request: "Holotype-Request",
  mode: "Holotype-Mode",
  /** In segments: the order in which things happened, whatever the order of the files. */
  sequence: "Holotype-Sequence",
  /** In segments, the last field: the CRC-32 of all bytes of the header before it, in hex. */
  checksum: "Holotype-Checksum",
  /** Content keys that lead here since a migration, separated by spaces. */
  former: "Holotype-Former-Keys",
} as const;

/** The target URI of a block's record, which is its address as a URN. */
export const BLOCK_URI_PREFIX = "urn:holotype:block:";
