/** zlib in JavaScript, loaded where it is needed: few commands meet what Node's own cannot do, and all would wait. */
import { createRequire } from "node:module";
import type * as Pako from "pako";

let loaded: typeof Pako | undefined;

/** Not by `import`: that answers later, and the reader cannot wait in the middle of a file. */
export function loadPako(): typeof Pako {
  return (loaded ??= createRequire(import.meta.url)("pako") as typeof Pako);
}
