export { isLoopback, type LogEntry, type LogLevel, type LogSink } from "../http/index.ts";
export { SERVER_LIMITS_DEFAULT, type ServerLimits } from "./limits.ts";
export { serveVolume, type VolumeServer, type VolumeServerOptions } from "./server.ts";
