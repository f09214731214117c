/** A connection in the making: to one address, over TCP or TLS, with a deadline for each step. */
import { connect, isIP, type Socket } from "node:net";
import { connect as connectSecurely, type SecureContext, type TLSSocket } from "node:tls";
import type { DeadlineWatch, Timed } from "./deadline-watch.ts";
import { type CertificateFault, certificateFault, type Trouble, trouble } from "./failures.ts";
import type { ExchangeLimits } from "./limits.ts";
import { SocketReader } from "./socket-reader.ts";

export interface SocketPlace {
  readonly hostname: string;
  readonly port: number;
  /** Checked by the guard. */
  readonly address: string;
  /** Absent for http. */
  readonly tls: TlsTerms | undefined;
}

/** What all connections of a client have in common. */
export interface TlsTerms {
  readonly secureContext: SecureContext;
  /** Certificates have to be good. */
  readonly rejectUnauthorized: boolean;
}

/** On the clock of `performance.now()`. */
export interface OpeningDeadlines {
  readonly connectMs: number;
  /** Of the whole exchange. */
  readonly exchangeMs: number;
}

export interface OpenedSocket {
  readonly socket: Socket;
  readonly reader: SocketReader;
  /** The address at the other end. */
  readonly remoteAddress: string;
  /** `TLSv1.3` and the like; absent for http. */
  readonly tlsVersion: string | undefined;
  /** What is wrong with the certificate, where that is to be ignored. */
  readonly fault: CertificateFault | undefined;
}

export class SocketOpening implements Timed {
  deadlineMs: number;
  /** Ends with the socket, or with why there is none. Never rejects. */
  readonly end: Promise<OpenedSocket | Trouble>;
  private readonly place: SocketPlace;
  private readonly watch: DeadlineWatch;
  private readonly reader = new SocketReader();
  private readonly socket: Socket;
  private isConnected = false;
  private failure: NodeJS.ErrnoException | undefined;
  private resolve: (end: OpenedSocket | Trouble) => void = () => {};

  constructor(place: SocketPlace, limits: ExchangeLimits, deadlines: OpeningDeadlines, watch: DeadlineWatch) {
    this.place = place;
    this.watch = watch;
    this.deadlineMs = Math.min(deadlines.connectMs, deadlines.exchangeMs);
    this.end = new Promise((resolve) => {
      this.resolve = resolve;
    });
    this.socket = startSocket(place, this.reader);
    this.socket.once("connect", () => {
      this.isConnected = true;
      this.deadlineMs = Math.min(performance.now() + limits.tlsTimeoutMs, deadlines.exchangeMs);
      if (place.tls === undefined) this.finish({});
    });
    this.socket.once("secureConnect", () => this.finish(termsOf(this.socket as TLSSocket)));
    this.socket.on("error", (cause) => {
      this.failure ??= cause;
    });
    this.socket.once("close", () => this.giveUp(this.whyClosed()));
    watch.add(this);
  }

  private finish({ tlsVersion, fault }: Partial<Pick<OpenedSocket, "tlsVersion" | "fault">>): void {
    const { socket, reader } = this;
    const remoteAddress = socket.remoteAddress ?? this.place.address;
    this.watch.delete(this);
    this.resolve({ socket, reader, remoteAddress, tlsVersion, fault });
  }

  /** Has no effect once the socket is open. */
  private giveUp(why: Trouble): void {
    this.watch.delete(this);
    this.resolve(why);
  }

  expire(): void {
    this.giveUp(trouble(this.isConnected ? "tls-timeout" : "connect-timeout"));
    this.destroy();
  }

  destroy(): void {
    this.socket.destroy();
  }

  private whyClosed(): Trouble {
    const { failure, isConnected } = this;
    const code = failure?.code ?? "";
    const detail = failure?.message.trim().split("\n")[0];
    const fault = certificateFault(code);
    if (fault !== undefined) return trouble(fault, detail);
    if (/NO_APPLICATION_PROTOCOL/.test(code)) return trouble("tls-no-http1");
    return trouble(isConnected ? "tls-failed" : "connect-failed", detail);
  }
}

function termsOf(socket: TLSSocket): Pick<OpenedSocket, "tlsVersion" | "fault"> {
  // Its type says that this is an error, but it is the code of one.
  const code = socket.authorizationError as unknown as string | null | undefined;
  const isGood = socket.authorized || code === undefined || code === null;
  return {
    tlsVersion: socket.getProtocol() ?? undefined,
    fault: isGood ? undefined : (certificateFault(code) ?? "tls-untrusted"),
  };
}

function startSocket({ hostname, port, address, tls }: SocketPlace, { onread }: SocketReader): Socket {
  const options = { host: address, port, noDelay: true, onread };
  if (tls === undefined) return connect(options);
  const servername = isIP(hostname) === 0 && !hostname.startsWith("[") ? hostname.replace(/\.$/, "") : "";
  return connectSecurely({ ...options, ...tls, servername, ALPNProtocols: ["http/1.1"] });
}
