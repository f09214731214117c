export { RowReader, RowWriter } from "./byte-rows.ts";
export { behind, type OrderedStore, type Pair, type StoreView } from "./ordered-store.ts";
export { RowChanges } from "./row-changes.ts";
export { openRows, openRowsToRead } from "./row-store.ts";
