import { DiskIndex } from "../../testing/disk-index.ts";
import { startModelled } from "../../testing/local-volume.ts";
import { codecs } from "../../testing/volume-contents.ts";
import { volumeModel } from "../../testing/volume-model.ts";
import { readVolumeSettings } from "../volume-settings.ts";
import { openPack, PackVolume } from "./pack-volume.ts";

// So small that segments are sealed and compacted within a life.
volumeModel("a pack", () =>
  startModelled(
    { layout: "pack" },
    (disk, folder) =>
      openPack(disk, folder, readVolumeSettings(disk, folder), {
        codecs,
        segmentSizeMax: 2500,
        openIndex: () => new DiskIndex(disk, folder),
      }),
    async (volume) => {
      if (volume instanceof PackVolume) await volume.compact();
    },
  ),
);
