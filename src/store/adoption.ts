/** What a volume asks of a block that comes from another one, before it looks at its bytes. */
import { ArchiveError } from "../base/index.ts";
import { parseContentKey } from "./content-key.ts";
import { type AdoptRequest, REFERENCES_MAX } from "./volume.ts";

/** Throws HT_USAGE where the counter is none, or a former key is no content key with the block's signature. */
export function checkAdoption({ signature, references, formerKeys }: AdoptRequest): void {
  if (!Number.isInteger(references) || references < 1 || references > REFERENCES_MAX) {
    throw new ArchiveError("HT_USAGE", `not a number of references: ${references}`);
  }
  for (const key of formerKeys) {
    if (parseContentKey(key).signature === signature.toUpperCase()) continue;
    throw new ArchiveError("HT_USAGE", `${key} is no key of ${signature}`);
  }
}
