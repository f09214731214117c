/**
 * The records of one capture: the response, or the revisit that stands for it, and the request that led to it. Blocks are
 * the bytes of the wire, unchanged. It obeys docs/format/revisit.md.
 */
import { type Digest, digestOf, formatDigest, formatIso, type Random } from "../base/index.ts";
import {
  bracketed,
  encodeHead,
  type Framing,
  type HttpHead,
  type OriginalReference,
  profileUri,
  type RevisitProfile,
} from "../warc/index.ts";
import type { GroupWriter, SeriesPlace } from "./warc-series.ts";
import type { WireSpool } from "./wire-spool.ts";

/** The words of WARC-Truncated that a capture may need. */
export type TruncatedReason = "length" | "time" | "disconnect" | "unspecified";

/** An answer as it came from the wire, and what was found out about it on the way. */
export interface WireCapture {
  readonly uri: string;
  /** When the request was sent. */
  readonly timeMs: number;
  readonly address: string | undefined;
  /** `http/1.1`, `tls/1.3`. */
  readonly protocols: readonly string[];
  readonly request: Uint8Array;
  /** The answer, header and body. */
  readonly answer: WireSpool;
  /** Absent where the answer has none: it is kept as a resource then. */
  readonly head: HttpHead | undefined;
  readonly framing: Framing;
  readonly payloadSize: number;
  /** Of the payload: one per algorithm, the one that is written first. */
  readonly payloadDigests: readonly Digest[];
  readonly blockDigest: Digest;
  readonly truncated: TruncatedReason | undefined;
}

/**
 * A capture that was not made: the header of the answer says that nothing has changed, and the body was not read. No tool
 * knows this profile, so none takes such a record for an observation.
 */
export const PREDICTED_PROFILE_URI = "urn:holotype:revisit:predicted-unchanged";

/** What stands in the place of the response. */
export interface RevisitPlan {
  readonly profile: RevisitProfile | "predicted-unchanged";
  readonly original: OriginalReference;
  /** Of the original; absent for a prediction, which has seen no payload. */
  readonly payloadDigest: string | undefined;
}

export interface WrittenCapture extends SeriesPlace {
  /** Of the response or revisit, without brackets. */
  readonly id: string;
  readonly date: string;
}

type Fields = (readonly [name: string, value: string])[];

const VERSION = "WARC/1.1";
const RESPONSE_TYPE = "application/http; msgtype=response";
const REQUEST_TYPE = "application/http; msgtype=request";
/** Nothing is known of the type of an answer without a header. */
const RESOURCE_TYPE = "application/octet-stream";

/** Writes the response, or in its place a revisit; and the request behind it. */
export function writeCapture(
  group: GroupWriter,
  capture: WireCapture,
  revisit: RevisitPlan | undefined,
  random: Random,
): WrittenCapture {
  const id = `urn:uuid:${random.uuid()}`;
  const date = formatIso(capture.timeMs);
  const common = commonFields(group, capture, date);
  const place =
    revisit === undefined ? writeAnswer(group, capture, id, common) : writeRevisit(group, capture, id, common, revisit);
  const { request } = capture;
  const head = encodeHead(VERSION, [
    ["WARC-Type", "request"],
    ["WARC-Record-ID", `<urn:uuid:${random.uuid()}>`],
    ...common,
    ["WARC-Concurrent-To", `<${id}>`],
    ["Content-Type", REQUEST_TYPE],
    ["WARC-Block-Digest", formatDigest(digestOf("sha1", request))],
    ["Content-Length", String(request.length)],
  ]);
  group.write(head, [request]);
  return { ...place, id, date };
}

function commonFields({ warcinfoId }: GroupWriter, { uri, address, protocols }: WireCapture, date: string): Fields {
  return [
    ["WARC-Date", date],
    ["WARC-Target-URI", uri],
    ["WARC-Warcinfo-ID", warcinfoId],
    ...(address === undefined ? [] : [["WARC-IP-Address", address] as const]),
    ...protocols.map((protocol) => ["WARC-Protocol", protocol] as const),
  ];
}

function writeAnswer(group: GroupWriter, capture: WireCapture, id: string, common: Fields): SeriesPlace {
  const { head, answer, payloadDigests, blockDigest, truncated } = capture;
  const fields: Fields = [
    ["WARC-Type", head === undefined ? "resource" : "response"],
    ["WARC-Record-ID", `<${id}>`],
    ...common,
    ["Content-Type", head === undefined ? RESOURCE_TYPE : RESPONSE_TYPE],
    ["WARC-Payload-Digest", formatDigest(payloadDigests[0]!)],
    ["WARC-Block-Digest", formatDigest(blockDigest)],
    ...(truncated === undefined ? [] : [["WARC-Truncated", truncated] as const]),
    ["Content-Length", String(answer.size)],
  ];
  return group.write(encodeHead(VERSION, fields), answer.pieces());
}

function writeRevisit(
  group: GroupWriter,
  capture: WireCapture,
  id: string,
  common: Fields,
  { profile, original, payloadDigest }: RevisitPlan,
): SeriesPlace {
  const block = Buffer.from(capture.head?.text ?? "", "latin1");
  const fields: Fields = [
    ["WARC-Type", "revisit"],
    ["WARC-Record-ID", `<${id}>`],
    ...common,
    ["Content-Type", RESPONSE_TYPE],
    ["WARC-Profile", profile === "predicted-unchanged" ? PREDICTED_PROFILE_URI : profileUri(profile, VERSION)],
    ...(original.id === undefined ? [] : [["WARC-Refers-To", `<${original.id}>`] as const]),
    ["WARC-Refers-To-Target-URI", bracketed(original.uri)],
    ["WARC-Refers-To-Date", original.date],
    ...(payloadDigest === undefined ? [] : [["WARC-Payload-Digest", payloadDigest] as const]),
    ["WARC-Block-Digest", formatDigest(digestOf("sha1", block))],
    ["WARC-Truncated", "length"],
    ["Content-Length", String(block.length)],
  ];
  return group.write(encodeHead(VERSION, fields), [block]);
}
