import { openPack, openTree, readVolumeSettings } from "../../src/store/index.ts";
import { DiskIndex } from "../../src/testing/disk-index.ts";
import { codecs } from "../../src/testing/volume-contents.ts";
import { type CrashSubject, volumeCrashSuite } from "../../src/testing/volume-crash-suite.ts";
import { LARGE_SCRIPT } from "../../src/testing/volume-script.ts";

const tree: CrashSubject = {
  settings: { layout: "tree" },
  // So small that all that happens only now and then happens within the script.
  open: (disk, folder) =>
    openTree(disk, folder, readVolumeSettings(disk, folder), {
      codecs,
      limits: { settleCount: 6, journalSizeMax: 3000 },
    }),
};

const pack: CrashSubject = {
  settings: { layout: "pack" },
  open: (disk, folder) =>
    openPack(disk, folder, readVolumeSettings(disk, folder), {
      codecs,
      segmentSizeMax: 3000,
      openIndex: () => new DiskIndex(disk, folder),
    }),
};

volumeCrashSuite("a tree", { ...tree, reopenBefore: [9] });
volumeCrashSuite("a tree with large contents", tree, LARGE_SCRIPT);
volumeCrashSuite("a pack", { ...pack, reopenBefore: [9] });
volumeCrashSuite("a pack with large contents", pack, LARGE_SCRIPT);
