export type { TimelineFinding } from "./check.ts";
export type { TimelineEntry, TimelineEvent } from "./entry.ts";
export { prefixRange, rangeBehind } from "./key-range.ts";
export type { KeyRange } from "./query.ts";
export type { Root as TimelineRoot } from "./slot.ts";
export { openTimeline, type TimelineOptions, TimelineSnapshot, timelineExists } from "./timeline.ts";
export type {
  Answer,
  Answers,
  NearestEntries,
  TimelineReader,
  TimelineStore,
  TimelineVisit,
} from "./timeline-store.ts";
export {
  DIGEST_SIZE_DEFAULT,
  KEY_SIZE_MAX,
  keyText,
  PAGE_SIZE_DEFAULT,
  TIME_MAX,
  TimelineWriter,
  VALUE_SIZE_MAX,
} from "./timeline-writer.ts";
