/**
 * What every `Volume` must do: each promise and each word of store/volume.ts. Volumes of every layout run it, and those
 * behind a server. Where a volume can be checked, it is checked after each test.
 */
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { CheckOptions, Finding, SignatureAlgorithm, Volume, VolumeState } from "../store/index.ts";
import { collect } from "./volume-contents.ts";
import { describeBulk, describeConcurrency } from "./volume-suite-bulk.ts";
import { describeMigration } from "./volume-suite-migration.ts";
import { describeModes } from "./volume-suite-modes.ts";
import { describeReading } from "./volume-suite-reading.ts";
import { describeRequests } from "./volume-suite-requests.ts";
import { describeBadInput, describeStoring } from "./volume-suite-storing.ts";

/** A new and empty volume, which is gone when it is disposed of. */
export interface VolumeFixture extends AsyncDisposable {
  /** Another object after `reopen`. */
  readonly volume: Volume;
  setState(state: VolumeState): void | Promise<void>;
  /** Closes the volume and opens it again. Absent where that cannot be done. */
  readonly reopen?: (() => Promise<void>) | undefined;
  readonly check?: ((options: CheckOptions) => AsyncIterable<Finding>) | undefined;
}

export type StartVolume = (signature: SignatureAlgorithm) => VolumeFixture | Promise<VolumeFixture>;

/** The fixture of the test that runs. */
export type Use = () => VolumeFixture;

export function volumeSuite(name: string, start: StartVolume): void {
  const withVolume = (signature: SignatureAlgorithm, tests: (use: Use) => void) => {
    let fixture: VolumeFixture;
    beforeEach(async () => {
      fixture = await start(signature);
    });
    afterEach(async () => {
      const findings = fixture.check === undefined ? [] : await collect(fixture.check({ scrub: true }));
      await fixture[Symbol.asyncDispose]();
      expect(findings).toEqual([]);
    });
    tests(() => fixture);
  };
  describe(`${name} as a volume`, () => {
    withVolume("sha256", (use) => {
      describe("stores", () => describeStoring(use));
      describe("refuses", () => describeBadInput(use));
      describe("reads", () => describeReading(use));
      describe("knows requests by their ids", () => describeRequests(use));
      describe("does many things at once", () => {
        describeBulk(use);
        describeConcurrency(use);
      });
      describe("gives blocks away and takes them", () => describeMigration(use));
    });
  });
  describe(`${name} as a volume with a weak signature`, () => {
    withVolume("weak8", (use) => describeModes(use));
  });
}
