/** Volumes in folders, for the suite of volumes and other tests: made, opened, opened again. */
import { type Disk, nodeDisk, scratchFolder } from "../disk/index.ts";
import { createVolume, type LocalVolume, type NewVolume, openVolume } from "../store/index.ts";
import { ForgetfulDisk } from "./forgetful-disk.ts";
import { codecs } from "./volume-contents.ts";
import type { ModelledVolume } from "./volume-model.ts";
import type { VolumeFixture } from "./volume-suite.ts";

/** Opens a volume that was made before. */
export type OpenLocal = (disk: Disk, folder: string) => Promise<LocalVolume>;

export interface LocalFixture extends VolumeFixture {
  readonly volume: LocalVolume;
  readonly disk: Disk;
  /** `meanwhile` happens while it is closed. */
  readonly reopen: (meanwhile?: () => void) => Promise<void>;
}

const openAny: OpenLocal = (disk, folder) => openVolume(disk, folder, { codecs });

/** Makes a volume in a folder that is not there yet. */
export async function startLocal(
  disk: Disk,
  folder: string,
  settings: NewVolume,
  open: OpenLocal = openAny,
): Promise<LocalFixture> {
  createVolume(disk, folder, settings);
  let volume = await open(disk, folder);
  return {
    disk,
    get volume() {
      return volume;
    },
    setState: (state) => volume.setState(state),
    reopen: async (meanwhile) => {
      await volume[Symbol.asyncDispose]();
      meanwhile?.();
      volume = await open(disk, folder);
    },
    check: (options) => volume.check(options),
    [Symbol.asyncDispose]: () => volume[Symbol.asyncDispose](),
  };
}

export function startForgetful(settings: NewVolume, open?: OpenLocal): Promise<LocalFixture> {
  return startLocal(new ForgetfulDisk(), "/volume", settings, open);
}

/** On the real disk; the folder goes with the fixture. */
export async function startOnDisk(settings: NewVolume, open?: OpenLocal): Promise<LocalFixture> {
  const scratch = scratchFolder(nodeDisk);
  const fixture = await startLocal(nodeDisk, `${scratch.path}/volume`, settings, open);
  return Object.defineProperty(fixture, Symbol.asyncDispose, {
    value: async () => {
      await fixture.volume[Symbol.asyncDispose]();
      scratch.remove();
    },
  });
}

/** On a disk whose power may be cut. */
export async function startModelled(
  settings: NewVolume,
  open: OpenLocal = openAny,
  compact?: (volume: LocalVolume) => Promise<unknown>,
): Promise<ModelledVolume> {
  let disk = new ForgetfulDisk();
  createVolume(disk, "/volume", { ...settings, signature: "weak8" });
  let volume = await open(disk, "/volume");
  return {
    get volume() {
      return volume;
    },
    ...(compact && { compact: async () => void (await compact(volume)) }),
    reopen: async () => {
      await volume[Symbol.asyncDispose]();
      volume = await open(disk, "/volume");
    },
    cutPower: async (aftermath) => {
      // What is there at this moment counts; the volume before goes on with a disk that nobody looks at.
      const found = disk.reopen(aftermath);
      await volume[Symbol.asyncDispose]();
      disk = found;
      volume = await open(disk, "/volume");
    },
    check: () => volume.check({ scrub: true }),
    [Symbol.asyncDispose]: () => volume[Symbol.asyncDispose](),
  };
}
