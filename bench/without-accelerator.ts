/** Loaded before the command line, and in each of its threads, with `--import`: reading as it is without libdeflate. */
import { setAccelerator } from "holotype/warc";

setAccelerator(undefined);
