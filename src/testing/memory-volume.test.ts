import { MemoryVolume } from "./memory-volume.ts";
import { codecs } from "./volume-contents.ts";
import { volumeSuite } from "./volume-suite.ts";

volumeSuite("a map", (signature) => {
  const volume = new MemoryVolume(codecs, { signature });
  return {
    volume,
    setState: (state) => {
      volume.state = state;
    },
    [Symbol.asyncDispose]: () => volume[Symbol.asyncDispose](),
  };
});
