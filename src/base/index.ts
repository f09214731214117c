export * from "./bloom-filter.ts";
export * from "./clock.ts";
export * from "./digest.ts";
export * from "./errors.ts";
export * from "./invariant.ts";
export * from "./short-hash.ts";
export * from "./timestamp.ts";
