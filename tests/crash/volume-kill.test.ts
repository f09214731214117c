/**
 * A real volume server, killed with SIGKILL in the middle of its work, again and again. What it acknowledged is there
 * with the right counter; what it did not counts once when it is said again; check finds nothing.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ArchiveError } from "../../src/base/index.ts";
import { type BlockInfo, RemoteVolume, type StoreRequest, signatureOf } from "../../src/store/index.ts";
import { createDice, type Dice, newSeed } from "../../src/testing/dice.ts";
import { holotype, temporaryFolder } from "../cli/holotype.ts";
import { type ServerProcess, serveFolder } from "../volumed/server-process.ts";

const KILLS = Number(process.env["HOLOTYPE_KILLS"] ?? 10);
const KNOWN = 5;
/** More than are taken back. */
const KNOWN_REFERENCES = 60 + 15 * KILLS;
const SINGLES = 80;
const BULKS = 2;
const BULK_SIZE = 80;
const KILL_AFTER_MS = 250;

interface Operation {
  readonly id: string;
  readonly kind: "store" | "refer" | "remove";
  readonly content: Buffer;
  readonly signature: string;
}

/** What must be there: references by signature. */
type Counts = Map<string, number>;

function count(counts: Counts, { kind, signature }: Operation, times = 1): void {
  counts.set(signature, (counts.get(signature) ?? 0) + (kind === "remove" ? -times : times));
}

class Trial {
  readonly folder: string;
  readonly dice: Dice;
  private readonly known: Buffer[];
  /** Of what was acknowledged, and of what was not. */
  readonly acknowledged: Counts = new Map();
  readonly open = new Map<string, Operation>();
  private operations = 0;

  constructor(folder: string, dice: Dice) {
    this.folder = folder;
    this.dice = dice;
    this.known = Array.from({ length: KNOWN }, (_, i) => Buffer.from(`known ${i} `.repeat(200 * (i + 1))));
  }

  operation(kind: Operation["kind"], content: Buffer): Operation {
    const operation = { id: `op-${this.operations++}`, kind, content, signature: signatureOf("sha256", content) };
    this.open.set(operation.id, operation);
    return operation;
  }

  private next(kinds: readonly Operation["kind"][]): Operation {
    const kind = kinds[this.dice.below(kinds.length)]!;
    const isNew = kind === "store" && this.dice.below(5) < 2;
    const content = isNew
      ? Buffer.from(this.dice.bytes(1 + this.dice.below(3000)))
      : this.known[this.dice.below(KNOWN)]!;
    return this.operation(kind, content);
  }

  done(operation: Operation): void {
    this.open.delete(operation.id);
    count(this.acknowledged, operation);
  }

  async carryOut(volume: RemoteVolume, operation: Operation): Promise<void> {
    const { id, kind, signature, content } = operation;
    if (kind === "store") await volume.store(requestOf(operation));
    else if (kind === "remove") expect(await volume.remove({ signature, overflow: 0 }, id)).toBeDefined();
    else expect(await volume.refer({ signature, size: content.length, requestId: id })).toBeDefined();
    this.done(operation);
  }

  async prepare(volume: RemoteVolume): Promise<void> {
    const all = this.known.flatMap((content) =>
      Array.from({ length: KNOWN_REFERENCES }, () => this.operation("store", content)),
    );
    await this.storeAll(volume, all);
    expect(this.open.size).toBe(0);
  }

  /** Those that were answered are done; an error leaves a request open. */
  async storeAll(volume: RemoteVolume, operations: readonly Operation[]): Promise<void> {
    let next = 0;
    for await (const answer of volume.storeAll(operations.map(requestOf))) {
      const operation = operations[next++]!;
      if ("receipt" in answer) this.done(operation);
      else expect(answer.error).toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    }
  }

  /** Work of all kinds at once. Connections that break are not mended here, or else by the client itself. */
  work(volume: RemoteVolume): Promise<unknown>[] {
    const singles = Array.from({ length: SINGLES }, () =>
      this.carryOut(volume, this.next(["store", "store", "store", "refer", "remove"])).catch(expectUnavailable),
    );
    const bulks = Array.from({ length: BULKS }, () => {
      const operations = Array.from({ length: BULK_SIZE }, () => this.next(["store"]));
      return this.storeAll(volume, operations).catch(expectUnavailable);
    });
    return [...singles, ...bulks];
  }

  /** Every counter lies between what was acknowledged and what was asked for; with nothing open it is exact. */
  async verify(volume: RemoteVolume, about: string): Promise<void> {
    const found = new Map<string, BlockInfo>();
    for await (const block of volume.list()) {
      expect(block.overflow, about).toBe(0);
      found.set(block.signature, block);
    }
    const [least, most] = [new Map(this.acknowledged), new Map(this.acknowledged)];
    for (const operation of this.open.values()) count(operation.kind === "remove" ? least : most, operation);
    for (const signature of new Set([...least.keys(), ...most.keys(), ...found.keys()])) {
      const references = found.get(signature)?.references ?? 0;
      const of = `${about}: ${signature}`;
      expect(references, of).toBeGreaterThanOrEqual(least.get(signature) ?? 0);
      expect(references, of).toBeLessThanOrEqual(most.get(signature) ?? 0);
    }
  }
}

function requestOf({ id, content, signature }: Operation): StoreRequest {
  return { signature, size: content.length, mode: "regular", compression: "none", data: content, requestId: id };
}

function expectUnavailable(error: unknown): void {
  if (!(error instanceof ArchiveError) || error.code !== "HT_PEER_UNAVAILABLE") throw error;
}

function check(folder: string, about: string): void {
  const { exit, out, err } = holotype(["volume", "check", folder, "--scrub"]);
  expect({ exit, err }, `${about}: ${out}`).toEqual({ exit: 0, err: "" });
}

const folder = temporaryFolder();

describe("a volume server that is killed", () => {
  it.each([
    ["pack", Math.ceil(KILLS * 0.7)],
    ["tree", Math.ceil(KILLS * 0.3)],
  ])(`while it serves a %s, %i times`, { timeout: 600_000 }, async (layout, kills) => {
    const seed = newSeed();
    const trial = new Trial(join(folder, layout), createDice(seed));
    const about = (kill: number) => `seed ${seed}, kill ${kill}`;
    let server: ServerProcess = await serveFolder(trial.folder, "--create", "--layout", layout);
    const port = new URL(server.url).port;
    // One gives up at once, so that the test has to say everything again; the other one goes on by itself.
    const options = { url: server.url, deadlines: { answerTimeoutMs: 10_000 }, retryDelayMs: 20 };
    await using hasty = new RemoteVolume({ ...options, tries: 1 });
    await using patient = new RemoteVolume({ ...options, tries: 60 });
    await trial.prepare(hasty);
    let inTheMiddle = 0;
    for (let kill = 1; kill <= kills; kill++) {
      const hastily = trial.work(hasty);
      const patiently = kill % 2 === 0 ? trial.work(patient) : [];
      await new Promise((resolve) => setTimeout(resolve, trial.dice.below(KILL_AFTER_MS)));
      server.process.kill("SIGKILL");
      await server.ended;
      await Promise.all(hastily);
      if (trial.open.size > 0) inTheMiddle++;
      // By turns the server and the check are first to see what was left.
      if (kill % 2 === 1) check(trial.folder, about(kill));
      server = await serveFolder(trial.folder, "--port", port);
      await Promise.all(patiently);
      await trial.verify(patient, about(kill));
      await Promise.all([...trial.open.values()].map((operation) => trial.carryOut(patient, operation)));
      expect(trial.open.size).toBe(0);
      await trial.verify(patient, `${about(kill)}, said again`);
    }
    server.process.kill("SIGTERM");
    expect(await server.ended, server.log()).toMatchObject({ exit: 0 });
    check(trial.folder, `seed ${seed}, at the end`);
    expect(inTheMiddle).toBeGreaterThan(0);
  });
});
