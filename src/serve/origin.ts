/** What absolute links begin with. */
import { ArchiveError } from "../base/index.ts";
import type { ServerRequest } from "../http/index.ts";

const HOST = /^(?:[a-z0-9][a-z0-9._-]{0,252}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** `baseUrl` is what clients see in front of the server. HT_USAGE for a Host that is none. */
export function originOf({ headers: { host } }: ServerRequest, baseUrl: string | undefined): string {
  if (baseUrl !== undefined) return baseUrl.replace(/\/+$/, "");
  if (host === undefined || host === "") return "http://localhost";
  if (!HOST.test(host)) throw new ArchiveError("HT_USAGE", "the Host of the request is none");
  return `http://${host}`;
}
