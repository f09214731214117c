/** What the rest of Holotype finds in a response record whose block is a given answer. */
import { digestOf } from "../base/index.ts";
import { bufferSource, type RecordScan, scanRecord, WarcReader, WarcWriter } from "../warc/index.ts";

export interface RecordedAnswer extends RecordScan {
  readonly payload: Buffer;
}

export function recordedAnswer(block: Uint8Array): RecordedAnswer {
  const parts: Buffer[] = [];
  const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) }, { compression: "none" });
  writer.write({
    fields: [
      ["WARC-Type", "response"],
      ["WARC-Target-URI", "http://x.org/"],
      ["Content-Type", "application/http; msgtype=response"],
    ],
    block,
  });
  const record = new WarcReader(bufferSource(Buffer.concat(parts))).next()!;
  const pieces: Buffer[] = [];
  const scan = scanRecord(record, { payload: ["sha1"], onPayload: (bytes) => void pieces.push(Buffer.from(bytes)) });
  const payload = Buffer.concat(pieces);
  const [digest] = scan.payloadDigests;
  if (digest!.hex !== digestOf("sha1", payload).hex) throw new Error("the payload is not the one that was hashed");
  return { ...scan, payload };
}
