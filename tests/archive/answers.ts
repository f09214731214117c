/** What an archive answers to every question, in the form of the oracle; and how a schedule is carried out. */
import { Archive, type Capture, type Lifespan } from "../../src/archive/index.ts";
import { FOLDER, makeInput, openWriter } from "../../src/testing/archive-fixture.ts";
import type { Dice } from "../../src/testing/dice.ts";
import type { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { type OracleCapture, type OracleLifespan, oracle } from "./oracle.ts";
import { type Plan, rawFiles, removedBy, type Schedule } from "./random-plan.ts";
import { TIMES } from "./random-records.ts";

const HOUR_MS = 3_600_000;
/** Each time that something happened, and one between it and the next. */
const MOMENTS = TIMES.flatMap((timeMs) => [timeMs, timeMs + HOUR_MS]);

/** Commits are as small as chance has it. */
export async function perform(disk: ForgetfulDisk, schedule: Schedule, dice: Dice): Promise<void> {
  const { segmentSizeBytes } = schedule;
  let nowMs = Date.UTC(2026, 0, 1);
  const clock = { now: () => ++nowMs };
  const commitChangeCount = [1, 10, 100_000][dice.below(3)]!;
  for (const step of schedule.steps) {
    await using writer = openWriter(disk, { segmentSizeBytes, clock, commitChangeCount });
    if (step.kind === "compact") writer.compact();
    else if (step.kind === "remove") await writer.remove(step.removal, { reason: "a test" });
    else {
      const inputs = step.files.map((records) => makeInput(disk, records));
      if (step.kind === "add") await writer.add(inputs, { readmit: step.readmit });
      else await writer.adopt(inputs);
    }
  }
}

async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

type Told = Omit<OracleCapture, "id" | "told" | "contentStatus">;

function capture(it: Capture): Told {
  const flags = new Set<string>(it.flags);
  return {
    key: it.key,
    url: it.url,
    timeMs: it.timeMs ?? null,
    type: it.type,
    class: it.class,
    status: it.status ?? null,
    location: it.location ?? null,
    mime: it.mime ?? null,
    sha256: it.sha256 ?? null,
    size: it.size ?? null,
    pending: flags.has("pending"),
    cutOff: flags.has("cut-off"),
    digestLies: flags.has("digest-lies"),
  };
}

function lifespan({
  key,
  birth,
  end,
  lastSeen,
  captures,
  status,
  mime,
  url,
  sha256,
  payloadSize,
}: Lifespan): OracleLifespan {
  return {
    key,
    birth,
    end: end ?? null,
    lastSeen,
    captures,
    status: status ?? null,
    mime: mime ?? null,
    url,
    sha256,
    size: payloadSize,
  };
}

function sorted(captures: readonly Told[]): Told[] {
  return captures.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

/** One line an answer, so that differences are short. */
function inLines(answers: Readonly<Record<string, readonly unknown[]>>): string[] {
  return Object.entries(answers).flatMap(([name, list]) => list.map((each) => `${name} ${JSON.stringify(each)}`));
}

export async function answersOf(disk: ForgetfulDisk): Promise<string[]> {
  await using archive = await Archive.open(disk, FOLDER);
  const captures = await all(archive.captures({}));
  const own = captures.filter((it, i) => captures.findIndex(({ cursor }) => cursor === it.cursor) === i);
  const urls = [...new Map(own.map((it) => [it.key, it.url])).values()];
  const moments = [];
  for (const url of urls) {
    for (const timeMs of MOMENTS) {
      const moment = await archive.at(url, timeMs);
      moments.push(moment === undefined ? null : { ...lifespan(moment.lifespan), certainty: moment.certainty });
    }
  }
  const histories = await Promise.all(urls.map((url) => all(archive.history(url))));
  const slices = await Promise.all(MOMENTS.map((timeMs) => all(archive.slice(timeMs))));
  const changes = await all(archive.changes(TIMES[0]! - 1, TIMES.at(-1)!));
  return inLines({
    captures: sorted(own.map(capture)),
    lifespans: histories.flat().map(lifespan),
    moments,
    slices: slices.map((slice) => slice.map(lifespan)),
    changes: changes.map(({ key, timeMs, kind }) => ({ key, timeMs, kind })),
  });
}

export function expected(plan: Plan): string[] {
  const answers = oracle(rawFiles(plan), removedBy(plan));
  const keys = Object.keys(answers.captures);
  return inLines({
    captures: sorted(
      Object.values(answers.captures)
        .flat()
        .map(({ id: _id, told: _told, contentStatus: _status, ...rest }) => rest),
    ),
    lifespans: Object.values(answers.lifespans).flat(),
    moments: keys.flatMap((key) =>
      MOMENTS.map((timeMs) => {
        const held = answers.at(key, timeMs);
        return held === undefined ? null : { ...held, certainty: answers.certainty(key, timeMs) };
      }),
    ),
    slices: MOMENTS.map((timeMs) => answers.slice(timeMs)),
    changes: answers
      .changes(TIMES[0]! - 1, TIMES.at(-1)!)
      .toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : one.timeMs - other.timeMs)),
  });
}
