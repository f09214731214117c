/**
 * The files that pages load: style, icon and the one script of our own. Each has the digest of its bytes in its name, so
 * that browsers keep it for good, and the policy of a page names exactly these.
 */
import { createHash } from "node:crypto";
import { ArchiveError } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { PAGES_STYLE, REPLAY_STYLE, VIEWS_STYLE } from "../../markup/index.ts";
import type { Asked, Route } from "../route.ts";
import { ICON } from "./icon.ts";

interface Asset {
  readonly type: string;
  readonly text: string;
}

const FOREVER = "public, max-age=31536000, immutable";

export class Assets {
  private readonly byName = new Map<string, Asset>();
  /** Paths below the place of the server: `/static/pages-0123456789ab.css`. */
  readonly style: string;
  readonly icon: string;
  /** Absent where the server was given none: the pages work without. */
  readonly script: string | undefined;

  constructor(script: string | undefined) {
    this.style = this.add("css", "text/css; charset=utf-8", PAGES_STYLE + REPLAY_STYLE + VIEWS_STYLE);
    this.icon = this.add("svg", "image/svg+xml", ICON);
    this.script = script === undefined ? undefined : this.add("js", "text/javascript; charset=utf-8", script);
  }

  private add(ending: string, type: string, text: string): string {
    const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
    const name = `pages-${digest}.${ending}`;
    this.byName.set(name, { type, text });
    return `/static/${name}`;
  }

  get(name: string): Asset | undefined {
    return this.byName.get(name);
  }
}

function assetAnswer({ assets, found }: Asked): ServerAnswer {
  const asset = assets.get(found["name"] ?? "");
  if (asset === undefined) throw new ArchiveError("HT_NOT_FOUND", "no such file of the pages");
  return {
    status: 200,
    headers: [
      ["Content-Type", asset.type],
      ["Cache-Control", FOREVER],
      ["X-Content-Type-Options", "nosniff"],
      ["Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"],
    ],
    body: asset.text,
    compress: true,
  };
}

export const ASSET_ROUTE: Route = {
  pattern: "/static/<file>",
  match: /^static\/(?<name>[^/?]+)$/s,
  isOfServer: true,
  answer: assetAnswer,
};
