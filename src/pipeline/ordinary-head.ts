/** Which headers of records every reader of WARC files understands. */
import { COMMON_HEAD_SIZE_MAX } from "../warc/index.ts";

/**
 * A header that npm warcio, Python warcio, FastWARC and jwarc all read: tried with each of them. A version, lines of names
 * and values that may be folded, and one Content-Length, which one of them finds in this spelling only.
 */
const ORDINARY =
  /^WARC\/1\.[01]\r\n(?:[!#$%&'*+\-.^`|~\w]+:[\t -~\x80-\xff]*\r\n(?:[ \t][\t -~\x80-\xff]*\r\n)*)*\r\n$/;

/** Whether other readers do not stop at a record with this header. */
export function isOrdinaryHead(head: string): boolean {
  const at = head.indexOf("\nContent-Length:");
  return (
    at >= 0 &&
    head.length <= COMMON_HEAD_SIZE_MAX &&
    ORDINARY.test(head) &&
    head.toLowerCase().lastIndexOf("\ncontent-length:") === at
  );
}
