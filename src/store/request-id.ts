/** The ids of requests, which travel and lie in headers and lines of text. */
import { ArchiveError } from "../base/index.ts";

/** Throws HT_USAGE for what cannot be the id of a request. No id is fine. */
export function checkRequestId(id: string | undefined): void {
  if (id === undefined || /^[\x21-\x7e]{1,128}$/.test(id)) return;
  throw new ArchiveError("HT_USAGE", "a request id has 1 to 128 characters of ASCII, without blanks");
}
