/** URLs as archives compare them: keys, ranges of keys, equivalent URLs. */

export * from "./equivalent-url.ts";
export * from "./key-range.ts";
export { type UrlKeyOptions, urlKey } from "./url-key.ts";
