/** Who may ask: whoever has the token, or, where there is none, programs of this machine. */
import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIPv4, isIPv6 } from "node:net";
import { ArchiveError } from "../base/index.ts";

const TOKEN_LENGTH_MIN = 16;

export function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return (isIPv4(host) && host.startsWith("127.")) || (isIPv6(host) && /^(?:0*:)*0*1$/.test(host));
}

export class Gate {
  private readonly digest: Buffer | undefined;

  /** Throws HT_USAGE for a token that is easily guessed or cannot be sent. */
  constructor(token: string | undefined) {
    if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
      throw new ArchiveError("HT_USAGE", "a token is made of visible characters of ASCII");
    }
    if (token !== undefined && token.length < TOKEN_LENGTH_MIN) {
      throw new ArchiveError("HT_USAGE", `a token has at least ${TOKEN_LENGTH_MIN} characters`);
    }
    this.digest = token === undefined ? undefined : hash("sha256", token, "buffer");
  }

  /** Throws HT_FORBIDDEN. */
  check(headers: IncomingHttpHeaders): void {
    if (this.digest === undefined) return checkLocal(headers);
    const [, given = ""] = /^Bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? "") ?? [];
    // Digests have one length, whatever was sent, so that the comparison takes the same time.
    if (!timingSafeEqual(hash("sha256", given, "buffer"), this.digest)) {
      throw new ArchiveError("HT_FORBIDDEN", "this server asks for its token: Authorization: Bearer …");
    }
  }
}

/** In every answer: a browser must not guess that it is a script or an image, nor show it inside a web page. */
export const ANSWER_GUARDS: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "DENY",
};

/**
 * Without a token a web page in a browser of this machine could ask as well: by a script, which names its origin, by an
 * image or a link, which the browser marks, or under a host of its own that leads here.
 */
function checkLocal(headers: IncomingHttpHeaders): void {
  const { host = "localhost", origin, referer } = headers;
  // Only what a person typed comes from no page.
  const site = headers["sec-fetch-site"] ?? "none";
  if (origin !== undefined || referer !== undefined || site !== "none") {
    throw new ArchiveError("HT_FORBIDDEN", "without a token this server does not answer web pages");
  }
  const name = host.startsWith("[") ? host.slice(1, host.indexOf("]")) : host.replace(/:\d+$/, "");
  if (!isLoopback(name.toLowerCase())) {
    throw new ArchiveError("HT_FORBIDDEN", `without a token this server answers as localhost, not as ${name}`);
  }
}
