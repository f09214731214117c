/** The validators of a document that is known, as the headers of a conditional request. */
import { parseHttpDate } from "../base/index.ts";
import { type HeaderScheme, isEmptyDigest, type KnownCapture, timeOfDate } from "../dedup/index.ts";

export type Validator = "etag" | "datestamp";

export interface Condition {
  readonly asked: readonly Validator[];
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** An index may have been made from anything: only what a server can have sent is sent back. */
const PLAIN_VALUE = /^[\x20-\x7e\x80-\xff]+$/;
const VALUE_SIZE_MAX = 4096;
/** One tag, quoted or as some servers write it. `*` would fit any content, and of a list nobody knows which one was meant. */
const ONE_TAG = /^(?:W\/)?(?:"[^"]*"|[^\s",*]+)$/;

function isPlain(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== "" && value.length <= VALUE_SIZE_MAX && PLAIN_VALUE.test(value);
}

const WANTED: Readonly<Record<HeaderScheme, readonly Validator[]>> = {
  etag: ["etag"],
  datestamp: ["datestamp"],
  // The server is sent both, and its ETag decides (RFC 9110): it knows best.
  both: ["etag", "datestamp"],
  either: ["etag", "datestamp"],
};

/** Absent where there is nothing to ask with. Values are sent as the server wrote them. */
export function conditionFor(scheme: HeaderScheme, { etag, lastModified }: KnownCapture): Condition | undefined {
  const asked: Validator[] = [];
  const headers: [string, string][] = [];
  for (const validator of WANTED[scheme]) {
    if (validator === "etag" && isPlain(etag) && ONE_TAG.test(etag)) {
      asked.push(validator);
      headers.push(["If-None-Match", etag]);
    }
    if (validator === "datestamp" && isPlain(lastModified) && parseHttpDate(lastModified) !== undefined) {
      asked.push(validator);
      headers.push(["If-Modified-Since", lastModified]);
    }
  }
  return asked.length === 0 ? undefined : { asked, headers };
}

/** Whether a capture that is made now comes after this one, by the second: replay tells no more apart. */
export function isEarlier({ original }: KnownCapture, nowMs: number): boolean {
  const timeMs = timeOfDate(original?.date);
  return timeMs !== undefined && Math.floor(timeMs / 1000) < Math.floor(nowMs / 1000);
}

/** Whether a record may say of this capture that it holds still: it is a document, with a record that can be referred to. */
export function isReferable(known: KnownCapture): boolean {
  const isDocument = (known.status ?? 200) === 200 && known.payloadSize !== 0;
  return isDocument && known.original !== undefined && !known.digests.some((digest) => isEmptyDigest(digest));
}
