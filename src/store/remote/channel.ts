/** A request that is sent and answered at the same time. */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Link } from "./link.ts";

/** Of what is said when something goes wrong. */
const REFUSAL_SIZE_MAX = 64 << 10;

/** Bytes that wait to be sent. Node's own limit is less than one content, and a stop costs a turn of both sides. */
const SENT_AHEAD_MAX = 256 << 10;

export class Channel {
  private readonly link: Link;
  private readonly request: ClientRequest;
  /** Resolves with an answer that is one; rejects where there is none, or with what the server refused it for. */
  readonly reply: Promise<IncomingMessage>;
  private drained: Promise<void> | undefined;

  constructor(link: Link, path: string, contentType: string) {
    this.link = link;
    this.request = link.begin("POST", path, { "Content-Type": contentType }, true);
    // Silence is judged by whoever knows whether something is waited for.
    this.request.setTimeout(0);
    this.reply = new Promise((resolve, reject) => {
      // What it was refused for counts for more than that the connection was closed then.
      let isRefused = false;
      const fail = (cause: Error) => isRefused || reject(link.unavailable(cause));
      this.request.on("error", fail);
      this.request.on("close", () => fail(new Error("the connection was closed")));
      this.request.on("response", (response) => {
        if (response.statusCode === 200) return resolve(response);
        isRefused = true;
        this.refuse(response).then(reject, reject);
      });
    });
    // Whoever waits for it learns of it; nobody may.
    this.reply.catch(() => {});
  }

  private async refuse(response: IncomingMessage): Promise<Error> {
    const pieces: Buffer[] = [];
    let size = 0;
    try {
      for await (const piece of response as AsyncIterable<Buffer>) {
        size += piece.length;
        if (size <= REFUSAL_SIZE_MAX) pieces.push(piece);
      }
    } catch (cause) {
      return this.link.unavailable(cause);
    }
    return this.link.refusal({ status: response.statusCode ?? 0, body: Buffer.concat(pieces) });
  }

  /**
   * Sends bytes, which must not change before `onSent`; they are never sent where it is not called. Absent where there is
   * room for more, else what to wait for.
   */
  write(bytes: Uint8Array | string, onSent?: () => void): Promise<void> | undefined {
    if (this.request.destroyed) return undefined;
    const isTaken =
      onSent === undefined ? this.request.write(bytes) : this.request.write(bytes, (error) => error || onSent());
    if (isTaken || this.request.writableLength < SENT_AHEAD_MAX) return undefined;
    this.drained ??= new Promise((resolve) => {
      const done = () => {
        this.drained = undefined;
        this.request.off("drain", done).off("close", done);
        resolve();
      };
      this.request.on("drain", done).on("close", done);
    });
    return this.drained;
  }

  end(): void {
    if (!this.request.destroyed) this.request.end();
  }

  destroy(error?: Error): void {
    this.request.destroy(error);
  }
}
