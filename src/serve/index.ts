/** An archive on the wire: raw captures, CDX, Memento, memory for crawlers, a JSON API. */

export { type AccessRule, AccessRules, type AccessVerdict, type Embargo } from "./access/access-rules.ts";
export { parseAccessRules } from "./access/parse-rules.ts";
export { toldAnswer } from "./answers.ts";
export { exampleValues } from "./api/examples.ts";
export { pywbCdx } from "./cdx/pywb-cdx.ts";
export { waybackCdx } from "./cdx/wayback-cdx.ts";
export { Collection } from "./collection.ts";
export { followCommits } from "./follow-commits.ts";
export { ReplayAccess } from "./replay-origin/replay-access.ts";
export { type ReplayOptions, serveReplay } from "./replay-origin/serve-replay.ts";
export type { WorkerFile } from "./replay-origin/worker-file.ts";
export type { Asked, Route } from "./route.ts";
export { ROUTES } from "./routes.ts";
export { type ServeOptions, serveArchives } from "./serve-archives.ts";
export { serveMemory } from "./serve-memory.ts";
