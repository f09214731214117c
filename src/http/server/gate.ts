/** Who may ask: whoever has the token, or, where there is none, programs of this machine. */
import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIPv4, isIPv6 } from "node:net";
import { ArchiveError } from "../../base/index.ts";

const TOKEN_LENGTH_MIN = 16;

export function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return (isIPv4(host) && host.startsWith("127.")) || (isIPv6(host) && /^(?:0*:)*0*1$/.test(host));
}

/** Throws HT_USAGE where others could reach a server that asks nobody for a token. */
export function checkReach(host: string, token: string | undefined): void {
  if (isLoopback(host) || token !== undefined) return;
  throw new ArchiveError("HT_USAGE", `${host} can be reached by others, so the server needs a token`);
}

export interface GateOptions {
  readonly token?: string | undefined;
  /** Also as the password of Basic authentication, which browsers can ask for. The user's name does not matter. */
  readonly asPassword?: boolean;
  /** Names that a request may call this server by, beside those of this machine, where there is no token. */
  readonly hosts?: readonly string[];
  /** Answers everybody, whatever they call it. Not with a token. */
  readonly isOpen?: boolean;
  /**
   * Which web pages a browser may ask for. `none` can only be asked without a token, because scripts cannot guess one;
   * `own` lets this server's pages ask, and links from other pages lead here.
   */
  readonly pages: "none" | "own" | "any";
}

export class Gate {
  private readonly options: GateOptions;
  private readonly hosts: ReadonlySet<string>;
  private readonly digest: Buffer | undefined;

  /** Throws HT_USAGE for a token that is easily guessed or cannot be sent. */
  constructor(options: GateOptions) {
    const { token } = options;
    if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
      throw new ArchiveError("HT_USAGE", "a token is made of visible characters of ASCII");
    }
    if (token !== undefined && token.length < TOKEN_LENGTH_MIN) {
      throw new ArchiveError("HT_USAGE", `a token has at least ${TOKEN_LENGTH_MIN} characters`);
    }
    this.options = options;
    this.hosts = new Set(options.hosts?.map((name) => name.toLowerCase()));
    this.digest = token === undefined ? undefined : hash("sha256", token, "buffer");
  }

  /** What `WWW-Authenticate` asks for. */
  get challenge(): string {
    return this.options.asPassword === true ? 'Basic realm="Holotype", charset="UTF-8"' : "Bearer";
  }

  /** Throws HT_FORBIDDEN. */
  check(headers: IncomingHttpHeaders): void {
    const { pages, isOpen } = this.options;
    if (pages === "own") refuseForeignPages(headers);
    if (this.digest !== undefined) return this.checkToken(headers.authorization ?? "", this.digest);
    if (pages === "none") refusePages(headers);
    if (isOpen !== true) this.checkHost(headers);
  }

  private checkToken(authorization: string, digest: Buffer): void {
    const [, scheme = "", credentials = ""] = /^(Bearer|Basic) +([\x21-\x7e]+)$/i.exec(authorization) ?? [];
    let given = "";
    if (scheme.toLowerCase() === "bearer") given = credentials;
    else if (this.options.asPassword === true) given = passwordOf(credentials);
    // Digests have one length, whatever was sent, so that the comparison takes the same time.
    if (!timingSafeEqual(hash("sha256", given, "buffer"), digest)) {
      throw new ArchiveError("HT_FORBIDDEN", "this server asks for its token: Authorization: Bearer …");
    }
  }

  /** A web page in a browser of this machine could ask under a host name of its own that leads here. */
  private checkHost({ host = "localhost" }: IncomingHttpHeaders): void {
    const name = (host.startsWith("[") ? host.slice(1, host.indexOf("]")) : host.replace(/:\d+$/, "")).toLowerCase();
    if (!isLoopback(name) && !this.hosts.has(name)) {
      throw new ArchiveError("HT_FORBIDDEN", `without a token this server answers as localhost, not as ${name}`);
    }
  }
}

function passwordOf(credentials: string): string {
  const text = Buffer.from(credentials, "base64").toString("latin1");
  return text.slice(text.indexOf(":") + 1);
}

/** In every answer: a browser must not guess that it is a script or an image, nor show it inside a web page. */
export const ANSWER_GUARDS: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "DENY",
};

/**
 * Throws HT_FORBIDDEN for what a browser sends for a web page, wherever that is from: a script names its origin, and an
 * image or a link is marked by the browser.
 */
export function refusePages(headers: IncomingHttpHeaders): void {
  const { origin, referer } = headers;
  // Only what a person typed comes from no page.
  const site = headers["sec-fetch-site"] ?? "none";
  if (origin !== undefined || referer !== undefined || site !== "none") {
    throw new ArchiveError("HT_FORBIDDEN", "without a token this server does not answer web pages");
  }
}

/** Throws HT_FORBIDDEN for what a browser sends for a page of another site, unless a person followed a link there. */
function refuseForeignPages(headers: IncomingHttpHeaders): void {
  const site = headers["sec-fetch-site"] ?? "none";
  if (site === "none" || site === "same-origin") return;
  if (headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document") return;
  throw new ArchiveError("HT_FORBIDDEN", "this server does not answer pages of other sites");
}
