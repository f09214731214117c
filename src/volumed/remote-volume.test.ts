/** A volume behind a server is a volume like any other, whatever it is made of. */
import { startForgetful, startModelled, startOnDisk } from "../testing/local-volume.ts";
import { MemoryVolume } from "../testing/memory-volume.ts";
import { serveFixture } from "../testing/served-volume.ts";
import { codecs } from "../testing/volume-contents.ts";
import { volumeModel } from "../testing/volume-model.ts";
import { volumeSuite } from "../testing/volume-suite.ts";

volumeSuite("a map behind a server", async (signature) => {
  const volume = new MemoryVolume(codecs, { signature });
  return serveFixture({
    volume,
    setState: (state) => {
      volume.state = state;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});

volumeSuite("a tree behind a server", async (signature) =>
  serveFixture(await startForgetful({ layout: "tree", signature })),
);

volumeSuite("a pack behind a server", async (signature) =>
  serveFixture(await startOnDisk({ layout: "pack", signature })),
);

volumeModel("a tree behind a server", async () => serveFixture(await startModelled({ layout: "tree" })), { runs: 60 });
