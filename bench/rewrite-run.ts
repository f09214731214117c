/** The rewriting by itself: a plan made before, no reading back. */
import { nodeDisk } from "holotype/disk";
import { dedup } from "holotype/pipeline";

const [plan, output, ...files] = process.argv.slice(2);
await dedup(nodeDisk, files, { plan: plan!, output: output!, prove: false });
