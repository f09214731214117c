/** What a request must be like to be sent at all: its words go into headers, where they must not mean anything else. */
import { ArchiveError } from "../../base/index.ts";
import { checkRequestId } from "../request-id.ts";
import { parseSignature, type SignatureAlgorithm } from "../signature.ts";
import type { BulkRequest } from "../volume.ts";

/** Throws HT_USAGE or HT_CODEC as the volume would. Gives the signature in capitals. */
export function checkBulk(request: BulkRequest, algorithm: SignatureAlgorithm): string {
  checkRequestId(request.requestId);
  checkSize(request.size);
  if (request.data !== undefined) checkCodecName(request.compression);
  return parseSignature(request.signature, algorithm);
}

export function checkCodecName(name: string): void {
  if (!/^[a-z0-9-]{1,16}$/.test(name)) throw new ArchiveError("HT_CODEC", `no codec has the name ${name}`);
}

export function checkSize(size: number): void {
  if (!Number.isSafeInteger(size) || size < 0) throw new ArchiveError("HT_USAGE", `not a size: ${size}`);
}

/** Signatures are sent one a line, and the volume says whether they are any of its own. */
export function checkSignatureText(text: string): void {
  if (!/^[0-9a-f]+$/i.test(text)) throw new ArchiveError("HT_USAGE", `not a signature: ${text.slice(0, 200)}`);
}
