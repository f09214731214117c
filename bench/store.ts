/**
 * The six experiments of the report on Webstore, with clients that are processes of their own, beside what a file server
 * with sync does over the same loopback HTTP. Ratios are of the yardstick's time to ours: above 1 is in our favour.
 */
import { readFileSync } from "node:fs";
import { limitRow, type Row, ratioRow } from "./report.ts";
import type { Task } from "./store-client.ts";
import { Server, Team } from "./store-team.ts";

const CLIENTS = [1, 5, 10, 20];
/** The set of the report, and how many of its kind are one measurement: of one, 20 clients would have 50 pages each. */
const SET_PAGES = 1000;
const SETS = 4;
const MEAN_SIZE = 19_200;
const LARGE_MEAN_SIZE = 15_000;

interface Bench {
  readonly team: Team;
  readonly pages: number;
  readonly rounds: number;
  readonly rows: Row[];
}

export async function run(quick: boolean): Promise<Row[]> {
  const bench: Bench = { team: new Team(20), pages: quick ? 400 : SETS * SET_PAGES, rounds: quick ? 1 : 2, rows: [] };
  try {
    await basicOperations(bench);
    await storeModes(bench);
    await acrossVolumes(bench);
    await overVolumes(bench);
    await largeSet(bench, quick ? 2000 : 100_000, quick ? 500 : 10_000);
  } finally {
    bench.team.stop();
  }
  return bench.rows;
}

const perSecond = (count: number, seconds: number) => `${Math.round(count / seconds)} /s`;

function tell(text: string): void {
  console.error(`  ${text}`);
}

type Setup = Omit<Task, "kind" | "set" | "from" | "to"> & { readonly pages: number };

/**
 * Every client and both servers have done everything before it is measured: the compiler is not what is measured. With
 * 200 contents for each of 20 clients a fifth of a client's time in bulk was still the compiler's, so bulk is done more
 * often than the rest.
 */
async function warmUp(team: Team, ours: Setup, theirs: Setup): Promise<void> {
  for (const set of [1, 2, 3]) {
    for (const kind of ["store", "store", "retrieve", "retrieve-bulk", "delete", "delete", "store-bulk"] as const) {
      await team.run(20, { ...ours, set, kind });
    }
    for (const kind of ["retrieve-bulk", "store-bulk", "store-bulk", "retrieve-bulk", "retrieve-bulk"] as const) {
      await team.run(20, { ...ours, set, kind });
    }
    for (const kind of ["store", "retrieve", "delete"] as const) await team.run(20, { ...theirs, set, kind });
  }
}

/** Experiments 1 to 3: retrieve, delete, store, with 1, 5, 10 and 20 clients. */
async function basicOperations({ team, pages, rounds, rows }: Bench): Promise<void> {
  const best = new Map<string, number>();
  const note = (name: string, clients: number, { seconds, cpuSeconds }: { seconds: number; cpuSeconds: number }) => {
    const key = `${name} ${clients}`;
    best.set(key, Math.min(best.get(key) ?? Number.POSITIVE_INFINITY, seconds));
    const cpu = `${Math.round((1e6 * cpuSeconds) / pages)} µs of the processor at the client`;
    tell(`${clients} clients, ${name}: ${perSecond(pages, seconds)}, ${cpu}`);
  };
  const [ours, files] = [await Server.start("ours", "volume"), await Server.start("yardstick", "files")];
  const our = { target: "ours", urls: [ours.url], pages, meanSize: MEAN_SIZE } as const;
  const theirs = { target: "yardstick", urls: [files.url], pages, meanSize: MEAN_SIZE } as const;
  await warmUp(team, our, theirs);
  for (let round = 0; round < rounds; round++) {
    for (const clients of CLIENTS) {
      const set = 100 * (round + 1) + clients;
      const run = (name: string, task: typeof our | typeof theirs, kind: Task["kind"], own = set) =>
        team.run(clients, { ...task, set: own, kind }).then((taken) => note(name, clients, taken));
      await run("files store", theirs, "store");
      await run("store", our, "store");
      await run("store duplicates", our, "store");
      await run("files retrieve", theirs, "retrieve");
      await run("retrieve", our, "retrieve");
      await run("retrieve in bulk", our, "retrieve-bulk");
      await run("delete duplicates", our, "delete");
      await run("delete blocks", our, "delete");
      await run("files delete", theirs, "delete");
      await run("store in bulk", our, "store-bulk", set + 50);
    }
  }
  await ours.stop();
  await files.stop();
  const mean = (name: string) => CLIENTS.reduce((sum, clients) => sum + best.get(`${name} ${clients}`)!, 0);
  /** "On average faster", as the report has it: the mean over the numbers of clients, each counting as much. */
  const meanRatio = (reference: string, name: string) =>
    CLIENTS.reduce((sum, count) => sum + best.get(`${reference} ${count}`)! / best.get(`${name} ${count}`)!, 0) /
    CLIENTS.length;
  const over = (metric: string, name: string, reference: string, goal: number) =>
    rows.push(
      ratioRow(
        `${metric}, mean of 1 to 20 clients`,
        perSecond(CLIENTS.length * pages, mean(name)),
        `files ${perSecond(CLIENTS.length * pages, mean(reference))}`,
        meanRatio(reference, name),
        goal,
      ),
    );
  const at = (clients: number, metric: string, name: string, reference: string, goal: number) => {
    const [seconds, other] = [best.get(`${name} ${clients}`)!, best.get(`${reference} ${clients}`)!];
    const label = reference.startsWith("files") ? "files" : reference;
    rows.push(
      ratioRow(
        `${metric}, ${clients === 1 ? "one client against one" : `${clients} clients`}`,
        perSecond(pages, seconds),
        `${label} ${perSecond(pages, other)}`,
        other / seconds,
        goal,
      ),
    );
  };
  over("1. retrieve", "retrieve", "files retrieve", 1.68);
  over("1. retrieve in bulk", "retrieve in bulk", "files retrieve", 4);
  over("2. delete a duplicate", "delete duplicates", "files delete", 1.67);
  over("2. delete a block", "delete blocks", "files delete", 1.6);
  at(10, "3. store, new, one by one", "store", "files store", 3);
  at(10, "3. store, new, in bulk", "store in bulk", "files store", 15);
  at(1, "3. store, new, in bulk", "store in bulk", "files store", 15);
  at(10, "3. store, duplicates", "store duplicates", "store", 2);
}

const SHARES = [0, 0.2, 0.4, 0.6, 0.8, 1];
const MODES = ["regular", "compare", "force-new"] as const;

/** Experiment 4: the three modes as more and more of the contents are there already. */
async function storeModes({ team, pages, rounds, rows }: Bench): Promise<void> {
  const seconds = new Map<string, number>();
  const server = await Server.start("ours", "volume");
  const task = { target: "ours", urls: [server.url], pages: pages / 2, meanSize: MEAN_SIZE } as const;
  // The set with an odd number is there before, and that with the next is what it is mixed with.
  let set = 1;
  for (let round = 0; round <= rounds; round++) {
    for (const share of SHARES) {
      for (const mode of MODES) {
        await team.run(10, { ...task, kind: "store-bulk", set });
        const mixed = { kind: "store", set: set + 1, duplicatesOf: set, mode, share } as const;
        const taken = await team.run(10, { ...task, ...mixed });
        set += 2;
        // The first round is for the compiler.
        if (round === 0) continue;
        const name = `${mode} ${share}`;
        seconds.set(name, Math.min(seconds.get(name) ?? Number.POSITIVE_INFINITY, taken.seconds));
      }
    }
  }
  await server.stop();
  for (const share of SHARES) {
    const shown = MODES.map((mode) => `${mode} ${seconds.get(`${mode} ${share}`)!.toFixed(2)} s`);
    tell(`${share * 100} % duplicates: ${shown.join(", ")}`);
  }
  const fall = (mode: string) => seconds.get(`${mode} 0`)! / seconds.get(`${mode} 1`)!;
  const shape = (mode: string) =>
    SHARES.map((share) => `${Math.round(1000 * seconds.get(`${mode} ${share}`)!)}`).join(", ");
  rows.push(ratioRow(`4. regular, ms at 0 to 100 % duplicates: ${shape("regular")}`, "", "", fall("regular"), 1.2));
  rows.push(ratioRow(`4. compare, ms at 0 to 100 % duplicates: ${shape("compare")}`, "", "", fall("compare"), 1));
  const forced = { ...ratioRow(`4. force-new, ms: ${shape("force-new")}`, "", "", fall("force-new"), 0) };
  rows.push({ ...forced, goal: "about 1" });
}

/** Experiment 5: one client, more and more volumes, duplicates looked for in all of them. */
async function acrossVolumes({ team, pages, rounds, rows }: Bench): Promise<void> {
  const COUNTS = [1, 2, 4, 8];
  const best = new Map<number, number>();
  const servers: Server[] = [];
  for (let i = 0; i < 8; i++) servers.push(await Server.start("ours", `volume-${i}`));
  const task = { kind: "store", target: "ours", pages: pages / 2, meanSize: MEAN_SIZE } as const;
  // Each server is as warm as the one that has all the work.
  for (const [i, { url }] of servers.entries()) await team.run(1, { ...task, urls: [url], set: 10 + i });
  // A few percent are looked for, so it is done more often.
  for (let round = 0; round <= rounds + 2; round++) {
    for (const count of COUNTS) {
      const urls = servers.slice(0, count).map(({ url }) => url);
      const { seconds } = await team.run(1, { ...task, urls, set: 100 + round * 10 + count });
      if (round === 0) continue;
      best.set(count, Math.min(best.get(count) ?? Number.POSITIVE_INFINITY, seconds));
      tell(`1 client, ${count} volumes: ${perSecond(task.pages, seconds)}`);
    }
  }
  for (const server of servers) await server.stop();
  const [one, eight] = [best.get(1)!, best.get(8)!];
  const each = 100 * ((eight / one) ** (1 / 7) - 1);
  const times = COUNTS.map((count) => `${best.get(count)!.toFixed(2)} s`).join(", ");
  rows.push(limitRow(`5. each further volume costs (1, 2, 4, 8 volumes: ${times})`, each, "%", 3));
}

/** Experiment 6: four clients and one to four volumes. */
async function overVolumes({ team, pages, rows }: Bench): Promise<void> {
  const times: number[] = [];
  for (const count of [1, 2, 3, 4]) {
    const servers: Server[] = [];
    for (let i = 0; i < count; i++) servers.push(await Server.start("ours", `volume-${i}`));
    const urls = servers.map(({ url }) => url);
    const task = { kind: "store", target: "ours", urls, pages, meanSize: MEAN_SIZE } as const;
    await team.run(4, { ...task, set: 4, pages: pages / 4 });
    times.push((await team.run(4, { ...task, set: 5 })).seconds);
    for (const server of servers) await server.stop();
  }
  const text = times.map((seconds, i) => `${i + 1}: ${perSecond(pages, seconds)}`).join(", ");
  rows.push({
    ...ratioRow(`6. four clients, 1 to 4 volumes (${text})`, "", "", times[0]! / times[3]!, 0),
    goal: "told",
  });
}

/** The larger set, in bulk; of the yardstick only a part of it, for it takes long. */
async function largeSet({ team, rows }: Bench, pages: number, filesPages: number): Promise<void> {
  const [ours, files] = [await Server.start("ours", "volume"), await Server.start("yardstick", "files")];
  const task = { set: 5, meanSize: LARGE_MEAN_SIZE };
  // Clients hold their pages, so the set is stored in portions.
  const portions = Math.max(1, Math.round(pages / 10_000));
  const our = { ...task, target: "ours", urls: [ours.url], pages: pages / portions } as const;
  const theirs = { ...task, target: "yardstick", urls: [files.url], pages: filesPages } as const;
  // Both servers are new.
  const some = filesPages / 5;
  for (const kind of ["store-bulk", "retrieve-bulk"] as const) await team.run(5, { ...our, set: 4, pages: some, kind });
  for (const kind of ["store", "retrieve"] as const) await team.run(10, { ...theirs, set: 4, pages: some, kind });
  let [stored, read] = [0, 0];
  for (let i = 0; i < portions; i++)
    stored += (await team.run(5, { ...our, set: 1000 + i, kind: "store-bulk" })).seconds;
  for (let i = 0; i < portions; i++)
    read += (await team.run(5, { ...our, set: 1000 + i, kind: "retrieve-bulk" })).seconds;
  const { seconds: filesStored } = await team.run(10, { ...theirs, kind: "store" });
  const { seconds: filesRead } = await team.run(10, { ...theirs, kind: "retrieve" });
  const row = (metric: string, seconds: number, other: number, goal: number) => {
    const ratio = pages / seconds / (filesPages / other);
    rows.push(ratioRow(metric, perSecond(pages, seconds), `files ${perSecond(filesPages, other)}`, ratio, goal));
  };
  row(`3. store ${pages} contents in bulk`, stored, filesStored, 15);
  row(`1. retrieve ${pages} contents in bulk`, read, filesRead, 4);
  rows.push(limitRow(`memory of the server, ${pages} blocks`, privateMb(ours.pid), "MB", 500));
  await ours.stop();
  await files.stop();
}

/** Without what is mapped from files. */
function privateMb(pid: number): number | undefined {
  try {
    const kilobytes = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1000;
  } catch {
    return undefined;
  }
}
