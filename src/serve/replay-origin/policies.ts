/** What may happen in the frame: policies of replayed pages, of the static view, of our own few pages there. */
import type { Headers } from "../answers.ts";

/** Where the worker answers: all that it is in charge of (`/w/`), and what of that is replay. */
export const WORKER_SCOPE = "/w/";
export const FRAME_PATH = `${WORKER_SCOPE}r/`;

export interface FramePlace {
  /** Of replay. */
  readonly origin: string;
  /** Of the pages around the frame. */
  readonly pages: string;
  /** Of the collection, on the replay origin. */
  readonly name: string;
}

function pagesOrigin(pages: string): string {
  return new URL(pages).origin;
}

/**
 * Of a replayed page, whose scripts run. It reaches its own origin and nothing else; frames only what the worker makes of
 * this collection. No `data:` frames and no sockets: access to both is how pages got out.
 */
export function replayPolicy({ origin, pages, name }: FramePlace): string {
  const frames = `${origin}${FRAME_PATH}${name}/`;
  return [
    `default-src ${origin} 'unsafe-inline' 'unsafe-eval' data: blob:`,
    `connect-src ${origin} data: blob:`,
    `frame-src ${frames} blob:`,
    `worker-src ${origin} blob:`,
    "object-src 'none'",
    `form-action ${frames}`,
    `base-uri ${origin}`,
    `frame-ancestors ${origin} ${pagesOrigin(pages)}`,
  ].join("; ");
}

/** What the frame demands of all documents in it, whoever answers them (CSP of the embedder). */
export function demandedPolicy({ origin, name }: FramePlace): string {
  const frames = `${origin}${FRAME_PATH}${name}/`;
  return [
    `default-src ${origin} 'unsafe-inline' 'unsafe-eval' data: blob:`,
    `connect-src ${origin} data: blob:`,
    `frame-src ${frames} blob:`,
    `worker-src ${origin} blob:`,
    "object-src 'none'",
    `form-action ${frames}`,
  ].join("; ");
}

/**
 * Of the static view: nothing runs, nothing is sent; a person may follow a link. `scriptHash` is that of our own script,
 * where there is one.
 */
export function staticPolicy({ origin, pages, name }: FramePlace, scriptHash?: string): string {
  const own = `${origin}/${name}/`;
  return [
    "default-src 'none'",
    `img-src ${own} data:`,
    `style-src ${own} 'unsafe-inline'`,
    `font-src ${own} data:`,
    `media-src ${own} data:`,
    `frame-src ${own}`,
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${origin} ${pagesOrigin(pages)}`,
    `sandbox allow-top-navigation-by-user-activation${scriptHash === undefined ? "" : " allow-scripts"}`,
    ...(scriptHash === undefined ? [] : [`script-src ${scriptHash}`]),
  ].join("; ");
}

/** Of the page that starts the worker. */
export function bootPolicy({ origin, pages }: FramePlace): string {
  const loads = `script-src ${origin}; connect-src ${origin}; worker-src ${origin}; style-src 'unsafe-inline'`;
  return `default-src 'none'; ${loads}; base-uri 'none'; form-action 'none'; frame-ancestors ${pagesOrigin(pages)}`;
}

/** Of the worker itself: whatever a page tells it to load, in whatever guise, it asks nobody but this server. */
export const WORKER_POLICY = "default-src 'self'";

/** Devices and sensors that no archived page gets. */
const POWERS =
  "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), identity-credentials-get=(), idle-detection=(), local-fonts=(), magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()";

/**
 * With every answer of the replay origin; the worker hands them on with the pages it makes. The allowlist (Chromium) keeps
 * a page from connecting anywhere else, WebRTC included; browsers that know the `csp` of a frame hold it to our policy.
 */
export const REPLAY_HEADERS: Headers = [
  ["Connection-Allowlist", "(response-origin)"],
  ["Allow-CSP-From", "*"],
  ["Permissions-Policy", POWERS],
  ["X-DNS-Prefetch-Control", "off"],
  ["Referrer-Policy", "same-origin"],
];
