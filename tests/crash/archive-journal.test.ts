/**
 * What was removed stays so after a power cut at any operation, though the catalogue is lost then: the journal is durable
 * before archive.json says how far it reaches, and that before anything is acknowledged.
 */
import { expect, it } from "vitest";
import { type Disk, removeTree } from "../../src/disk/index.ts";
import {
  capturesOf,
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
} from "../../src/testing/archive-fixture.ts";
import { noise } from "../../src/testing/capture-text.ts";
import { everyMoment } from "../../src/testing/every-stop.ts";

const NAMES = ["a", "b", "c", "d"] as const;
type Name = (typeof NAMES)[number];
const urlOf = (name: Name) => `http://${name}.example/`;
const visit = (name: Name): Visit => ({ uri: urlOf(name), timeMs: Date.UTC(2020, 0, 1), payload: noise(name, 300) });

/** What is acknowledged to be there and not to be there; the rest may be either. */
interface Noted {
  readonly there: ReadonlySet<Name>;
  readonly gone: ReadonlySet<Name>;
}

async function namesIn(disk: Disk): Promise<Set<Name>> {
  await using archive = await openReader(disk);
  const found = new Set<Name>();
  for (const name of NAMES) if ((await capturesOf(archive, urlOf(name))).length > 0) found.add(name);
  return found;
}

function expectNoted(found: ReadonlySet<Name>, { there, gone }: Noted): void {
  for (const name of there) expect(found, `${name} is there`).toContain(name);
  for (const name of gone) expect(found, `${name} is gone`).not.toContain(name);
}

function loseCatalogue(disk: Disk): void {
  for (const { name } of disk.list(FOLDER)) {
    if (/^(catalogue|timeline)-/.test(name)) removeTree(disk, `${FOLDER}/${name}`);
  }
}

it("holds what was acknowledged, with its catalogue and without", { timeout: 300_000 }, async () => {
  let noted: Noted = { there: new Set(), gone: new Set() };
  const settle = (there: readonly Name[], gone: readonly Name[]) => {
    noted = { there: new Set(there), gone: new Set(gone) };
  };
  let turn = 0;
  const count = await everyMoment(
    async (disk, look) => {
      const step = async (work: (writer: ReturnType<typeof openWriter>) => Promise<unknown>) => {
        await using writer = openWriter(disk);
        await work(writer);
      };
      const inputs = new Map(NAMES.map((name) => [name, makeInput(disk, [visitBytes(visit(name))], "/inputs")]));
      await step((writer) => writer.add([inputs.get("a")!, inputs.get("b")!]));
      settle(["a", "b"], []);
      await look();
      settle(["b"], []);
      await step((writer) => writer.remove({ url: urlOf("a") }, { reason: "asked" }));
      settle(["b"], ["a"]);
      await look();
      await step((writer) => writer.adopt([inputs.get("c")!]));
      settle(["b", "c"], ["a"]);
      await look();
      settle(["c"], []);
      await step(async (writer) => {
        await writer.remove({ url: urlOf("b") }, { reason: "asked" });
        await writer.add([inputs.get("a")!, inputs.get("d")!], { readmit: true });
      });
      settle(["a", "c", "d"], ["b"]);
    },
    () => noted,
    async (left, asked) => {
      if (left.stat(`${FOLDER}/archive.json`) === undefined) return expect(asked.there.size).toBe(0);
      if (asked.there.size > 0) expectNoted(await namesIn(left), asked);
      // Each second time the catalogue is gone as well; then it is made again, by a writer or by hand.
      if (turn++ % 2 === 1) {
        loseCatalogue(left);
        if (turn % 4 === 0) await rebuild(left);
      }
      await openWriter(left)[Symbol.asyncDispose]();
      expectNoted(await namesIn(left), asked);
      expect(await diagnose(left)).toEqual([]);
      await rebuild(left);
      expectNoted(await namesIn(left), asked);
    },
    { aftermathCount: 2 },
  );
  expect(count).toBeGreaterThan(80);
});
