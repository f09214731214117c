/** A volume behind a server is a volume like any other, whatever it is made of. */
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { startModelled } from "../testing/local-volume.ts";
import { MemoryIndex } from "../testing/memory-index.ts";
import { MemoryVolume } from "../testing/memory-volume.ts";
import { packFixture } from "../testing/pack-fixture.ts";
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

volumeSuite("a pack behind a server", async (signature) => {
  const index = new MemoryIndex();
  return serveFixture(await packFixture(new ForgetfulDisk(), "/volume", signature, { openIndex: () => index }));
});

volumeModel("a tree behind a server", async () => serveFixture(await startModelled({ layout: "tree" })), { runs: 25 });
