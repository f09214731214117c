/** What the processes of a fleet say to each other. */
import type { MetricsSnapshot } from "./metrics.ts";

/** From a process that serves to the one that started it. */
export type FromMember =
  | { readonly fleet: "hello" }
  | { readonly fleet: "ready"; readonly url: string }
  | { readonly fleet: "gather"; readonly id: number }
  | { readonly fleet: "counts"; readonly id: number; readonly counts: MetricsSnapshot };

/** And back. */
export type ToMember =
  | { readonly fleet: "secret"; readonly secret: string }
  | { readonly fleet: "close" }
  | { readonly fleet: "count"; readonly id: number }
  | { readonly fleet: "gathered"; readonly id: number; readonly all: readonly MetricsSnapshot[] };

/** Other things may be said over the same channel. */
export function isFleetMessage(message: unknown): message is FromMember | ToMember {
  return typeof message === "object" && message !== null && "fleet" in message;
}
