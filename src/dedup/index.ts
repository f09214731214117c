export * from "./candidate.ts";
export * from "./capture-set.ts";
export * from "./chooser.ts";
export * from "./policy.ts";
export * from "./reference.ts";
export * from "./rules.ts";
export * from "./tally.ts";
