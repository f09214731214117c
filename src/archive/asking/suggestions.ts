/** The keys and hosts of an archive, without a walk over all captures: each step looks for the next one. */
import { hostOf } from "../../url/index.ts";
import { urlKeyOf } from "../catalogue/capture-key.ts";
import { type CatalogueView, LAST_KEY } from "../catalogue/catalogue-view.ts";

/** URL keys that begin with a text, in order. */
export function* keysIn(catalogue: CatalogueView, prefix: string): Generator<string> {
  for (let from = prefix; ; ) {
    const found = catalogue.firstIn(from, `${prefix}${LAST_KEY}`);
    if (found === undefined) return;
    const key = urlKeyOf(found);
    yield key;
    from = `${key}\x01`;
  }
}

/** Hosts, in the order of their keys. What has no host is left out. */
export function* hostsIn(catalogue: CatalogueView, from = ""): Generator<string> {
  for (let at = from; ; ) {
    const found = catalogue.firstIn(at, LAST_KEY);
    if (found === undefined) return;
    const key = urlKeyOf(found);
    const host = hostOf(key);
    const end = key.indexOf(")");
    if (host !== undefined && end > 0) yield host;
    at = host === undefined || end < 1 ? `${key}\x01` : `${key.slice(0, end)}*`;
  }
}
