/**
 * Requests to a volume server: connections that are kept, timeouts, and another try where the connection failed. Whoever
 * asks for a change names his request, so that another try of it counts once.
 */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { ArchiveError, type Random, systemRandom } from "../../base/index.ts";
import type { BlockData } from "../volume.ts";
import { membersOf, notOurs, parseJson } from "../wire/block-json.ts";
import { fromWireError, WIRE_HEADER_SIZE_MAX } from "../wire/protocol.ts";
import { UnfamiliarAnswer } from "./answer-reader.ts";
import { type Deadlines, LATE_TRIES, PATIENT, timedOut, WAIT_MS } from "./deadlines.ts";
import { freshAgent } from "./fresh-agent.ts";
import { receive } from "./node-answer.ts";
import { PlainPool } from "./plain-pool.ts";
import { pump } from "./pump.ts";

export interface RemoteOptions {
  /** Where the server is: `http://127.0.0.1:8123`. */
  readonly url: string;
  readonly token?: string | undefined;
  /** In PEM: who is believed beside those that Node believes. */
  readonly ca?: string | Uint8Array | undefined;
  /** Default: as patient as one is who has nobody else to ask. */
  readonly deadlines?: Partial<Deadlines> | undefined;
  /** How often a request is tried, altogether. */
  readonly tries?: number | undefined;
  /** Before the second try; it doubles with every further one, up to two seconds. */
  readonly retryDelayMs?: number | undefined;
  readonly connectionCountMax?: number | undefined;
  readonly random?: Random | undefined;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  /** The link adds its own. */
  readonly headers?: OutgoingHttpHeaders | undefined;
  /** What comes in pieces can be sent once only. */
  readonly body?: BlockData | undefined;
  /** An answer of more bytes is not held: see `Reply.rest`. Otherwise it is an error. */
  readonly heldSizeMax?: number | undefined;
}

/** By their names in small letters. */
export type ReplyHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Reply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: Buffer;
  /** Where the answer is larger than was to be held: all of it. */
  readonly rest?: StreamedBody | undefined;
}

/** A body as it comes. It is to be read to its end, or destroyed. */
export interface StreamedBody extends AsyncIterable<Uint8Array> {
  destroy(error?: Error): void;
}

const TRIES = 4;
const RETRY_DELAY_MS = 50;
const RETRY_DELAY_MS_MAX = 2000;
const CONNECTIONS_MAX = 64;
const HELD_SIZE_MAX = 64 << 20;
const PATH = /^[\x21-\x7e]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export class Link {
  readonly url: string;
  readonly deadlines: Deadlines;
  readonly tries: number;
  private readonly retryDelayMs: number;
  private readonly random: Random;
  private readonly authorization: string | undefined;
  /** For what is asked and answered at once. */
  private readonly pool: PlainPool;
  /** Whether all answers so far were of the kind that the pool knows. */
  private isFamiliar = true;
  private closings = 0;
  /** The fields that every request of the pool has. */
  private readonly ownFields: string;
  private readonly agent: HttpAgent | HttpsAgent;
  /** Its connections are used once. */
  private readonly freshAgent: HttpAgent | HttpsAgent;
  private readonly hostname: string;
  private readonly port: string;
  private readonly open: typeof httpRequest;
  private readonly prefix: string;

  /** Throws HT_USAGE for what is not the URL of a server, and for a token that cannot be sent. */
  constructor(options: RemoteOptions) {
    const url = parseUrl(options.url);
    this.url = url.href.replace(/\/$/, "");
    this.prefix = url.pathname.replace(/\/$/, "");
    this.deadlines = { ...PATIENT, ...options.deadlines };
    this.tries = options.tries ?? TRIES;
    this.retryDelayMs = options.retryDelayMs ?? RETRY_DELAY_MS;
    this.random = options.random ?? systemRandom;
    this.authorization = options.token === undefined ? undefined : `Bearer ${options.token}`;
    const isSecure = url.protocol === "https:";
    const ca = typeof options.ca === "object" ? Buffer.from(options.ca) : options.ca;
    const countMax = options.connectionCountMax ?? CONNECTIONS_MAX;
    const kept = {
      noDelay: true,
      timeout: this.deadlines.idleTimeoutMs,
      maxSockets: countMax,
      ...(ca === undefined ? {} : { ca }),
    };
    const Agent = isSecure ? HttpsAgent : HttpAgent;
    this.agent = new Agent({ ...kept, keepAlive: true });
    this.freshAgent = freshAgent(isSecure, kept);
    this.open = isSecure ? (httpsRequest as typeof httpRequest) : httpRequest;
    this.hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
    this.port = url.port || (isSecure ? "443" : "80");
    const { hostname, deadlines } = this;
    this.pool = new PlainPool({ isSecure, hostname, port: Number(this.port), ca, deadlines }, countMax);
    this.ownFields = `Host: ${url.host}\r\n${this.authorization === undefined ? "" : formatField("Authorization", this.authorization)}`;
  }

  newRequestId(): string {
    return this.random.uuid();
  }

  /** A request that has not been sent yet. A fresh connection is none that the server may be about to close. */
  begin(method: string, path: string, headers: OutgoingHttpHeaders, isFresh = false): ClientRequest {
    if (this.authorization !== undefined) headers["Authorization"] = this.authorization;
    const request = this.open({
      method,
      path: this.prefix + path,
      headers,
      hostname: this.hostname,
      port: this.port,
      timeout: this.deadlines.idleTimeoutMs,
      maxHeaderSize: WIRE_HEADER_SIZE_MAX,
      agent: isFresh ? this.freshAgent : this.agent,
    });
    request.once("socket", (socket) => this.watchConnecting(request, socket));
    return request;
  }

  private watchConnecting(request: ClientRequest, socket: Socket): void {
    if (!socket.connecting) return;
    const { connectTimeoutMs } = this.deadlines;
    const late = timedOut("no connection", connectTimeoutMs);
    const timer = setTimeout(() => request.destroy(late), connectTimeoutMs);
    const done = () => clearTimeout(timer);
    socket.once("connect", done).once("close", done);
  }

  /**
   * Sends a request, again where the connection fails or the server has too much to do, and gives the answer, whatever
   * its status. HT_PEER_UNAVAILABLE where there is none.
   */
  async call(call: Call): Promise<Reply> {
    const isRepeatable = call.body === undefined || call.body instanceof Uint8Array;
    const { closings } = this;
    for (let attempt = 1; ; attempt++) {
      const isLast = !isRepeatable || attempt >= this.tries;
      const startedMs = performance.now();
      try {
        const reply = await this.send(call);
        if (isLast || reply.status !== 503) return reply;
      } catch (error) {
        if (isLast || closings !== this.closings || !isUnavailable(error)) throw error;
        if (attempt >= LATE_TRIES && performance.now() - startedMs >= WAIT_MS) throw error;
      }
      await this.pause(attempt);
    }
  }

  /** Waits before the next try: longer each time, and not in step with others. */
  pause(attempt: number): Promise<void> {
    const share = 0.5 + this.random.bytes(1)[0]! / 256;
    const delayMs = Math.min(this.retryDelayMs * 2 ** (attempt - 1), RETRY_DELAY_MS_MAX);
    return new Promise((resolve) => setTimeout(resolve, delayMs * share));
  }

  private async send(call: Call): Promise<Reply> {
    const { body } = call;
    if (this.isFamiliar && (body === undefined || body instanceof Uint8Array)) {
      try {
        return await this.sendPlain(call, body);
      } catch (error) {
        if (!(error instanceof UnfamiliarAnswer)) throw this.unavailable(error);
      }
      // Something stands between us and the server, or in its place, and it will not change its ways.
      this.isFamiliar = false;
    }
    return await this.sendByNode(call);
  }

  private async sendPlain(call: Call, body: Uint8Array | undefined): Promise<Reply> {
    const { method, heldSizeMax } = call;
    const head = this.formatHead(call);
    const answer = await this.pool.ask({
      head,
      body,
      isHead: method === "HEAD",
      heldSizeMax: heldSizeMax ?? HELD_SIZE_MAX,
    });
    const { status, rest } = answer;
    if (rest !== undefined && (heldSizeMax === undefined || status >= 300)) {
      rest.destroy();
      throw notOurs("too large");
    }
    return answer;
  }

  /** Throws HT_USAGE for what would mean something else in a header. */
  private formatHead({ method, path, headers, body }: Call): string {
    if (!PATH.test(path)) throw new ArchiveError("HT_USAGE", `not a path: ${path.slice(0, 200)}`);
    let text = `${method} ${this.prefix}${path} HTTP/1.1\r\n${this.ownFields}`;
    for (const name in headers) text += formatField(name, String(headers[name]));
    if (method !== "GET" && method !== "HEAD" && headers?.["Content-Length"] === undefined) {
      text += `Content-Length: ${body instanceof Uint8Array ? body.length : 0}\r\n`;
    }
    return `${text}\r\n`;
  }

  private sendByNode(call: Call): Promise<Reply> {
    const { method, path, headers = {}, body, heldSizeMax } = call;
    return new Promise((resolve, reject) => {
      const isHeld = body === undefined || body instanceof Uint8Array;
      const request = this.begin(method, path, headers, !isHeld);
      request.on("error", (cause) => reject(this.unavailable(cause)));
      const { idleTimeoutMs } = this.deadlines;
      request.on("timeout", () => request.destroy(timedOut("no sign of life", idleTimeoutMs)));
      request.on("response", (response) => {
        receive(request, response, heldSizeMax ?? HELD_SIZE_MAX, heldSizeMax !== undefined).then(
          resolve,
          (cause: unknown) => reject(this.unavailable(cause)),
        );
      });
      if (isHeld) request.end(body);
      else
        pump(request, body, headers["Content-Length"] as number | undefined).catch((error: Error) => {
          reject(error);
          request.destroy();
        });
    });
  }

  unavailable(cause: unknown): ArchiveError {
    if (cause instanceof ArchiveError) return cause;
    const reason = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : String(cause);
    return new ArchiveError("HT_PEER_UNAVAILABLE", `${this.url}: ${reason}`, {}, cause);
  }

  /** What the server said went wrong. */
  refusal({ status, body }: Pick<Reply, "status" | "body">): ArchiveError {
    try {
      const told = fromWireError(membersOf(parseJson(body.toString()))["error"]);
      if (told !== undefined) return told;
    } catch {
      // It is not one of ours.
    }
    return new ArchiveError("HT_PEER_UNAVAILABLE", `${this.url}: status ${status}, and not from a volume server`);
  }

  /** Ends what is under way; it is not tried again. */
  close(): void {
    this.closings++;
    this.pool.close();
    this.agent.destroy();
    this.freshAgent.destroy();
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof ArchiveError && error.code === "HT_PEER_UNAVAILABLE";
}

/** Throws HT_USAGE for a value that would end the field, or be none. */
function formatField(name: string, value: string): string {
  if (FIELD_VALUE.test(value)) return `${name}: ${value}\r\n`;
  throw new ArchiveError("HT_USAGE", `${name} cannot have a control character in its value`);
}

function parseUrl(text: string): URL {
  try {
    const url = new URL(text);
    if (/^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && url.username === "") return url;
  } catch {
    // As one of another scheme.
  }
  throw new ArchiveError("HT_USAGE", `not the URL of a volume server: ${text.slice(0, 200)}`);
}
