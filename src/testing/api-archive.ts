/** An archive with something of everything that the JSON API answers about. */
import { formatIso } from "../base/index.ts";
import { captureBytes, idOf, noise } from "./capture-text.ts";

const DAY_MS = 86_400_000;
export const API_START_MS = Date.UTC(2014, 0, 1);

export function apiTime(day: number): number {
  return API_START_MS + day * DAY_MS;
}

export interface ApiVisit {
  readonly url: string;
  readonly day: number;
  readonly payload: string;
  readonly status?: string;
  readonly mime?: string;
  readonly location?: string;
  /** Tells visits of one moment apart. */
  readonly number?: number;
}

export function apiRecord({ url, day, payload, status = "200 OK", mime, location, number = 0 }: ApiVisit): Uint8Array {
  return captureBytes({
    uri: url,
    date: formatIso(apiTime(day)),
    payload: noise(payload, 300),
    status,
    mime: mime ?? "text/html",
    id: idOf(`${url} ${day} ${payload} ${number}`),
    http: location === undefined ? [] : [`Location: ${location}`],
  });
}

export const HOME = "http://www.a.example/";
export const LOGO = "http://a.example/logo.png";
export const MOVED = "https://a.example/old?x=1&y=2";
export const TWICE = "http://b.example/twice";
export const SECRET = "http://secret.example/plan.html";
const png = { mime: "image/png" };
const found = { status: "302 Found" };

export const API_VISITS: readonly ApiVisit[] = [
  ...["one", "one", "two", "one", "three"].map((payload, day) => ({ url: HOME, day, payload })),
  { url: LOGO, day: 0, payload: "logo", ...png },
  { url: LOGO, day: 3, payload: "logo", ...png },
  { url: "http://b.example/copy.png", day: 2, payload: "logo", ...png },
  { url: "http://secret.example/copy.png", day: 2, payload: "logo", ...png },
  // The same payload, but another place.
  { url: MOVED, day: 1, payload: "moved", ...found, location: "http://a.example/new" },
  { url: MOVED, day: 2, payload: "moved", ...found, location: "http://a.example/newer" },
  { url: MOVED, day: 3, payload: "moved", ...found, location: "http://a.example/new" },
  // Four contents of one moment.
  ...["p", "q", "r", "s"].map((payload, number) => ({ url: TWICE, day: 2, payload, number })),
  { url: TWICE, day: 5, payload: "p" },
  { url: "http://b.example/gone", day: 0, payload: "there" },
  { url: "http://b.example/gone", day: 4, payload: "lost", status: "404 Not Found" },
  { url: "http://b.example:8080/port", day: 4, payload: "port" },
  { url: "http://b.example/failed", day: 4, payload: "failed", status: "503 Busy" },
  { url: SECRET, day: 1, payload: "secret" },
  { url: SECRET, day: 3, payload: "more secret" },
];
