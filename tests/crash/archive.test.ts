/** An archive at every power cut: what was acknowledged is there, everything fits together, and the work can be gone on with. */
import { describe, expect, it } from "vitest";
import type { ArchiveWriter } from "../../src/archive/index.ts";
import {
  diagnose,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
  visitId,
} from "../../src/testing/archive-fixture.ts";
import { capturesOf, payloadOf } from "../../src/testing/asked-archive.ts";
import { noise } from "../../src/testing/capture-text.ts";
import { newSeed } from "../../src/testing/dice.ts";
import { everyFullDisk, everyMoment } from "../../src/testing/every-stop.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";

const DAY_MS = 86_400_000;
const PAYLOADS = [noise("one", 700), noise("two", 700), noise("three", 900)] as const;

function visit(path: string, day: number, content: 0 | 1 | 2): Visit {
  return { uri: `http://a.example/${path}`, timeMs: Date.UTC(2020, 0, 1) + day * DAY_MS, payload: PAYLOADS[content] };
}

const FIRST = [visit("x", 1, 0), visit("y", 1, 1)];
const SECOND = [visit("x", 2, 0), visit("y", 2, 2), visit("z", 2, 1)];
const HELD = [visit("x", 3, 1), visit("w", 3, 2)];
const THIRD = [visit("w", 4, 2), visit("x", 4, 0)];

interface Step {
  readonly name: string;
  readonly adds: readonly Visit[];
  readonly removes?: (each: Visit) => boolean;
  /** Without a writer for a step that opens the archive itself. */
  readonly isAlone?: boolean;
  run(writer: ArchiveWriter | undefined, disk: ForgetfulDisk): unknown;
}

const add = (visits: readonly Visit[]): Step => ({
  name: `add ${visits.length}`,
  adds: visits,
  run: (writer, disk) => writer!.add([makeInput(disk, visits.map(visitBytes))]),
});

const SCRIPT: readonly Step[] = [
  add(FIRST),
  add(SECOND),
  {
    name: "adopt",
    adds: HELD,
    run: (writer, disk) => writer!.adopt([makeInput(disk, HELD.map(visitBytes), "/holdings")]),
  },
  add(THIRD),
  {
    name: "remove",
    adds: [],
    removes: ({ uri }) => uri.endsWith("/y"),
    run: (writer) => writer!.remove({ url: "http://a.example/y" }, { reason: "a test" }),
  },
  { name: "compact", adds: [], run: (writer) => writer!.compact({ deadShare: 0.01 }) },
  { name: "rebuild", adds: [], isAlone: true, run: (_, disk) => rebuild(disk, { segmentSizeBytes: 3000 }) },
];

/** What the archive must have, and what it may have besides: the step that was under way may have happened or not. */
interface Noted {
  readonly sure: readonly Visit[];
  readonly maybe: readonly Visit[];
}

async function checkArchive(disk: ForgetfulDisk, { sure, maybe }: Noted): Promise<void> {
  if (disk.stat("/archive/archive.json") === undefined) {
    expect(sure).toEqual([]);
    return;
  }
  if (sure.length > 0) {
    // What was acknowledged is there for who reads, whether or not somebody has written since.
    await using archive = await openReader(disk);
    for (const each of sure) expect(await capturesOf(archive, each.uri, each.timeMs)).not.toEqual([]);
  }
  {
    await using _ = openWriter(disk, { segmentSizeBytes: 3000 });
  }
  await using archive = await openReader(disk);
  const found = new Set<string>();
  for (const each of [...sure, ...maybe]) {
    for (const capture of await capturesOf(archive, each.uri, each.timeMs)) {
      await using opened = await archive.open(capture);
      expect(opened.id).toBe(visitId(each));
      expect(await payloadOf(archive, capture)).toEqual(each.payload);
      expect((await archive.at(each.uri, each.timeMs))?.capture.cursor).toBe(capture.cursor);
      found.add(visitId(each));
    }
  }
  expect(sure.filter((each) => !found.has(visitId(each)))).toEqual([]);
  expect((await archive.counts()).captures).toBe(found.size);
  expect(await diagnose(disk)).toEqual([]);
}

async function play(
  disk: ForgetfulDisk,
  steps: readonly Step[],
  onStep: (noted: Noted) => Promise<void> | void,
): Promise<void> {
  let there: readonly Visit[] = [];
  for (const step of steps) {
    const { adds, isAlone = false, removes = () => false } = step;
    await onStep({ sure: there.filter((each) => !removes(each)), maybe: [...adds, ...there.filter(removes)] });
    {
      await using writer = isAlone ? undefined : openWriter(disk, { segmentSizeBytes: 3000 });
      await step.run(writer, disk);
    }
    there = [...there.filter((each) => !removes(each)), ...adds];
    await onStep({ sure: there, maybe: [] });
  }
}

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const SEED = long === undefined ? 20261118 : newSeed();

describe("an archive", () => {
  it(`has what it acknowledged after a power cut at any moment; seed ${SEED}`, { timeout: 300_000 }, async () => {
    let noted: Noted = { sure: [], maybe: [] };
    const count = await everyMoment(
      (disk, look) =>
        play(disk, SCRIPT, async (next) => {
          await look();
          noted = next;
        }),
      () => noted,
      checkArchive,
      { seed: SEED, aftermathCount: 1 },
    );
    expect(count).toBeGreaterThan(150);
  });

  it("loses nothing on a disk that is full", { timeout: 300_000 }, async () => {
    let noted: Noted = { sure: [], maybe: [] };
    await everyFullDisk(
      async (disk) => {
        noted = { sure: [], maybe: [] };
        await play(disk, SCRIPT.slice(0, 4), (next) => {
          noted = next;
        });
      },
      async (disk, failure) => {
        if (failure !== undefined)
          expect(failure).toMatchObject({ code: expect.stringMatching(/^HT_(?:NO_SPACE|IO)$/) as unknown });
        await checkArchive(disk.reopen({ data: "keep", names: "keep", seed: 0 }), noted);
      },
    );
  });

  it("acknowledges nothing after a sync that failed, however often it is asked", { timeout: 300_000 }, async () => {
    for (let failSyncAt = 1; ; failSyncAt++) {
      const before = new ForgetfulDisk();
      const inputs = [FIRST, SECOND].map((visits) => makeInput(before, visits.map(visitBytes)));
      const disk = before.reopen({ data: "keep", names: "keep", seed: 0 }, { failSyncAt });
      let sure: Visit[] = [];
      let failures = 0;
      try {
        await using writer = openWriter(disk, { segmentSizeBytes: 3000 });
        for (const [i, input] of [...inputs, ...inputs].entries()) {
          try {
            await writer.add([input]);
            sure = [...sure, ...[FIRST, SECOND][i % 2]!];
          } catch {
            failures++;
          }
        }
      } catch {
        failures++;
      }
      await checkArchive(disk.reopen({ data: "drop", names: "drop", seed: 0 }), {
        sure: [...new Set(sure)],
        maybe: [...FIRST, ...SECOND].filter((each) => !sure.includes(each)),
      });
      if (failures === 0) break;
    }
  });

  it("keeps what stands behind damage when a rebuild was cut off", { timeout: 300_000 }, async () => {
    const sound = new ForgetfulDisk();
    const days = Array.from({ length: 12 }, (_, day) => visit(`day-${day}`, day, 0));
    const visits = days.map((each, day) => ({ ...each, payload: noise(`day ${day}`, 500) }));
    {
      await using writer = openWriter(sound, { segmentSizeBytes: 4000 });
      await writer.add([makeInput(sound, visits.map(visitBytes))]);
    }
    const [segment] = sound
      .list("/archive/volumes/0/segments")
      .map(({ name }) => `/archive/volumes/0/segments/${name}`);
    rot(sound, segment!, 2000);
    const size = sound.stat(segment!)!.sizeBytes;
    let reachable = 0;
    for (let stopAt = 1; ; stopAt++) {
      const disk = sound.reopen({ data: "keep", names: "keep", seed: 0 }, { stopAt });
      await rebuild(disk, { commitChangeCount: 4, acceptLoss: true }).catch((error: unknown) => {
        if (!disk.operations.stopped) throw error;
      });
      const left = disk.reopen({ data: "keep", names: "keep", seed: 0 });
      {
        await using _ = openWriter(left, { segmentSizeBytes: 4000 });
      }
      expect(left.stat(segment!)!.sizeBytes).toBe(size);
      await using archive = await openReader(left);
      const { captures: count } = await archive.counts();
      expect(count).toBeGreaterThanOrEqual(visits.length - 2);
      reachable = count;
      if (!disk.operations.stopped) break;
    }
    expect(reachable).toBeLessThan(visits.length);
  });
});

/**
 * Changes bytes, as disks do over the years: more than the ten of a gzip header, of which some mean nothing, so that a
 * record is damaged wherever they lie.
 */
function rot(disk: ForgetfulDisk, path: string, position: number): void {
  using file = disk.open(path, "update");
  const bytes = Buffer.alloc(24);
  file.read(bytes, position);
  for (const [i, byte] of bytes.entries()) bytes[i] = byte ^ 0xff;
  file.write(bytes, position);
  file.sync();
}
