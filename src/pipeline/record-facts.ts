/**
 * Everything about a record that an archive has to know before it takes it in, as one line of JSON: what it is, what its
 * payload is, whether its header tells the truth about that, and what a revisit would need to stand for it.
 */
import { formatDigest, isDamage, parseDigest, type Warning } from "../base/index.ts";
import {
  type Framing,
  judgeDigest,
  mediaType,
  parseHttpHead,
  parseProfile,
  type RevisitProfile,
  refersToOf,
  scanRecord,
  unbracket,
  type WarcRecord,
} from "../warc/index.ts";
import { arcLineOf, derivedId } from "./arc-conversion.ts";
import { parseReplaced } from "./restore/record.ts";
import { examineRecord } from "./reversal.ts";
import type { RecordTask } from "./task.ts";

/** What a record that answers for a URL held. */
export interface CaptureFacts {
  /** Of the payload, in hex; absent for a revisit. */
  readonly sha256?: string | undefined;
  readonly payloadSize?: number | undefined;
  readonly status?: number | undefined;
  readonly mime?: string | undefined;
  readonly framing?: Framing | undefined;
  /** Where a redirect leads, as the HTTP header has it. */
  readonly location?: string | undefined;
  /** The digest in the header, in our form; absent where there is none that can be read. */
  readonly claim?: string | undefined;
  /** The digest in the header is not that of the payload. */
  readonly lies?: boolean | undefined;
  /** The digest in the header holds for the chunked body as it is stored only. */
  readonly claimsStored?: boolean | undefined;
  /** What a revisit has to carry so that the record can be put together again; absent where it cannot be. */
  readonly replaced?: { readonly digest: string; readonly chunks?: string | undefined } | undefined;
  readonly truncated?: boolean | undefined;
  readonly segmented?: boolean | undefined;
  /** A revisit that we wrote in the place of a record, and that tells how to put it together again. */
  readonly isOurs?: boolean | undefined;
  /** Of a revisit. */
  readonly profile?: RevisitProfile | "unknown" | undefined;
  readonly refersTo?: { readonly uri?: string; readonly date?: string; readonly id?: string } | undefined;
}

export interface RecordFacts {
  readonly offset: number;
  /** Absent where the record shares its member with others. */
  readonly length?: number | undefined;
  readonly inner?: number | undefined;
  readonly type: string;
  readonly isArc?: boolean | undefined;
  /** Of an ARC record: the one it gets when it is converted. */
  readonly id?: string | undefined;
  readonly uri?: string | undefined;
  /** As the record has it. */
  readonly date?: string | undefined;
  readonly timeMs?: number | undefined;
  /** Ids of records that belong with this one. */
  readonly with?: readonly string[] | undefined;
  /** It is cut off or cannot be read to its end. */
  readonly damaged?: boolean | undefined;
  readonly capture?: CaptureFacts | undefined;
}

const CAPTURE_TYPES = new Set(["response", "resource", "revisit"]);

export function createFactsTask(): RecordTask {
  let name = "";
  return {
    beginFile(file) {
      name = file.replace(/^.*[/!]/, "");
    },
    record: (record, warn) => `${JSON.stringify(factsOf(record, name, warn))}\n`,
  };
}

/** Reads the record to its end. `name` is that of its file, without folders. */
export function factsOf(record: WarcRecord, name: string, warn: (warning: Warning) => void): RecordFacts {
  const { type, arc, offset, inner } = record;
  const capture = CAPTURE_TYPES.has(type) ? captureOf(record, warn) : undefined;
  record.drain();
  const companions = [...record.headers.all("warc-concurrent-to"), ...(capture ? [] : refersTo(record))];
  return {
    offset,
    length: record.length,
    inner,
    type,
    isArc: arc === undefined ? undefined : true,
    id: arc === undefined ? record.id : arcId(record, name),
    uri: record.uri,
    date: record.dateText,
    timeMs: record.timeMs,
    with: companions.length === 0 ? undefined : companions.map((id) => unbracket(id)!),
    damaged: record.warnings.some(isDamage) ? true : undefined,
    capture,
  };
}

function refersTo(record: WarcRecord): string[] {
  const id = record.headers.get("warc-refers-to");
  return id === undefined ? [] : [id];
}

function arcId(record: WarcRecord, name: string): string {
  return unbracket(derivedId(name, String(record.offset), String(record.inner ?? 0), arcLineOf(record)))!;
}

function captureOf(record: WarcRecord, warn: (warning: Warning) => void): CaptureFacts {
  if (record.type === "revisit") return revisitOf(record);
  const claim = record.payloadDigest === undefined ? undefined : parseDigest(record.payloadDigest);
  const shared = {
    claim: claim === undefined ? undefined : formatDigest(claim),
    truncated: record.truncated === undefined ? undefined : true,
    segmented: record.segmented ? true : undefined,
  };
  if (record.arc !== undefined) {
    const scan = scanRecord(record, { payload: ["sha256"] });
    return { ...shared, ...held(record, scan) };
  }
  const { scan, replaced, storedDigest, payloadDigest } = examineRecord(record, { also: "sha256" });
  for (const finding of scan.findings) warn({ ...finding, file: record.file, offset: record.offset });
  const verdict = judgeDigest(record.payloadDigest, scan);
  return {
    ...shared,
    ...held(record, { ...scan, payloadDigests: [payloadDigest!] }),
    lies: verdict === "mismatch" ? true : undefined,
    claimsStored: storedDigest === undefined ? undefined : true,
    replaced: replaced && { digest: formatDigest(replaced.digest), chunks: replaced.chunks },
  };
}

function held(record: WarcRecord, scan: ReturnType<typeof scanRecord>): CaptureFacts {
  const { http, payloadDigests, payloadSize, framing } = scan;
  return { sha256: payloadDigests[0]!.hex, payloadSize, framing, ...httpFacts(record, http) };
}

function httpFacts(record: WarcRecord, http: ReturnType<typeof parseHttpHead>): CaptureFacts {
  const status = http?.status;
  return {
    status,
    mime: http === undefined ? record.blockType || undefined : mediaType(http.headers.get("content-type")),
    location: status !== undefined && status >= 300 && status < 400 ? http?.headers.get("location") : undefined,
  };
}

/** A revisit holds no payload: its digest is a claim, and its block the HTTP header of what it stands for, or nothing. */
function revisitOf(record: WarcRecord): CaptureFacts {
  const claim = record.payloadDigest === undefined ? undefined : parseDigest(record.payloadDigest);
  const { uri, date, id } = refersToOf(record) ?? {};
  const whole = record.block !== undefined;
  const first = record.read() ?? new Uint8Array(0);
  const http = parseHttpHead(first, 0, first.length, whole);
  const told = http === undefined ? {} : httpFacts(record, http);
  return {
    ...told,
    claim: claim === undefined ? undefined : formatDigest(claim),
    isOurs: parseReplaced(record.headers.text) === undefined ? undefined : true,
    profile: parseProfile(record.headers.get("warc-profile")) ?? "unknown",
    refersTo: {
      ...(uri === undefined ? {} : { uri }),
      ...(date === undefined ? {} : { date }),
      ...(id === undefined ? {} : { id }),
    },
  };
}
