export * from "./block-json.ts";
export * from "./block-record.ts";
export * from "./protocol.ts";
export * from "./record-parser.ts";
export * from "./record-reader.ts";
