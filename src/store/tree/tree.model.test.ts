import { startModelled } from "../../testing/local-volume.ts";
import { codecs } from "../../testing/volume-contents.ts";
import { volumeModel } from "../../testing/volume-model.ts";
import { readVolumeSettings } from "../volume-settings.ts";
import { openTree } from "./tree-volume.ts";

// So small that the journal is settled and begun anew within a life.
const limits = { settleCount: 7, journalSizeMax: 2500 };

volumeModel("a tree", () =>
  startModelled({ layout: "tree" }, (disk, folder) =>
    openTree(disk, folder, readVolumeSettings(disk, folder), { codecs, limits }),
  ),
);
