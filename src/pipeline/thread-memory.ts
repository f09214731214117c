/**
 * What a worker thread may use for short-lived objects. Left to itself it takes three times as much, and collects no
 * faster for it: what our threads make is mostly text that is dead by the next record.
 */
export const THREAD_LIMITS = { maxYoungGenerationSizeMb: 12 } as const;
