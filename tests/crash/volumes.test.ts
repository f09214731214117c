import { openTree, readVolumeSettings } from "../../src/store/index.ts";
import { codecs } from "../../src/testing/volume-contents.ts";
import { volumeCrashSuite } from "../../src/testing/volume-crash-suite.ts";

volumeCrashSuite("a tree", {
  settings: { layout: "tree" },
  // So small that all that happens only now and then happens within the script.
  open: (disk, folder) =>
    openTree(disk, folder, readVolumeSettings(disk, folder), {
      codecs,
      limits: { settleCount: 6, journalSizeMax: 3000 },
    }),
  reopenBefore: [9],
});
