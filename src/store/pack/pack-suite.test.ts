import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { MemoryIndex } from "../../testing/memory-index.ts";
import { packFixture, realPackFixture } from "../../testing/pack-fixture.ts";
import { volumeSuite } from "../../testing/volume-suite.ts";

volumeSuite("a pack in memory", (signature) => {
  const index = new MemoryIndex();
  return packFixture(new ForgetfulDisk(), "/volume", signature, { openIndex: () => index });
});

volumeSuite("a pack in memory whose index is lost at every opening", (signature) =>
  packFixture(new ForgetfulDisk(), "/volume", signature, { openIndex: () => new MemoryIndex() }),
);

volumeSuite("a pack in a folder", realPackFixture);
