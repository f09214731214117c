export { SERVER_LIMITS_DEFAULT, type ServerLimits } from "./limits.ts";
export type { LogEntry, LogLevel, LogSink } from "./log.ts";
export { serveVolume, type VolumeServer, type VolumeServerOptions } from "./server.ts";
export { isLoopback } from "./token.ts";
