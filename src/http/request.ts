/** A request, and its exact bytes: those that are sent are those that are recorded. */
import { ArchiveError } from "../base/index.ts";
import { encodeText } from "../warc/index.ts";

export interface HttpRequest {
  /** Default GET. */
  readonly method?: string | undefined;
  /** Absolute, http or https; a fragment is not sent. User and password in it are not sent either. */
  readonly url: string | URL;
  /** In the order in which they are sent. `Host` comes first where it is missing, `Content-Length` last. */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  readonly body?: Uint8Array | undefined;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const NO_VALUE = /[\0\r\n]/;

/** Throws HT_USAGE where the method or a header line would not be one. */
export function encodeRequest({ method = "GET", url, headers = [], body }: HttpRequest): Buffer {
  const { host, pathname, search } = typeof url === "string" ? new URL(url) : url;
  if (!TOKEN.test(method)) throw new ArchiveError("HT_USAGE", `not a method: ${JSON.stringify(method)}`);
  let hasHost = false;
  let hasLength = false;
  let lines = "";
  for (const [name, value] of headers) {
    if (!TOKEN.test(name) || NO_VALUE.test(value)) {
      throw new ArchiveError("HT_USAGE", `not a header line: ${JSON.stringify(`${name}: ${value}`)}`);
    }
    const lowerName = name.toLowerCase();
    hasHost ||= lowerName === "host";
    hasLength ||= lowerName === "content-length" || lowerName === "transfer-encoding";
    lines += `${name}: ${value}\r\n`;
  }
  const first = hasHost ? "" : `Host: ${host}\r\n`;
  const last = body === undefined || hasLength ? "" : `Content-Length: ${body.length}\r\n`;
  const head = Buffer.from(
    encodeText(`${method} ${pathname}${search} HTTP/1.1\r\n${first}${lines}${last}\r\n`),
    "latin1",
  );
  return body === undefined ? head : Buffer.concat([head, body]);
}

/** May be asked twice without harm. */
export function isRepeatable(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
