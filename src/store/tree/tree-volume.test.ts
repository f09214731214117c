import { startForgetful, startOnDisk } from "../../testing/local-volume.ts";
import { volumeSuite } from "../../testing/volume-suite.ts";

volumeSuite("a tree on a forgetful disk", (signature) => startForgetful({ layout: "tree", signature }));
volumeSuite("a tree on the real disk", (signature) => startOnDisk({ layout: "tree", signature, treeDepth: 1 }));
