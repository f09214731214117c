/**
 * Which records other readers of WARC files stop at: tried with npm warcio, Python warcio, FastWARC and jwarc. What
 * stands after a block is not looked at here.
 */
import { COMMON_HEAD_SIZE_MAX, type WarcRecord } from "../warc/index.ts";
import { isOrdinaryHead } from "./ordinary-head.ts";

/** What a converted ARC record has in its header beside its URL and its line. */
const CONVERTED_SIZE_MAX = 1024;

interface BlockFacts {
  readonly blockSize: number;
  /** The block as WARC holds an HTTP message. */
  readonly isHttp: boolean;
  /** The header of the message; absent where it has none that can be read. */
  readonly httpHead: string | undefined;
}

export function isOddRecord(record: WarcRecord, { blockSize, isHttp, httpHead }: BlockFacts): boolean {
  return !hasOrdinaryHead(record) || (isHttp && blockSize > COMMON_HEAD_SIZE_MAX && !endsInTime(httpHead));
}

function hasOrdinaryHead({ arc, headers }: WarcRecord): boolean {
  const { text } = headers;
  // As WARC its header has the line and once more the URL, and every byte of them may be escaped.
  if (arc !== undefined) return 6 * text.length + CONVERTED_SIZE_MAX <= COMMON_HEAD_SIZE_MAX;
  return isOrdinaryHead(text);
}

/** FastWARC looks for the end of an HTTP header in this form, and gives up the file where none is near. */
function endsInTime(httpHead: string | undefined): boolean {
  return httpHead?.endsWith("\r\n\r\n") === true && httpHead.length <= COMMON_HEAD_SIZE_MAX;
}
