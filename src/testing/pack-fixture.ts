/** Pack volumes for the suites: on the disk that forgets, with an index of its own, or in a folder of this machine. */
import { type Disk, nodeDisk, scratchFolder } from "../disk/index.ts";
import {
  createVolume,
  openPack,
  type PackOptions,
  readVolumeSettings,
  type SignatureAlgorithm,
} from "../store/index.ts";
import { codecs } from "./volume-contents.ts";
import type { VolumeFixture } from "./volume-suite.ts";

/** Small segments, so that every test has several of them. */
const SEGMENT_SIZE_MAX = 20_000;

export async function packFixture(
  disk: Disk,
  folder: string,
  signature: SignatureAlgorithm,
  options: Partial<PackOptions> = {},
): Promise<VolumeFixture> {
  createVolume(disk, folder, { signature });
  const open = () =>
    openPack(disk, folder, readVolumeSettings(disk, folder), {
      codecs,
      segmentSizeMax: SEGMENT_SIZE_MAX,
      ...options,
    });
  let volume = await open();
  return {
    get volume() {
      return volume;
    },
    setState: (state) => volume.setState(state),
    reopen: async () => {
      await volume[Symbol.asyncDispose]();
      volume = await open();
    },
    check: (checks) => volume.check(checks),
    [Symbol.asyncDispose]: () => volume[Symbol.asyncDispose](),
  };
}

/** With the index in LMDB. */
export async function realPackFixture(signature: SignatureAlgorithm): Promise<VolumeFixture> {
  const scratch = scratchFolder(nodeDisk);
  const fixture = await packFixture(nodeDisk, `${scratch.path}/volume`, signature);
  const close = fixture[Symbol.asyncDispose].bind(fixture);
  Object.assign(fixture, {
    [Symbol.asyncDispose]: async () => {
      await close();
      scratch[Symbol.dispose]();
    },
  });
  return fixture;
}
