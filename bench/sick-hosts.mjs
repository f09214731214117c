/**
 * Four volume servers, each in a network namespace of its own, and clients in another: one server is stopped in the middle
 * of its work (SIGSTOP), then the cable of another is cut. Prints rates and the longest wait, and ends with 1 where the
 * others did not go on. By hand, on Linux, as root: `npm run build && node bench/sick-hosts.mjs`; some two minutes.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SELF = fileURLToPath(import.meta.url);
const HOLOTYPE = fileURLToPath(new URL("../dist/bin/holotype.js", import.meta.url));
const SERVERS = 4;
const CLIENTS = 6;
const CONTENT_SIZE = 8000;
const PORT = 8123;
/** What happens, one after the other. */
const PHASES = [
  { name: "healthy", seconds: 15 },
  { name: "v2 stopped", seconds: 30, isSick: true, begin: (net) => net.signal(2, "SIGSTOP") },
  { name: "v2 goes on", seconds: 20, begin: (net) => net.signal(2, "SIGCONT") },
  { name: "v1 cut off", seconds: 30, isSick: true, begin: (net) => net.link(1, "down") },
  { name: "v1 back", seconds: 20, begin: (net) => net.link(1, "up") },
];
/** What is granted for noticing it. */
const GRACE_MS = 10_000;
const SETTLING_MS = 2000;
const RATE_LEAST = 0.6;
const WAIT_MS_MAX = 10_000;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const ip = (...args) => execFileSync("ip", args, { stdio: "pipe" });

class Net {
  prefix = `ht${process.pid}`;
  names = [];
  servers = [];

  /** A switch, and hosts 10.77.0.1 to 10.77.0.5 on it: four servers and the client. */
  build(folder) {
    const lan = this.namespace("switch");
    ip("-n", lan, "link", "add", "bridge", "type", "bridge");
    ip("-n", lan, "link", "set", "bridge", "up");
    for (let i = 0; i <= SERVERS; i++) {
      const host = this.namespace(`host${i}`);
      ip("-n", lan, "link", "add", `port${i}`, "type", "veth", "peer", "name", "eth0", "netns", host);
      ip("-n", lan, "link", "set", `port${i}`, "master", "bridge", "up");
      ip("-n", host, "addr", "add", `10.77.0.${i + 1}/24`, "dev", "eth0");
      ip("-n", host, "link", "set", "eth0", "up");
      ip("-n", host, "link", "set", "lo", "up");
    }
    const token = join(folder, "token");
    writeFileSync(token, "a token for this trial only\n".replaceAll(" ", "-"), { mode: 0o600 });
    for (let i = 0; i < SERVERS; i++) {
      const volume = join(folder, `v${i}`);
      const address = ["--host", `10.77.0.${i + 1}`, "--port", `${PORT}`, "--token-file", token];
      const args = ["netns", "exec", `${this.prefix}-host${i}`, process.execPath, HOLOTYPE, "volume", "serve", volume];
      this.servers.push(spawn("ip", [...args, "--create", ...address], { stdio: ["ignore", "ignore", "inherit"] }));
    }
    const lines = Array.from({ length: SERVERS }, (_, i) => {
      return `<volume name="v${i}" host="10.77.0.${i + 1}" port="${PORT}" token-file="token"/>`;
    });
    const connector = join(folder, "connector.xml");
    const instance = '<instance name="trial" replicas="2" placement="rendezvous">';
    writeFileSync(connector, `${instance}${lines.join("")}</instance>`);
    return connector;
  }

  namespace(name) {
    const full = `${this.prefix}-${name}`;
    ip("netns", "add", full);
    this.names.push(full);
    return full;
  }

  signal(server, name) {
    this.servers[server].kill(name);
  }

  link(server, state) {
    ip("-n", `${this.prefix}-switch`, "link", "set", `port${server}`, state);
  }

  async remove() {
    for (const server of this.servers) {
      server.kill("SIGCONT");
      server.kill("SIGKILL");
    }
    await sleep(200);
    for (const name of this.names) ip("netns", "del", name);
  }
}

async function conduct() {
  const folder = mkdtempSync(join(tmpdir(), "sick-hosts-"));
  const net = new Net();
  try {
    const connector = net.build(folder);
    await sleep(2000);
    const args = ["netns", "exec", `${net.prefix}-host${SERVERS}`, process.execPath, SELF, connector];
    const client = spawn("ip", args, { stdio: ["pipe", "inherit", "inherit"] });
    const ended = new Promise((resolve) => client.on("exit", resolve));
    for (const { name, seconds, begin } of PHASES) {
      begin?.(net);
      client.stdin.write(`${name}\n`);
      await sleep(seconds * 1000);
    }
    client.stdin.end();
    const late = sleep(120_000).then(() => client.kill("SIGKILL"));
    return (await Promise.race([ended, late])) === 0 ? 0 : 1;
  } finally {
    await net.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Stores and reads until standard input ends; its lines say which phase begins. */
async function work(connector) {
  const { nodeDisk } = await import("../dist/disk/index.js");
  const { Codecs, openInstance } = await import("../dist/store/index.js");
  const { randomBytes, randomInt } = await import("node:crypto");
  const codecs = await Codecs.load();
  const onWarning = ({ message }) => console.error(`  ${message}`);
  const instance = await openInstance(nodeDisk, connector, { codecs, onWarning });
  const phases = [];
  const kept = [];
  let isOver = false;
  const timed = async (kind, act) => {
    const startedMs = performance.now();
    const phase = phases.at(-1);
    try {
      return await act();
    } catch (error) {
      phase.errors.push(`${kind}: ${error.message}`);
      return undefined;
    } finally {
      const nowMs = performance.now();
      phase.longestMs = Math.max(phase.longestMs, nowMs - startedMs);
      phases.at(-1).doneMs.push(nowMs);
    }
  };
  const client = async () => {
    while (!isOver) {
      const content = randomBytes(CONTENT_SIZE);
      const stored = await timed("put", () => instance.store(content));
      if (stored !== undefined) kept.push({ key: stored.key, content });
      if (kept.length === 0) continue;
      const earlier = kept[randomInt(kept.length)];
      const found = await timed("get", () => instance.retrieve(earlier.key));
      if (found !== undefined && !earlier.content.equals(found.content)) phases.at(-1).errors.push("get: other bytes");
    }
  };
  const clients = [];
  for await (const text of process.stdin.setEncoding("utf8")) {
    for (const name of text.split("\n").slice(0, -1)) {
      phases.push({ name, beganMs: performance.now(), doneMs: [], longestMs: 0, errors: [] });
      if (clients.length === 0) for (let i = 0; i < CLIENTS; i++) clients.push(client());
    }
  }
  isOver = true;
  const endMs = performance.now();
  await Promise.all(clients);
  let lost = 0;
  for (const { key, content } of kept) {
    const found = await instance.retrieve(key).catch(() => undefined);
    if (found === undefined || !content.equals(found.content)) lost++;
  }
  await instance[Symbol.asyncDispose]();
  return report(phases, endMs, kept.length, lost);
}

function report(phases, endMs, count, lost) {
  let isGood = lost === 0;
  const rates = phases.map(({ beganMs, doneMs }, i) => {
    const fromMs = beganMs + (PHASES[i].isSick ? GRACE_MS : SETTLING_MS);
    const toMs = phases[i + 1]?.beganMs ?? endMs;
    return (1000 * doneMs.filter((atMs) => atMs >= fromMs && atMs < toMs).length) / (toMs - fromMs);
  });
  // The best of them: other work on the machine makes a rate lower, and nothing makes it higher.
  const healthy = Math.max(...rates.filter((_, i) => !PHASES[i].isSick));
  for (const [i, { name, longestMs, errors }] of phases.entries()) {
    const { isSick } = PHASES[i];
    const rate = rates[i];
    isGood &&= longestMs <= WAIT_MS_MAX && errors.length === 0 && (!isSick || rate >= RATE_LEAST * healthy);
    const share = `${Math.round((100 * rate) / healthy)} %`;
    const since = isSick ? " from the 10th second on" : "";
    console.log(
      `${name}: ${rate.toFixed(1)} requests/s${since} (${share}), longest ${Math.round(longestMs)} ms, ${errors.length} errors`,
    );
    for (const error of new Set(errors)) console.log(`  ${error}`);
  }
  console.log(`${count - lost} of ${count} contents that were acknowledged read back equal`);
  console.log(isGood ? "good" : "NOT good");
  return isGood ? 0 : 1;
}

const [connector] = process.argv.slice(2);
process.exit(connector === undefined ? await conduct() : await work(connector));
