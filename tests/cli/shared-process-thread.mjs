/** Holds the shared process for a thread that waits for it: `shared-process.ts` is the other side. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { workerData } from "node:worker_threads";

const { port, done, program, main } = workerData;
let current;

/** Takes what comes before the mark from the pieces of a stream; absent while the end has not come. */
function takeMarked(pieces, end) {
  const all = Buffer.concat(pieces);
  const at = all.indexOf(end.mark);
  if (at < 0 || (end.hasExit && all.indexOf("\n", at) < 0)) return undefined;
  return { bytes: all.subarray(0, at), exit: all.toString("latin1", at + end.mark.length).trim() };
}

function start() {
  const mark = randomUUID();
  const child = spawn(process.execPath, [program, main, mark], { stdio: ["ignore", "pipe", "pipe", "pipe"] });
  const state = { child, out: [], err: [] };
  const look = () => {
    // Where much is written, it is not looked through again with each piece.
    const isEnd = (pieces) => Buffer.concat(pieces.slice(-2)).includes(mark);
    if (!isEnd(state.out) || !isEnd(state.err)) return;
    const out = takeMarked(state.out, { mark, hasExit: true });
    const err = takeMarked(state.err, { mark, hasExit: false });
    if (out === undefined || err === undefined) return;
    state.out = [];
    state.err = [];
    answer({ exit: Number(out.exit), out: out.bytes, err: err.bytes });
  };
  for (const name of ["out", "err"]) {
    child[`std${name}`].on("data", (bytes) => {
      state[name].push(bytes);
      look();
    });
  }
  // A line that ends the process, by a failure that nobody caught: the next has a new one.
  child.on("close", (exit) => {
    if (current !== state) return;
    current = undefined;
    answer({ exit, out: Buffer.concat(state.out), err: Buffer.concat(state.err) });
  });
  return state;
}

function answer(outcome) {
  port.postMessage(outcome);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}

for (;;) {
  const [line] = await once(port, "message");
  current ??= start();
  current.child.stdio[3].write(`${JSON.stringify(line)}\n`);
}
