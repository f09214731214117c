/** A volume behind a server is a volume like any other. */
import { RemoteVolume } from "../store/index.ts";
import { MemoryVolume } from "../testing/memory-volume.ts";
import { codecs } from "../testing/volume-contents.ts";
import { volumeSuite } from "../testing/volume-suite.ts";
import { serveVolume } from "./index.ts";

volumeSuite("a map behind a server", async (signature) => {
  const memory = new MemoryVolume(codecs, { signature });
  const server = await serveVolume(memory);
  const volume = new RemoteVolume({ url: server.url, timeoutMs: 5000 });
  return {
    volume,
    setState: (state) => {
      memory.state = state;
    },
    [Symbol.asyncDispose]: async () => {
      await volume[Symbol.asyncDispose]();
      await server.close();
    },
  };
});
