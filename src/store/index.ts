export { checkAdoption } from "./adoption.ts";
export { openEach, storeEach } from "./bulk.ts";
export { type Codec, Codecs, gather, HELD_SIZE_MAX } from "./codec.ts";
export * from "./content-check.ts";
export * from "./content-key.ts";
export * from "./signature.ts";
export { SignatureFilter } from "./signature-filter.ts";
export * from "./volume.ts";
export * from "./volume-settings.ts";
