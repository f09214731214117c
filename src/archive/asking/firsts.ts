/** The URLs and hosts of an archive, without a walk over all captures: each step looks for the next one. */
import { hostOf } from "../../url/index.ts";
import { urlKeyOf } from "../catalogue/capture-key.ts";
import { type CatalogueView, type FoundCapture, LAST_KEY } from "../catalogue/catalogue-view.ts";

/** The first capture of each URL key, or of each host; what has no host is left out then. In the order of keys. */
export function* firstsIn(
  catalogue: CatalogueView,
  { from = "", to = LAST_KEY }: { readonly from?: string | undefined; readonly to?: string | undefined },
  of: "key" | "host",
): Generator<FoundCapture> {
  for (let at = from; at < to; ) {
    const [found] = catalogue.rowsIn(at, to);
    if (found === undefined) return;
    const key = urlKeyOf(found.key);
    if (of === "key") {
      yield found;
      at = `${key}\x01`;
      continue;
    }
    const hasHost = hostOf(key) !== undefined;
    if (hasHost) yield found;
    // The star is the character after the parenthesis that ends a host.
    at = hasHost ? `${key.slice(0, key.indexOf(")"))}*` : `${key}\x01`;
  }
}
