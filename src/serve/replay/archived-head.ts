/** The HTTP header of a capture, and what of it may be sent again. */
import { hash } from "node:crypto";
import type { Capture, OpenedCapture } from "../../archive/index.ts";
import { encodeText, type HttpHead } from "../../warc/index.ts";
import type { Headers } from "../answers.ts";

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** Clients refuse headers that are larger, or have more lines. */
const TOLD_MAX = 64;
const TOLD_SIZE_MAX = 10_000;

/** What an archived value may look like in a header of ours. */
function sendable(value: string): string {
  return encodeText(value.replace(/\p{Cc}+/gu, " ").trim());
}

export class ArchivedHead {
  /** What the server answered; 200 for what is no HTTP message. */
  readonly status: number;
  readonly reason: string;
  private readonly http: HttpHead | undefined;
  private readonly mime: string | undefined;

  constructor(opened: OpenedCapture, capture: Capture) {
    this.http = opened.http;
    this.mime = capture.type === "resource" ? capture.mime : undefined;
    this.status = opened.http?.status ?? capture.status ?? 200;
    this.reason = opened.http?.startLine.replace(/^\S+\s+\d+\s*/, "") ?? "";
  }

  /** Of a field that may be sent again: the first of its name. */
  value(lowerName: string): string | undefined {
    const value = this.http?.headers.get(lowerName);
    const sent = value === undefined ? "" : sendable(value);
    return sent === "" ? undefined : sent;
  }

  get contentType(): string | undefined {
    return this.value("content-type") ?? (this.mime === undefined ? undefined : sendable(this.mime));
  }

  /** All values of a name, as they may be sent. */
  values(lowerName: string): string[] {
    return this.http?.headers.all(lowerName).map(sendable) ?? [];
  }

  /** Every field under a name of its own, so that none has an effect; as many as clients take. */
  told(): { readonly headers: Headers; readonly isWhole: boolean } {
    const headers: [string, string][] = [];
    let size = 0;
    for (const [name, value] of this.http?.headers ?? []) {
      if (!TOKEN.test(name)) continue;
      const sent = sendable(value);
      size += name.length + sent.length + 20;
      if (headers.length === TOLD_MAX || size > TOLD_SIZE_MAX) return { headers, isWhole: false };
      headers.push([`X-Archive-Orig-${name}`, sent]);
    }
    return { headers, isWhole: true };
  }

  /** Tells headers apart. */
  get fingerprint(): string {
    return hash("sha256", this.http?.text ?? "", "hex").slice(0, 16);
  }
}
