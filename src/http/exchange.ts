/** What became of a request: an answer, whole or cut, or a failure that left nothing to record. */
import type { Framing, HttpHead } from "../warc/index.ts";
import type { FailureCode } from "./failures.ts";
import type { Flaw } from "./flaws.ts";
import type { MessageEnd } from "./message-framer.ts";

interface ExchangeFacts {
  /** As it was asked, normalised. */
  readonly url: string;
  readonly method: string;
  /** The request, byte for byte as it was sent: the block of a request record. Empty where the URL is not one. */
  readonly request: Buffer;
  /** When the exchange began, before the host name was resolved. Milliseconds since 1970, as the others. */
  readonly startMs: number;
  readonly endMs: number;
  /** Of the server. Absent where there was no connection. */
  readonly remoteAddress: string | undefined;
}

/** At least one byte of an answer came. Its raw bytes went to the sink; together they are the block of a record. */
export interface Answer extends ExchangeFacts {
  readonly kind: "answer";
  /** When the first byte came, of an interim answer too. */
  readonly firstByteMs: number;
  readonly remoteAddress: string;
  /** As WARC-Protocol names them: the version of the answer (`http/1.1`), and that of TLS (`tls/1.3`) if any. */
  readonly protocols: readonly string[];
  /** As `parseHttpHead` reads it from the record. Absent where there is none (HTTP/0.9). */
  readonly head: HttpHead | undefined;
  /** Bytes of header and body as they came; without interim answers. */
  readonly rawSize: number;
  /** Bytes of the body with chunks undone. */
  readonly entitySize: number;
  /** How the body really came, whatever the header says: as `scanRecord` finds it in the record. */
  readonly framing: Framing;
  readonly end: MessageEnd;
  /** In the order in which they were noticed. */
  readonly flaws: readonly Flaw[];
  /** Interim answers (1xx) that were skipped. */
  readonly interimCount: number;
  /** The request went over a connection that had served another before. */
  readonly isReused: boolean;
}

/** No byte of an answer came: there is nothing to record but a line in the log. */
export interface Failure extends ExchangeFacts {
  readonly kind: "failure";
  readonly code: FailureCode;
  /** Heritrix's code for it, a negative number: what the crawl.log has for a status. */
  readonly status: number;
  /** For people. */
  readonly message: string;
}

export type ExchangeResult = Answer | Failure;
