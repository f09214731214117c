/**
 * HTTP on the wire. For servers: `serveHttp` brings the answers of a `Handler` to the wire, with limits, token, log,
 * metrics and drain; a handler is a plain function and runs in tests without a socket. `startFleet` runs
 * several copies of a program on one port; in each, `fleetMember()` goes into the options of `serveHttp`. `Listener`,
 * `Gate`, `Log`, `Metrics` and `IdleSignal` are the parts that a server of its own kind (volumed/) is made of.
 *
 * For takers of captures: `HttpClient` sends a request and streams the answer to a `MessageSink`: the
 * raw bytes, which are the block of a record, and the entity, whose digest is the record's payload digest.
 * `MessageFramer` is the same for bytes that come from elsewhere. `AddressGuard` says which addresses may be connected to.
 */
export {
  AddressGuard,
  type AddressGuardOptions,
  type Resolve,
  resolveWith,
  systemResolve,
} from "./address-guard.ts";
export { type ExchangeOptions, HttpClient, type HttpClientOptions } from "./client.ts";
export type { Answer, ExchangeResult, Failure } from "./exchange.ts";
export { FAILURES, type FailureCode } from "./failures.ts";
export { FLAWS, type Flaw } from "./flaws.ts";
export { type ExchangeLimits, LIMITS_DEFAULT } from "./limits.ts";
export { type FramerOptions, type MessageEnd, MessageFramer, type MessageSink } from "./message-framer.ts";
export { encodeRequest, type HttpRequest } from "./request.ts";
export { type Fleet, type FleetOptions, startFleet } from "./server/fleet.ts";
export { type FleetMember, fleetMember } from "./server/fleet-member.ts";
export { ANSWER_GUARDS, checkReach, Gate, isLoopback, refusePages } from "./server/gate.ts";
export { type HttpServer, type HttpServerOptions, serveHttp } from "./server/http-server.ts";
export { IdleSignal } from "./server/idle-signal.ts";
export {
  DISCARDED_SIZE_MAX,
  HTTP_SERVER_LIMITS_DEFAULT,
  type HttpServerLimits,
  type ListenerLimits,
} from "./server/limits.ts";
export { Listener, type TlsOptions, type UnderWay } from "./server/listener.ts";
export { Log, type LogEntry, type LogLevel, type LogSink } from "./server/log.ts";
export type {
  AnswerBody,
  ErrorFormatter,
  Handler,
  ServerAnswer,
  ServerRequest,
  ToldError,
} from "./server/message.ts";
export { METRICS_TYPE, type Measure, Metrics, serverGauges } from "./server/metrics.ts";
export { refuseHalf, refuseLate } from "./server/refusal.ts";
