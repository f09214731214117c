import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Disk } from "../disk/index.ts";
import { type LocalFixture, startOnDisk } from "../testing/local-volume.ts";
import {
  type Content,
  collect,
  contentOf,
  encoded,
  mixedBytes,
  retrieve,
  storing,
} from "../testing/volume-contents.ts";
import { blockLocation } from "./tree/location.ts";
import type { VolumeLayout } from "./volume-settings.ts";

const small = contentOf("sha256", "<h1>A drawer of beetles</h1>".repeat(100));
const large = contentOf("sha256", mixedBytes(1_300_000));

function filesOf(disk: Disk, folder: string): string[] {
  return disk
    .list(folder)
    .flatMap(({ name, kind }) => (kind === "folder" ? filesOf(disk, join(folder, name)) : [join(folder, name)]));
}

function read(disk: Disk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

/** The file with these bytes in it, and where they are. */
function find(disk: Disk, folder: string, bytes: Uint8Array): { readonly path: string; readonly at: number } {
  for (const path of filesOf(disk, folder)) {
    const at = read(disk, path).indexOf(bytes);
    if (at >= 0) return { path, at };
  }
  throw new Error("not there");
}

type Damage = (disk: Disk, path: string, at: number) => void;

const DAMAGES: Readonly<Record<string, Damage>> = {
  rotten: (disk, path, at) => {
    using file = disk.open(path, "update");
    const byte = Buffer.alloc(1);
    file.read(byte, at + 20);
    file.write(Buffer.from([byte[0]! ^ 4]), at + 20);
  },
  cut: (disk, path, at) => {
    using file = disk.open(path, "update");
    file.truncate(at + 20);
  },
  gone: (disk, path) => disk.remove(path),
};

async function damageStored(fixture: LocalFixture, stored: Uint8Array, damage: Damage): Promise<void> {
  const { disk, volume } = fixture;
  await fixture.reopen(() => {
    const { path, at } = find(disk, volume.folder, stored);
    damage(disk, path, at);
  });
}

async function damaged(layout: VolumeLayout, content: Content, damage: Damage): Promise<LocalFixture> {
  const fixture = await startOnDisk({ layout });
  await fixture.volume.store(storing(content, { compression: "zlib" }));
  await fixture.volume.store(storing(content));
  await damageStored(fixture, encoded(content, "zlib"), damage);
  return fixture;
}

const CASES = (["pack", "tree"] as const).flatMap((layout) =>
  Object.keys(DAMAGES).flatMap((kind) =>
    [small, large].map((content) => ({ layout, kind, content, size: content.size })),
  ),
);

describe("an original that cannot be read", () => {
  it.each(CASES)("stands for no content: $layout, $kind, $size bytes", async ({ layout, kind, content }) => {
    await using fixture = await damaged(layout, content, DAMAGES[kind]!);
    const { signature, size } = content;
    expect(await fixture.volume.refer({ signature, size })).toBeUndefined();
  });

  describe.each(["regular", "compare"] as const)("is replaced in mode %s", (mode) => {
    it.each(CASES)("$layout, $kind, $size bytes", async ({ layout, kind, content }) => {
      await using fixture = await damaged(layout, content, DAMAGES[kind]!);
      const receipt = await fixture.volume.store(storing(content, { mode, compression: "gzip", requestId: "one" }));
      // The counter of a file that is gone went with it.
      const isGone = layout === "tree" && kind === "gone";
      const references = isGone ? 1 : 3;
      expect(receipt).toMatchObject({ overflow: 0, references });
      for (let round = 0; round < 2; round++) {
        expect(await retrieve(fixture.volume, receipt)).toEqual(content.bytes);
        expect(await fixture.volume.store(storing(content, { mode, requestId: "one" }))).toEqual(receipt);
        expect(await fixture.volume.refer({ ...content, requestId: `more-${round}` })).toMatchObject({
          references: references + round + 1,
        });
        const found = await collect(fixture.volume.check({ scrub: true }));
        // What is gone is told: in a pack it is no longer needed.
        if (layout === "tree" && !isGone) expect(found).toEqual([]);
        expect(found.filter(({ message }) => message.includes(content.signature))).toEqual([]);
        await fixture.reopen();
      }
    });
  });

  it("is not taken for another content where signatures collide", async () => {
    for (const layout of ["pack", "tree"] as const) {
      await using fixture = await startOnDisk({ layout, signature: "rabin64" });
      const content = contentOf("rabin64", "a label that somebody wrote");
      const first = await fixture.volume.store(storing(content));
      await damageStored(fixture, content.bytes, DAMAGES["rotten"]!);
      const second = await fixture.volume.store(storing(content));
      expect(second).toMatchObject({ outcome: "new", overflow: 1 });
      expect(await retrieve(fixture.volume, second)).toEqual(content.bytes);
      expect(await fixture.volume.find([content.signature])).toMatchObject([
        [{ overflow: first.overflow }, { overflow: 1 }],
      ]);
    }
  });

  it("is not replaced in a volume that takes no contents", async () => {
    for (const layout of ["pack", "tree"] as const) {
      await using fixture = await damaged(layout, small, DAMAGES["rotten"]!);
      fixture.volume.setState("read-only");
      await expect(fixture.volume.store(storing(small))).rejects.toMatchObject({ code: "HT_READ_ONLY" });
    }
  });

  it("with a header that cannot be read keeps its number in a tree", async () => {
    await using fixture = await startOnDisk({ layout: "tree" });
    await fixture.volume.store(storing(small));
    await fixture.reopen();
    const path = join(fixture.volume.folder, "blocks", blockLocation({ ...small, overflow: 0 }, 3));
    {
      using file = fixture.disk.open(path, "update");
      file.write(Buffer.from("?"), 0);
    }
    const receipt = await fixture.volume.store(storing(small));
    expect(receipt).toMatchObject({ outcome: "new", overflow: 1 });
    expect(await retrieve(fixture.volume, receipt)).toEqual(small.bytes);
  });
});

describe("a segment that was cut", () => {
  it("is not written to again: what is stored next is there after a crash", async () => {
    await using fixture = await startOnDisk({ layout: "pack" });
    await fixture.volume.store(storing(small));
    const { folder } = fixture.volume;
    await damageStored(fixture, small.bytes, DAMAGES["cut"]!);
    const other = contentOf("sha256", "other");
    await fixture.volume.store(storing(other));
    const names = fixture.disk.list(join(folder, "segments")).map(({ name }) => name);
    // Behind the end that the index knew of the first, it would be passed over when the volume is opened again.
    expect(names.sort()).toEqual(["000001.warc", "000002.warc"]);
  });
});
