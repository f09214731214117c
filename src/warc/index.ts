export * from "./arc-line.ts";
export * from "./byte-source.ts";
export * from "./cdx-line.ts";
export * from "./cdxj-line.ts";
export * from "./chunk-layout.ts";
export * from "./chunked.ts";
export * from "./content-coding.ts";
export * from "./crawl-log-line.ts";
export { decodeText, decodeUri, encodeText, FieldBlock } from "./field-block.ts";
export * from "./gunzip.ts";
export { gzipHeaderSize, isGzip } from "./gzip-stream.ts";
export * from "./http-head.ts";
export { loadAccelerator, type MemberInflater, type MemberVerdict, setAccelerator } from "./inflater-accelerator.ts";
export { type Payload, payloadOf } from "./payload.ts";
export * from "./reader.ts";
export { headSaysHttp, unbracket, WarcRecord } from "./record.ts";
export { COMMON_HEAD_SIZE_MAX, type RecordHead } from "./record-head.ts";
export * from "./record-opening.ts";
export * from "./record-scan.ts";
export { requestQuery } from "./request-query.ts";
export * from "./revisit.ts";
export { SourceView } from "./source-view.ts";
export * from "./whole-record.ts";
export * from "./writer.ts";
export { isZip, openZipEntry, readZipEntries, type ZipEntry } from "./zip.ts";
export { type WrittenEntry, ZipWriter, type ZipWriterOptions } from "./zip-writer.ts";
export {
  decodeFrame,
  decodeUnsized,
  encodeFrame,
  loadZstd,
  parseFrameHeader,
  ZSTD_LEVEL_DEFAULT,
} from "./zstd-codec.ts";
export { isZstd } from "./zstd-stream.ts";
