/**
 * Placement: which volume a content goes to. A policy is a small function of the signature and the volumes that take
 * contents, so that every client comes to the same answer without asking anybody.
 */
import { signatureModulo } from "../signature.ts";

/** A volume that takes contents, as a policy sees it. */
export interface PlacedVolume {
  readonly number: number;
  readonly name: string;
  /** How much it should get, beside the others. */
  readonly weight: number;
}

/**
 * Gives positions in `volumes`: first the content's home, then where it goes when that one does not answer, and where
 * its replicas go. Positions that are not given come last.
 */
export type Placement = (signature: string, volumes: readonly PlacedVolume[]) => readonly number[];

export const PLACEMENT_NAMES = ["mod", "weighted", "rendezvous"] as const;
export type PlacementName = (typeof PLACEMENT_NAMES)[number];

/** The signature, as a number, modulo the number of volumes. The load is the same for all. */
const mod: Placement = (signature, volumes) => from(signatureModulo(signature, volumes.length), volumes.length);

/** The same over weights: a volume of weight 2 gets twice as much. */
const weighted: Placement = (signature, volumes) => {
  const total = volumes.reduce((sum, { weight }) => sum + weight, 0);
  let rest = signatureModulo(signature, total);
  const home = volumes.findIndex(({ weight }) => {
    rest -= weight;
    return rest < 0;
  });
  return from(home, volumes.length);
};

/**
 * Every volume draws a number for the signature, and the highest takes it. A volume more or less changes the home of
 * those contents only that go to it or were there; `mod` changes nearly all. Weights count.
 */
const rendezvous: Placement = (signature, volumes) => {
  const scores = volumes.map(({ name, weight }) => -weight / Math.log(draw(signature, name)));
  return [...volumes.keys()].sort((one, other) => scores[other]! - scores[one]! || one - other);
};

export const PLACEMENTS: Readonly<Record<PlacementName, Placement>> = { mod, weighted, rendezvous };

function from(home: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => (home + i) % count);
}

/** Between 0 and 1, without both; the same for the same texts, and without a pattern for others. */
function draw(signature: string, name: string): number {
  let hash = 0x811c9dc5;
  for (const text of [name, "\n", signature]) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}
