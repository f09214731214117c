/** A response that was split over three records, as their bytes. */
import { digestOf, formatDigest } from "../base/index.ts";
import { noise } from "./capture-text.ts";

export const SEGMENTED_URL = "http://long.example/film";
export const SEGMENTED_PAYLOAD = noise("a film", 9000);
export const SEGMENTED_HEAD = `HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: ${SEGMENTED_PAYLOAD.length}\r\n\r\n`;
const BLOCK = Buffer.concat([Buffer.from(SEGMENTED_HEAD), SEGMENTED_PAYLOAD]);
export const SEGMENTED_ID = "urn:uuid:11111111-0000-4000-8000-000000000001";

function record(fields: readonly string[], block: Buffer): Buffer {
  const lines = ["WARC/1.1", ...fields, `WARC-Target-URI: ${SEGMENTED_URL}`, `Content-Length: ${block.length}`];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), block, Buffer.from("\r\n\r\n")]);
}

/** `digest` is that of the payload in the header of the first. */
export function segments(digest = formatDigest(digestOf("sha1", SEGMENTED_PAYLOAD))): [Buffer, Buffer, Buffer] {
  const [first, second, third] = [BLOCK.subarray(0, 3000), BLOCK.subarray(3000, 6000), BLOCK.subarray(6000)];
  const later = (number: number) => [
    "WARC-Type: continuation",
    `WARC-Record-ID: <urn:uuid:11111111-0000-4000-8000-00000000000${number}>`,
    "WARC-Date: 2020-01-01T00:00:00Z",
    `WARC-Segment-Origin-ID: <${SEGMENTED_ID}>`,
    `WARC-Segment-Number: ${number}`,
  ];
  return [
    record(
      [
        "WARC-Type: response",
        `WARC-Record-ID: <${SEGMENTED_ID}>`,
        "WARC-Date: 2020-01-01T00:00:00Z",
        "WARC-Segment-Number: 1",
        `WARC-Payload-Digest: ${digest}`,
        "Content-Type: application/http; msgtype=response",
      ],
      first,
    ),
    record(later(2), second),
    record([...later(3), `WARC-Segment-Total-Length: ${BLOCK.length}`], third),
  ];
}
